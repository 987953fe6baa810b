#!/usr/bin/env python3
"""Arrays go in and come out.

usage: running_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import html
import json
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pteron
from package_case import GOLDEN, LSTM, MODELS, OPENVINO, PackageTestCase

PNET_DYNAMIC = MODELS / "pnet_dynamic_portable.pte"


class Running(PackageTestCase):
    def test_inputs_go_by_position_by_name_or_in_a_dict(self) -> None:
        case = GOLDEN / "add__add_float32"
        if not case.exists():
            case = next(p for p in sorted(GOLDEN.glob("add__*")) if len(self.io(p)) >= 3)
        io = np.load(case / "io_0.npz")
        method = pteron.load(case / "model.pte").method()
        names = [spec.name for spec in method.inputs]
        inputs = [io[f"in_{i}"] for i in range(len(names))]
        want = method(*inputs)
        np.testing.assert_array_equal(method(**dict(zip(names, inputs, strict=True))), want)
        np.testing.assert_array_equal(method(dict(zip(names, inputs, strict=True))), want)
        if len(names) > 1:
            np.testing.assert_array_equal(method(inputs[0], **{names[1]: inputs[1]}), want)
            with self.raises(ValueError, "given twice"):
                method(inputs[0], **{names[0]: inputs[0]})

    def io(self, case: Path) -> list[str]:
        return list(np.load(case / "io_0.npz"))

    def test_any_strides_mean_the_same_numbers(self) -> None:
        method = pteron.load(LSTM).method()
        wide = np.zeros((2, 12), "int64")
        wide[:, ::2] = self.x
        back = np.ascontiguousarray(self.x[::-1, ::-1])[::-1, ::-1]
        frozen = self.x.copy()
        frozen.flags.writeable = False
        for x in (np.asfortranarray(self.x), wide[:, ::2], back, frozen, self.x):
            np.testing.assert_array_equal(method(x), method(self.x.copy()))

    def test_a_programs_own_operators_are_compiled_for_openvino(self) -> None:
        with self.raises(ValueError, "accelerate"):
            pteron.load(LSTM, accelerate="yes")
        with self.raises(TypeError, "accelerate"):
            pteron.load(LSTM, accelerate=1)  # type: ignore[arg-type]
        if OPENVINO is None:
            self.skipTest("PTERON_OPENVINO names no real OpenVINO")
        pnet = MODELS / "pnet_portable.pte"
        data = np.load(MODELS / "pnet.npz")
        regions = {}
        for when in ("on", "off"):
            method = pteron.load(pnet, openvino=OPENVINO, accelerate=when).method()
            outputs = method(data["in0"])
            for i, output in enumerate(outputs):
                np.testing.assert_allclose(output, data[f"out{i}"], rtol=1e-4, atol=1e-4)
            regions[when] = len(method.execution["accelerated"]["regions"])
        self.assertEqual(regions, {"on": 1, "off": 0})

    def test_broadcast_arrays_are_read_as_they_are(self) -> None:
        method = pteron.load(LSTM).method()
        row = np.arange(6)
        np.testing.assert_array_equal(
            method(np.broadcast_to(row, (2, 6))), method(np.stack([row, row]))
        )

    def test_dynamic_shapes_follow_the_input(self) -> None:
        data = np.load(MODELS / "pnet_dynamic.npz")
        method = pteron.load(PNET_DYNAMIC).method()
        self.assertTrue(method.inputs[0].dynamic)
        self.assertIn("<=", str(method.inputs[0]))
        tried = 0
        for key in [k for k in data.files if "in0" in k]:
            outputs = method(data[key])
            for i, output in enumerate(outputs):
                want = data[key.replace("in0", f"out{i}")]
                self.assertEqual(output.shape, want.shape)
                np.testing.assert_allclose(output, want, atol=1e-4)
            tried += 1
        self.assertGreater(tried, 0)

    def test_outputs_are_owned_or_borrowed(self) -> None:
        method = pteron.load(LSTM).method()
        first = method(self.x)
        second = method(np.zeros_like(self.x))
        self.assertFalse(np.array_equal(first, second))
        np.testing.assert_allclose(first, self.y, atol=1e-5)
        borrowed = method(self.x, borrow=True)
        again = method(np.zeros_like(self.x), borrow=True)
        self.assertEqual(borrowed.ctypes.data, again.ctypes.data)
        first[0] = 0  # What is owned is writeable.

    def test_outputs_are_written_to_arrays_of_the_callers(self) -> None:
        method = pteron.load(LSTM).method()
        out = np.full(self.y.shape, np.nan, "float32")
        self.assertIs(method(self.x, out=out), out)
        np.testing.assert_allclose(out, self.y, atol=1e-5)
        out[:] = np.nan
        self.assertIs(method(self.x, out=[out]), out)
        # The next call without it writes elsewhere.
        kept = out.copy()
        method(np.zeros_like(self.x))
        np.testing.assert_array_equal(out, kept)
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)
        for wrong, part in (
            (out.astype("float64"), "give an array of float32"),
            (np.empty((2, 6, 14), "float32")[:, :, ::2], "row-major"),
            (out[:1], "shape"),
            ([], "for each"),
            ("x", "numpy.ndarray"),
        ):
            with self.raises(ValueError, part):
                method(self.x, out=wrong)
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)

    def test_a_name_that_is_not_there_is_refused(self) -> None:
        with self.raises(ValueError, 'no input "y"', "input0"):
            pteron.load(LSTM).method()(y=self.x)

    def test_state_is_kept_read_set_and_reset(self) -> None:
        program, io = self.stateful()
        method = program.method()
        inputs = [io[f"in_{i}"] for i in range(len(method.inputs))]
        self.assertGreater(len(method.state), 0)
        name = next(iter(method.state))
        initial = method.state[name]
        first = method(*inputs)
        changed = method.state[name]
        self.assertFalse(np.array_equal(initial, changed))
        method.state[name] = initial
        np.testing.assert_array_equal(method(*inputs), first)
        method.reset_state()
        np.testing.assert_array_equal(method(*inputs), first)
        with self.assertRaisesRegex(KeyError, "no state"):
            method.state["none"]
        with self.raises(TypeError, "dtype"):
            method.state[name] = initial.astype("complex64")

    def stateful(self) -> tuple[pteron.Program, Any]:
        for case in sorted(GOLDEN.iterdir()):
            if "tate" not in case.name and "buffer" not in case.name.lower():
                continue
            runs = json.loads((case / "case.json").read_text())["runs"]
            program = pteron.load(case / "model.pte")
            method = program.method()
            single = len(method.outputs) == 1 and method.outputs[0].kind == "tensor"
            if len(method.state) and single and runs[0]["method"] == method.name:
                io = np.load(case / "io_0.npz")
                before = dict(method.state)
                method(*[io[f"in_{i}"] for i in range(len(method.inputs))])
                if any(not np.array_equal(before[n], v) for n, v in method.state.items()):
                    return program, io
        self.fail("no golden program keeps state")

    def test_a_program_that_keeps_state_keeps_it_from_call_to_call(self) -> None:
        program, io = self.stateful()
        method = program.method()
        inputs = [io[f"in_{i}"] for i in range(len(method.inputs))]
        for _ in range(5):
            np.testing.assert_array_equal(program(*inputs), method(*inputs))

    def test_a_run_can_be_bounded_in_time_and_cancelled(self) -> None:
        method = pteron.load(MODELS / "pnet_portable.pte", time_limit=1e-6).method()
        with self.raises(TimeoutError, "time_limit"):
            method(np.zeros(method.inputs[0].shape or (), "float32"))
        method = pteron.load(LSTM).method()
        method.cancel()  # Nothing runs: nothing happens.
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)

    def test_profile_and_execution_tell_what_ran(self) -> None:
        method = pteron.load(LSTM, profile=True).method()
        method(self.x)
        self.assertGreater(len(method.profile["instructions"]), 50)
        self.assertEqual(method.execution["execution"][0]["ran_by"], "kernels")
        with self.raises(ValueError, "profile"):
            _ = pteron.load(LSTM).method().profile

    def test_repr_names_what_it_is(self) -> None:
        program = pteron.load(LSTM)
        self.assertIn("lstm_portable.pte: forward", repr(program))
        self.assertEqual(
            repr(program.method()),
            "<pteron.Method forward(input0: int64 [2, 6]) -> output0: float32 [2, 6, 7]>",
        )
        page = program._repr_html_()
        self.assertIn("<td>input0: int64 [2, 6]</td>", page)
        self.assertRegex(page, r"<td>[0-9]{2,} calls of operators by kernels</td>")

    def test_calls_of_a_kind_are_counted_together(self) -> None:
        program = pteron.load(MODELS / "lstm_openvino.pte")
        self.assertIn("<td>1 call of OpenvinoBackend by OpenVINO</td>", program._repr_html_())
        one = {"part": "OpenvinoBackend", "calls": 1, "ran_by": "OpenVINO"}
        parts = [one, {"part": "operators", "calls": 3, "ran_by": ""}, {**one, "calls": 2}]
        found = program.info
        found["methods"][0]["runs"]["parts"] = parts
        with mock.patch.object(pteron.Program, "info", found):
            self.assertIn(
                "<td>3 calls of OpenvinoBackend by OpenVINO, 3 calls of operators by nobody</td>",
                program._repr_html_(),
            )

    def test_a_bound_is_shown_where_a_size_may_vary(self) -> None:
        program = pteron.load(PNET_DYNAMIC)
        for text in (str(program.inputs[0]), repr(program.method()), program._repr_html_()):
            self.assertRegex(html.unescape(text), r"float32 \[1, <=3, <=[0-9]+, <=[0-9]+\]")
            text.encode("ascii")  # Any console and file takes it.
        with self.raises(ValueError, "takes float32 [1, <=3, <="):
            program(np.zeros((2, 3, 40, 40), "float32"))

    def test_html_escapes_what_a_file_says(self) -> None:
        program = pteron.load(LSTM)
        program._path = "<script>"
        self.assertNotIn("<script>", program._repr_html_())
        program.close()
        self.assertNotIn("<script>", program._repr_html_())
        self.assertIn("closed", program._repr_html_())


if __name__ == "__main__":
    unittest.main()
