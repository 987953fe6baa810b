#!/usr/bin/env python3
"""pteron.runtime, held to what executorch.runtime does.

usage: runtime_test.py [Class.test]...   with PTERON_GOLDEN and PTERON_MODELS, which ctest sets
"""

import io
import os
import sys
import types
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pteron
from pteron.runtime import (
    Method,
    MethodMeta,
    Program,
    Runtime,
    TensorInfo,
    Verification,
)

MODELS = Path(os.environ["PTERON_MODELS"])
GOLDEN = Path(os.environ["PTERON_GOLDEN"]) / "portable"
LSTM = MODELS / "lstm_portable.pte"


class RuntimeTestCase(unittest.TestCase):
    def setUp(self) -> None:
        self.runtime = Runtime.get()
        data = np.load(MODELS / "lstm.npz")
        self.x, self.y = data["in0"], data["out0"]

    def lstm(self) -> Method:
        method = self.runtime.load_program(LSTM).load_method("forward")
        assert method is not None
        return method


class RuntimeLoading(RuntimeTestCase):
    def test_there_is_one_runtime(self) -> None:
        self.assertIs(Runtime.get(), self.runtime)

    def test_paths_bytes_and_files_are_taken(self) -> None:
        data = LSTM.read_bytes()
        for source in (LSTM, str(LSTM), data, bytearray(data), io.BytesIO(data)):
            program = self.runtime.load_program(source)
            self.assertIsInstance(program, Program)
            self.assertEqual(program.method_names, {"forward"})
            method = program.load_method("forward")
            assert method is not None
            np.testing.assert_allclose(method.execute([self.x])[0], self.y, atol=1e-5)

    def test_other_sources_are_type_errors_and_bad_files_runtime_errors(self) -> None:
        for source in (3, None, ["x"]):
            with self.assertRaisesRegex(TypeError, "bytes, bytearray, a path"):
                self.runtime.load_program(source)  # type: ignore[arg-type]
        for bad in ("no/such.pte", b"abc", LSTM.read_bytes()[:999]):
            with self.assertRaises(RuntimeError) as raised:
                self.runtime.load_program(bad)
            self.assertIsInstance(raised.exception, pteron.Error)

    def test_verification_is_taken_and_changes_nothing(self) -> None:
        for verification in Verification:
            program = self.runtime.load_program(LSTM, verification=verification)
            self.assertEqual(program.method_names, {"forward"})
        with self.assertRaisesRegex(TypeError, "Verification"):
            self.runtime.load_program(LSTM, verification=1)  # type: ignore[arg-type]

    def test_an_event_dump_is_not_promised(self) -> None:
        with self.assertRaisesRegex(NotImplementedError, "profile"):
            self.runtime.load_program(LSTM, enable_etdump=True)
        with self.assertRaises(NotImplementedError):
            self.runtime.load_program(LSTM).write_etdump_result_to_file("a", "b")

    def test_a_method_is_loaded_once_and_an_unknown_one_is_a_key_error(self) -> None:
        program = self.runtime.load_program(LSTM)
        self.assertIs(program.load_method("forward"), program.load_method("forward"))
        with self.assertRaises(KeyError):
            program.load_method("backward")

    def test_a_method_outlives_program_and_bytes(self) -> None:
        method = self.runtime.load_program(LSTM.read_bytes()).load_method("forward")
        assert method is not None
        np.testing.assert_allclose(method.execute([self.x])[0], self.y, atol=1e-5)

    def test_programs_of_several_methods_have_them_all(self) -> None:
        program = self.runtime.load_program(GOLDEN / "models__ModuleSharedState/model.pte")
        self.assertEqual(program.method_names, {"forward", "get_state", "set_state"})
        for name in program.method_names:
            self.assertEqual(program.metadata(name).name(), name)
            self.assertIsInstance(program.load_method(name), Method)


