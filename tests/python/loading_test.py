#!/usr/bin/env python3
"""Programs are opened from what holds them, with their weights.

usage: loading_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import os
import pickle
import shutil
import unittest
from pathlib import Path

import numpy as np
import pteron
from package_case import GOLDEN, LSTM, MODELS, PackageTestCase

COUNTER = MODELS.parent / "peer/counter.pte"


class Loading(PackageTestCase):
    def test_paths_bytes_and_files_give_the_same(self) -> None:
        data = LSTM.read_bytes()
        with LSTM.open("rb") as file:
            from_file = pteron.load(file)
        sources = [str(LSTM), LSTM, data, bytearray(data), memoryview(data)]
        for program in [from_file, *map(pteron.load, sources)]:
            self.assertEqual(program.method_names, ("forward",))
            np.testing.assert_allclose(program(self.x), self.y, atol=1e-5)

    def test_the_class_itself_opens_with_defaults(self) -> None:
        np.testing.assert_allclose(pteron.Program(LSTM)(self.x), self.y, atol=1e-5)

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

    def test_a_method_is_pickled_with_its_state(self) -> None:
        x = np.ones((2, 2), "float32")
        method = pteron.load(COUNTER, threads=1).method(seed=3)
        method(x)
        method(x)
        copy = pickle.loads(pickle.dumps(method))
        self.assertEqual((copy.name, copy._source), (method.name, method._source))
        np.testing.assert_array_equal(copy.state["runs"], method.state["runs"])
        np.testing.assert_array_equal(copy(x), method(x))
        method(x)  # Each has a state of its own.
        self.assertFalse(np.array_equal(copy.state["runs"], method.state["runs"]))
        with self.raises(TypeError, 'method "forward"', "loaded from bytes", "from a path"):
            pickle.dumps(pteron.load(COUNTER.read_bytes()).method())
        program = pteron.load(COUNTER)
        first = program.method()
        with self.raises(TypeError, 'method "forward"', "pickle the program"):
            pickle.dumps(program.method(shares_state_with=first))
        first.close()
        with self.raises(pteron.ClosedError):
            pickle.dumps(first)

    def test_a_method_that_was_pickled_runs_in_another_process(self) -> None:
        data = pickle.dumps(pteron.load(LSTM).method())
        done = self.run_python(
            f"import numpy, pickle; method = pickle.loads({data!r})\n"
            "print(method(numpy.zeros((2, 6), 'int64')).shape)"
        )
        self.assertEqual(done.stdout, "(2, 6, 7)\n")

    def test_a_pickled_program_finds_its_files_from_another_folder(self) -> None:
        here = Path.cwd()
        self.addCleanup(os.chdir, here)
        case = next(p for p in sorted(GOLDEN.iterdir()) if any(p.glob("*.ptd")))
        os.chdir(case)
        weights = next(iter(Path().glob("*.ptd")))
        program = pteron.load(
            "model.pte", weights=weights, cache_dir="cache", openvino=Path("libs") / "x.so"
        )
        bare = pteron.load("model.pte", openvino="libopenvino_c.so")
        os.chdir("/")
        copy = pickle.loads(pickle.dumps(program))
        copy.method()
        self.assertEqual(copy._options.cache_dir, str(case / "cache"))
        self.assertEqual(copy._options.openvino, str(case / "libs/x.so"))
        self.assertEqual(bare._options.openvino, "libopenvino_c.so")


if __name__ == "__main__":
    unittest.main()
