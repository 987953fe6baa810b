#!/usr/bin/env python3
"""Programs are opened from what holds them, with options that are checked.

usage: loading_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import gc
import os
import pickle
import shutil
import unittest
from typing import Any

import numpy as np
import pteron
from package_case import GOLDEN, LSTM, PackageTestCase


class Loading(PackageTestCase):
    def test_paths_bytes_and_files_give_the_same(self) -> None:
        data = LSTM.read_bytes()
        with LSTM.open("rb") as file:
            from_file = pteron.load(file)
        sources = [str(LSTM), LSTM, data, bytearray(data), memoryview(data)]
        for program in [from_file, *map(pteron.load, sources)]:
            self.assertEqual(program.method_names, ("forward",))
            np.testing.assert_allclose(program(self.x), self.y, atol=1e-5)

    def test_bytes_may_change_after_loading(self) -> None:
        data = bytearray(LSTM.read_bytes())
        program = pteron.load(data)
        data[:] = bytes(len(data))
        del data
        gc.collect()
        np.testing.assert_allclose(program(self.x), self.y, atol=1e-5)

    def test_what_is_no_program_is_refused(self) -> None:
        with self.raises(FileNotFoundError, "no/such.pte"):
            pteron.load("no/such.pte")
        with self.raises(OSError, "it is a folder"):
            pteron.load(self.folder)
        with self.raises(ValueError, "not an ExecuTorch program"):
            pteron.load(__file__)
        with self.raises(pteron.MalformedError):
            pteron.load(b"nothing")
        with self.raises(pteron.MalformedError):
            pteron.load(LSTM.read_bytes()[:5000])
        sources: list[Any] = [None, 3, [1, 2], {}]
        for source in sources:
            with self.raises(TypeError, "a program is loaded from a path"):
                pteron.load(source)

    def test_options_are_checked(self) -> None:
        with self.raises(ValueError, 'precision "f64"', "bf16"):
            pteron.load(LSTM, precision="f64")
        with self.raises(ValueError, "hint"):
            pteron.load(LSTM, hint="fast")
        with self.raises(ValueError, "threads is -1"):
            pteron.load(LSTM, threads=-1)
        with self.raises(ValueError, "NUL"):
            pteron.load(LSTM, device="C\0PU")
        with self.raises(OSError, "none.ptd"):
            pteron.load(LSTM, weights="none.ptd")
        with self.assertRaises(TypeError):
            pteron.load(LSTM, devices="CPU")  # type: ignore[call-arg]

    def test_paths_of_any_script_work(self) -> None:
        folder = self.folder / "Zoë 模型 привет"
        folder.mkdir()
        shutil.copy(LSTM, folder / "é.pte")
        np.testing.assert_allclose(pteron.load(folder / "é.pte")(self.x), self.y, atol=1e-5)
        with self.raises(FileNotFoundError, "Zoë 模型 привет"):
            pteron.load(folder / "none.pte")

    def test_external_weights_are_given_by_path(self) -> None:
        case = next(p for p in sorted(GOLDEN.iterdir()) if any(p.glob("*.ptd")))
        weights = next(case.glob("*.ptd"))
        io = np.load(case / "io_0.npz")
        for given in (weights, str(weights), [weights]):
            program = pteron.load(case / "model.pte", weights=given)
            inputs = [io[f"in_{i}"] for i in range(len(program.inputs))]
            np.testing.assert_allclose(program(*inputs), io["eager_0"], atol=1e-5)
        with self.raises(LookupError, "weights"):
            pteron.load(case / "model.pte").method()

    def test_a_program_is_pickled_by_its_path(self) -> None:
        program = pteron.load(os.path.relpath(LSTM), threads=1)
        copy = pickle.loads(pickle.dumps(program))
        np.testing.assert_array_equal(copy(self.x), program(self.x))
        self.assertEqual(copy._options, program._options)
        with self.raises(TypeError, "loaded from bytes"):
            pickle.dumps(pteron.load(LSTM.read_bytes()))

    def test_a_method_that_is_not_there_is_named_with_those_there_are(self) -> None:
        with self.raises(ValueError, '"backward"', "forward"):
            pteron.load(LSTM).method("backward")


if __name__ == "__main__":
    unittest.main()
