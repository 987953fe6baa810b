#!/usr/bin/env python3
"""OpenVINO is found, told about, and used.

usage: machine_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import json
import os
import shutil
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pteron
from package_case import C_LIBRARY, FAKES, MODELS, OPENVINO, PackageTestCase


class Machine(PackageTestCase):
    def test_backends_are_named(self) -> None:
        self.assertEqual(pteron.backends(), ["OpenvinoBackend"])

    def test_the_doctor_tells_what_is_missing(self) -> None:
        found = pteron.doctor(openvino=self.folder)
        self.assertFalse(found["ok"])
        self.assertTrue(found["problems"])
        with self.raises(LookupError, str(self.folder)):
            pteron.devices(openvino=self.folder)

    def test_a_name_in_the_variable_is_told_with_the_variable(self) -> None:
        done = self.run_python(
            f"""
            import numpy, pteron
            try:
                pteron.load({str(MODELS / "lstm_openvino.pte")!r})(numpy.zeros((2, 6), "int64"))
            except LookupError as error:
                print(error)
            """,
            OPENVINO_LIB_PATH="nonsense",
        )
        self.assertIn("$OPENVINO_LIB_PATH=nonsense (", done.stdout)
        self.assertIn("Correct OPENVINO_LIB_PATH, or unset it", done.stdout)

    def test_devices_of_an_openvino_are_listed(self) -> None:
        done = self.run_python(
            f"import pteron; print([d['name'] for d in pteron.devices({str(FAKES / 'good')!r})])"
        )
        self.assertIn("'CPU'", done.stdout)

    def test_the_installed_openvino_is_found_by_its_metadata(self) -> None:
        packages = self.folder / "site-packages"
        libs = packages / "openvino/libs"
        libs.mkdir(parents=True)
        info = packages / "openvino-2025.4.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: openvino\nVersion: 2025.4.1\n")
        (info / "RECORD").write_text("")
        shutil.copy(FAKES / "good" / C_LIBRARY, libs)
        (libs / "libopenvino_c.so.999").write_text("older")  # Of no interest to Windows.
        (packages / "openvino/__init__.py").write_text("raise SystemExit('imported')")
        done = self.run_python(
            "import pteron, json; print(json.dumps(pteron.doctor()))",
            PYTHONPATH=os.environ["PYTHONPATH"] + os.pathsep + str(packages),
        )
        found = json.loads(done.stdout)
        self.assertEqual(found["openvino"]["file"], str(libs / C_LIBRARY))

    def test_an_openvino_in_the_current_folder_is_not_taken(self) -> None:
        libs = self.folder / "openvino/libs"
        libs.mkdir(parents=True)
        info = self.folder / "openvino-2025.4.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: openvino\nVersion: 2025.4.1\n")
        shutil.copy(FAKES / "good" / C_LIBRARY, libs)
        for entry in ("", ".", "../" + self.folder.name):
            done = self.run_python(
                f"import os, sys; os.chdir({str(self.folder)!r}); sys.path.append({entry!r})\n"
                "import pteron, json; print(json.dumps(pteron.doctor()))"
            )
            self.assertNotIn(str(self.folder), done.stdout)

    def test_a_delegated_program_runs_and_says_where(self) -> None:
        if OPENVINO is None:
            self.skipTest("OpenVINO 2025.4.1 is not installed for tests")
        program = pteron.load(MODELS / "lstm_openvino.pte", openvino=OPENVINO)
        method = program.method()
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)
        ran = method.execution["execution"][0]
        self.assertEqual(ran["ran_by"], "OpenVINO 2025.4.1")
        self.assertEqual(ran["precision"], "f32")
        fast = pteron.load(
            MODELS / "lstm_openvino.pte",
            openvino=OPENVINO,
            device="CPU",
            precision="fast",
            threads=1,
            config={"NUM_STREAMS": 1},
        )
        self.assertEqual(fast(self.x).shape, self.y.shape)
        with self.raises(LookupError, "NPU"):
            pteron.load(MODELS / "lstm_openvino.pte", openvino=OPENVINO, device="NPU").method()

    def test_sixteen_threads_run_a_delegated_program(self) -> None:
        if OPENVINO is None:
            self.skipTest("OpenVINO 2025.4.1 is not installed for tests")
        program = pteron.load(MODELS / "lstm_openvino.pte", openvino=OPENVINO)
        with ThreadPoolExecutor(16) as threads:
            for y in threads.map(lambda _: program(self.x), range(400)):
                np.testing.assert_allclose(y, self.y, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