class Metadata(RuntimeTestCase):
    def test_it_is_executorchs(self) -> None:
        program = self.runtime.load_program(LSTM)
        for meta in (program.metadata("forward"), self.lstm().metadata):
            self.assertIsInstance(meta, MethodMeta)
            self.assertEqual(meta.name(), "forward")
            self.assertEqual((meta.num_inputs(), meta.num_outputs()), (1, 1))
            self.assertEqual(meta.num_attributes(), 0)
            info = meta.input_tensor_meta(0)
            self.assertIsInstance(info, TensorInfo)
            self.assertEqual(info.sizes(), (2, 6))
            self.assertEqual(info.dtype(), 4)
            self.assertEqual(info.nbytes(), 96)
            self.assertTrue(info.is_memory_planned())
            self.assertEqual(
                repr(meta),
                "MethodMeta(name='forward', num_inputs=1, input_tensor_meta=["
                "'TensorInfo(sizes=[2, 6], dtype=Long, is_memory_planned=True, nbytes=96)'], "
                "num_outputs=1, output_tensor_meta=["
                "'TensorInfo(sizes=[2, 6, 7], dtype=Float, is_memory_planned=True, nbytes=336)'])",
            )

    def test_indices_past_the_end_are_index_errors(self) -> None:
        meta = self.lstm().metadata
        for ask in (meta.input_tensor_meta, meta.output_tensor_meta, meta.attribute_tensor_meta):
            for index in (1, -1, 1000):
                with self.assertRaisesRegex(IndexError, "tensor meta at"):
                    ask(index)

    def test_an_unknown_method_is_a_runtime_error(self) -> None:
        with self.assertRaisesRegex(RuntimeError, 'no method "zz"; it has forward'):
            self.runtime.load_program(LSTM).metadata("zz")

    def test_what_is_no_tensor_says_what_it_is(self) -> None:
        program = self.runtime.load_program(GOLDEN / "models__ModuleIntBool/model.pte")
        with self.assertRaisesRegex(ValueError, "int"):
            program.metadata("forward").input_tensor_meta(1)


class Executing(RuntimeTestCase):
    def test_outputs_are_a_list_and_are_kept(self) -> None:
        method = self.lstm()
        first = method.execute((self.x,))
        self.assertIsInstance(first, list)
        method.execute([np.zeros_like(self.x)])
        np.testing.assert_allclose(first[0], self.y, atol=1e-5)

    def test_wrong_inputs_are_runtime_errors(self) -> None:
        method = self.lstm()
        for inputs in ([], [self.x, self.x], [self.x.astype("float32")], [self.x[:, :3]], (3,)):
            with self.assertRaises(RuntimeError):
                method.execute(inputs)
        np.testing.assert_allclose(method.execute([self.x])[0], self.y, atol=1e-5)

    def test_numbers_are_those_of_the_trace(self) -> None:
        case = GOLDEN / "models__ModuleIntBool"
        data = np.load(case / "io_0.npz")
        method = self.runtime.load_program(case / "model.pte").load_method("forward")
        assert method is not None
        out = method.execute([data["in_0"], 1, True])[0]
        np.testing.assert_allclose(out, data["eager_0"], atol=1e-5)
        with self.assertRaises(RuntimeError):
            method.execute([data["in_0"], 2, True])

    def test_tensors_of_pytorch_come_out_where_they_came_in(self) -> None:
        # A stand-in: the tests' environment has no PyTorch; tests/oracle tries the real one.
        class Tensor:
            def __init__(self, array: np.ndarray) -> None:
                self.array = array

            def __dlpack__(self, **options: Any) -> Any:
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self) -> Any:
                return self.array.__dlpack_device__()

        torch = types.ModuleType("torch")
        torch.Tensor = Tensor  # type: ignore[attr-defined]
        torch.from_numpy = Tensor  # type: ignore[attr-defined]
        method = self.lstm()
        sys.modules["torch"] = torch
        try:
            out = method.execute([Tensor(self.x)])[0]
            self.assertIsInstance(out, Tensor)
            np.testing.assert_allclose(out.array, self.y, atol=1e-5)
            self.assertIsInstance(method.execute([self.x])[0], np.ndarray)
        finally:
            del sys.modules["torch"]


class Registries(RuntimeTestCase):
    def test_backends_are_named_and_told_whether_they_are_there(self) -> None:
        registry = self.runtime.backend_registry
        self.assertEqual(registry.registered_backend_names, ["OpenvinoBackend"])
        self.assertFalse(registry.is_available("XnnpackBackend"))
        self.assertEqual(registry.is_available("OpenvinoBackend"), pteron.doctor()["ok"])

    def test_operators_are_named(self) -> None:
        names = self.runtime.operator_registry.operator_names
        self.assertIn("aten::add.out", names)
        self.assertIn("executorch_prim::et_view.default", names)
        self.assertGreater(len(names), 250)


if __name__ == "__main__":
    unittest.main()
