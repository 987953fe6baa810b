#!/usr/bin/env python3
"""What ExecuTorch's own tests of its Python bindings and runtime check, held here too.

docs/peer_tests.md tells which test stands for which; tests/oracle/peer_programs.py made the
programs.

usage: peer_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import gc
import re
import unittest
from pathlib import Path

import numpy as np
import pteron
from package_case import GOLDEN, MODELS, PackageTestCase
from pteron.runtime import Method, Program, Runtime, Verification

PEER = MODELS.parent / "peer"
SQUARE = "TensorInfo(sizes=[2, 2], dtype=Float, is_memory_planned=True, nbytes=16)"


class PeerTestCase(PackageTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.x = np.array([[1, -2], [3, 0.5]], "float32")
        self.picture = np.arange(24, dtype="float32").reshape(1, 2, 3, 4)
        self.large = self.picture.repeat(2, 2).repeat(2, 3)

    def program(self, name: str) -> Program:
        return Runtime.get().load_program(PEER / f"{name}.pte")

    def method(self, name: str, method: str = "forward") -> Method:
        loaded = self.program(name).load_method(method)
        assert loaded is not None
        return loaded


class PeerMethods(PeerTestCase):
    def test_each_of_two_methods_does_its_own(self) -> None:
        program = self.program("two_methods")
        self.assertEqual(program.method_names, {"forward", "square"})
        forward, square = program.load_method("forward"), program.load_method("square")
        assert forward is not None and square is not None
        np.testing.assert_array_equal(forward.execute([self.x])[0], self.x * 2)
        np.testing.assert_array_equal(square.execute([self.x])[0], self.x**2)
        np.testing.assert_array_equal(forward.execute([self.x])[0], self.x * 2)

    def test_the_package_has_them_in_the_order_of_the_file(self) -> None:
        program = pteron.load(PEER / "two_methods.pte")
        self.assertEqual(program.method_names, ("forward", "square"))
        np.testing.assert_array_equal(program(self.x), self.x * 2)
        np.testing.assert_array_equal(program.method("square")(self.x), self.x**2)
        with self.assertRaises(IndexError):
            program.method_names[2]

    def test_outputs_outlive_program_method_and_bytes(self) -> None:
        def run() -> np.ndarray:
            data = (PEER / "two_methods.pte").read_bytes()
            method = Runtime.get().load_program(data).load_method("square")
            assert method is not None
            output: np.ndarray = method.execute([self.x])[0]
            return output

        outputs = [run() for _ in range(20)]
        gc.collect()
        for output in outputs:
            np.testing.assert_array_equal(output, self.x**2)

    def test_outputs_of_one_run_are_no_other_runs(self) -> None:
        method = self.method("two_methods")
        first = method.execute([self.x])[0]
        first += 100
        second = method.execute([self.x])[0]
        np.testing.assert_array_equal(second, self.x * 2)
        np.testing.assert_array_equal(first, self.x * 2 + 100)

    def test_one_input_needs_no_list(self) -> None:
        np.testing.assert_array_equal(self.method("two_methods").execute(self.x)[0], self.x * 2)

    def test_names_that_are_not_there(self) -> None:
        program = self.program("two_methods")
        with self.assertRaises(KeyError):
            program.load_method("not_there")
        with self.raises(RuntimeError, '"not_there"', "forward, square"):
            program.metadata("not_there")

    def test_either_verification_refuses_what_is_broken(self) -> None:
        data = (PEER / "two_methods.pte").read_bytes()
        for verification in Verification:
            program = Runtime.get().load_program(data, verification=verification)
            method = program.load_method("forward")
            assert method is not None
            np.testing.assert_array_equal(method.execute([self.x])[0], self.x * 2)
            with self.raises(RuntimeError):
                Runtime.get().load_program(data[:600], verification=verification)


class PeerOutputs(PeerTestCase):
    def test_a_constant_output_comes_out_and_cannot_be_changed(self) -> None:
        fixed = np.array([[1, 2], [3, 4]], "float32")
        method = self.method("constant_output")
        for _ in range(2):
            outputs = method.execute([self.x])
            np.testing.assert_array_equal(outputs[0], self.x + fixed)
            np.testing.assert_array_equal(outputs[1], fixed)
            outputs[1][:] = 0  # The caller's own.

    def test_a_quantized_program_gives_its_numbers(self) -> None:
        case = next(iter(sorted(GOLDEN.glob("quantp__*"))))
        method = Runtime.get().load_program(case / "model.pte").load_method("forward")
        assert method is not None
        with np.load(case / "io_0.npz") as io:
            inputs = [io[f"in_{i}"] for i in range(method.metadata.num_inputs())]
            np.testing.assert_allclose(method.execute(inputs)[0], io["eager_0"], atol=5e-3)

    def test_weights_beside_the_program_are_needed_and_given_by_path(self) -> None:
        case = GOLDEN / "models__ModuleLinear_ptd"
        weights = next(case.glob("*.ptd"))
        load = Runtime.get().load_program
        data = (case / "model.pte").read_bytes()
        with np.load(case / "io_0.npz") as io:
            for source in (case / "model.pte", data):
                for path in (weights, str(weights)):
                    method = load(source, data_path=path).load_method("forward")
                    assert method is not None
                    out = method.execute([io["in_0"]])[0]
                    np.testing.assert_allclose(out, io["eager_0"], atol=1e-6)
        with self.raises(RuntimeError, "weights"):
            load(data).load_method("forward")
        broken = self.folder / "broken.ptd"
        broken.write_bytes(b"invalid bytes")
        with self.raises(RuntimeError, str(broken)):
            load(data, data_path=broken)


class PeerLayouts(PeerTestCase):
    def test_channels_last_inputs_and_outputs_are_the_same_numbers(self) -> None:
        last = np.ascontiguousarray(self.picture.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        for name in ("channels_last", "channels_last_to_rows"):
            method = self.method(name)
            for x in (self.picture, last):
                np.testing.assert_array_equal(method.execute([x])[0], self.large)

    def test_the_package_tells_the_order_in_memory(self) -> None:
        method = pteron.load(PEER / "channels_last.pte").method()
        self.assertEqual(method.inputs[0].dim_order, (0, 2, 3, 1))
        view = method(self.picture, borrow=True)
        self.assertEqual(view.strides, (384, 4, 64, 8))
        np.testing.assert_array_equal(view, self.large)
        rows = pteron.load(PEER / "channels_last_to_rows.pte").method()
        self.assertEqual(rows.outputs[0].dim_order, (0, 1, 2, 3))

    def test_more_dimensions_than_the_method_takes_are_refused(self) -> None:
        five = np.zeros((1, 3, 4, 5, 2), "float32").transpose(0, 4, 1, 2, 3)
        with self.raises(RuntimeError, "[1, 2, 3, 4, 5]", "[1, 2, 3, 4]"):
            self.method("channels_last").execute([five])


class PeerMetadata(PeerTestCase):
    def test_it_outlives_program_and_method(self) -> None:
        program = self.program("two_methods")
        method = program.load_method("square")
        assert method is not None
        metas = [program.metadata("square"), method.metadata]
        del program, method
        gc.collect()
        for meta in metas:
            self.assertEqual(
                str(meta),
                f"MethodMeta(name='square', num_inputs=1, input_tensor_meta=['{SQUARE}'], "
                f"num_outputs=1, output_tensor_meta=['{SQUARE}'])",
            )
            info = meta.input_tensor_meta(0)
            del meta
            self.assertEqual((info.sizes(), info.dtype(), info.nbytes()), ((2, 2), 6, 16))

    def test_a_buffer_with_a_name_is_an_attribute(self) -> None:
        meta = self.program("counter").metadata("forward")
        self.assertEqual(meta.num_attributes(), 1)
        self.assertEqual(str(meta.attribute_tensor_meta(0)), SQUARE)
        with self.assertRaises(IndexError):
            meta.attribute_tensor_meta(1)
        self.assertEqual(self.program("two_methods").metadata("forward").num_attributes(), 0)

    def test_a_constant_output_counts_as_planned(self) -> None:
        meta = self.program("constant_output").metadata("forward")
        planned = [meta.output_tensor_meta(i).is_memory_planned() for i in range(2)]
        self.assertEqual(planned, [False, True])

    def test_an_attribute_is_read_and_set_by_its_name(self) -> None:
        method = pteron.load(PEER / "counter.pte").method()
        np.testing.assert_array_equal(method(self.x), self.x + 1)
        np.testing.assert_array_equal(method.state["runs"], np.ones((2, 2)))
        method.state["runs"] = np.full((2, 2), 9, "float32")
        np.testing.assert_array_equal(method(self.x), self.x + 10)


class PeerFiles(PeerTestCase):
    def test_a_file_that_is_open_is_read_to_its_end(self) -> None:
        path = self.folder / "a.pte"
        path.write_bytes((PEER / "two_methods.pte").read_bytes())
        with path.open("rb") as file:
            program = Runtime.get().load_program(file)
            self.assertEqual(file.read(), b"")
        path.unlink()
        method = program.load_method("forward")
        assert method is not None
        np.testing.assert_array_equal(method.execute([self.x])[0], self.x * 2)

    def test_a_program_for_xnnpack_names_the_delegate_that_is_missing(self) -> None:
        program = Runtime.get().load_program(MODELS / "lstm_xnnpack.pte")
        self.assertEqual(program.metadata("forward").num_inputs(), 1)
        with self.raises(RuntimeError, "XnnpackBackend"):
            program.load_method("forward")

    def test_every_golden_program_tells_what_it_takes(self) -> None:
        count = 0
        for folder in sorted(GOLDEN.iterdir()):
            program = Runtime.get().load_program(Path(folder) / "model.pte")
            for name in program.method_names:
                meta = program.metadata(name)
                self.assertEqual(meta.name(), name)
                self.assertTrue(str(meta).startswith(f"MethodMeta(name='{name}', num_inputs="))
                count += 1
        self.assertGreater(count, 340)


class PeerTable(unittest.TestCase):
    def test_it_names_tests_that_there_are(self) -> None:
        here = Path(__file__).parent
        classes: dict[str, set[str]] = {}
        for file in here.glob("*_test.py"):
            for line in file.read_text().splitlines():
                if match := re.match(r"class (\w+)\(", line):
                    tests = classes.setdefault(match[1], set())
                elif match := re.match(r"    def test_(\w+)\(", line):
                    tests.add(match[1])
        text = (here.parent.parent / "docs/peer_tests.md").read_text()
        pairs = re.findall(r"`([A-Z]\w+)\.([a-z]\w*)`", text)
        named = [pair for pair in pairs if not hasattr(pteron, pair[0])]
        self.assertGreater(len(named), 30)
        for name, test in named:
            self.assertIn(test, classes.get(name, ()), name)


if __name__ == "__main__":
    unittest.main()
