#!/usr/bin/env python3
"""The Python package as its users meet it.

usage: package_test.py [Class.test]...     with these variables, which ctest sets: PTERON_GOLDEN,
PTERON_MODELS, PTERON_FAKES (fake OpenVINOs), PTERON_OPENVINO (a real one; may be empty)
"""

import array
import asyncio
import contextlib
import doctest
import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pteron
from dlpack_capsule import capsule

GOLDEN = Path(os.environ["PTERON_GOLDEN"]) / "portable"
MODELS = Path(os.environ["PTERON_MODELS"])
FAKES = Path(os.environ["PTERON_FAKES"])
OPENVINO = os.environ.get("PTERON_OPENVINO") or None
LSTM = MODELS / "lstm_portable.pte"
PNET_DYNAMIC = MODELS / "pnet_dynamic_portable.pte"


class PackageTestCase(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.lstm = np.load(MODELS / "lstm.npz")
        self.x, self.y = self.lstm["in0"], self.lstm["out0"]

    def raises(self, kind: type[Exception], *parts: str) -> "Raises":
        return Raises(self, kind, parts)

    def run_python(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A new process on the same package."""
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**os.environ, **variables},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done


class Raises:
    """An exception that is also a pteron.Error, in one line that has all parts."""

    def __init__(self, test: PackageTestCase, kind: type[Exception], parts: tuple[str, ...]):
        self.test, self.kind, self.parts = test, kind, parts

    def __enter__(self) -> None:
        self.context = self.test.assertRaises(self.kind)
        self.context.__enter__()

    def __exit__(self, *error: Any) -> bool | None:
        held = self.context.__exit__(*error)
        if held:
            self.test.assertIsInstance(self.context.exception, pteron.Error)
            text = str(self.context.exception)
            self.test.assertNotIn("\n", text)
            for part in self.parts:
                self.test.assertIn(part, text)
        return held


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

    def test_closing_frees_and_says_so_afterwards(self) -> None:
        with pteron.load(LSTM) as program:
            method = program.method()
            program(self.x)
        for use in (program, lambda _: program.method(), lambda _: program.info):
            with self.raises(pteron.ClosedError, "closed"):
                use(self.x)
        self.assertIn("closed", repr(program))
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)
        with method:
            pass
        with self.raises(ValueError, "closed"):
            method(self.x)
        self.assertIn("closed", repr(method))
        method.close()
        program.close()

    def test_what_is_no_longer_used_goes(self) -> None:
        program = pteron.load(LSTM)
        method = program.method()
        view = method(self.x, borrow=True)
        seen = weakref.ref(method)
        del program, method
        gc.collect()
        # A borrowed output keeps its method.
        self.assertIsNotNone(seen())
        np.testing.assert_allclose(view, self.y, atol=1e-5)
        del view
        gc.collect()
        self.assertIsNone(seen())


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
        self.assertIn("≤", str(method.inputs[0]))
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
            (out.astype("float64"), "dtype float64"),
            (np.empty((2, 6, 14), "float32")[:, :, ::2], "row-major"),
            (out[:1], "shape"),
            ([], "for each"),
            ("x", "numpy.ndarray"),
        ):
            with self.raises(ValueError, part):
                method(self.x, out=wrong)
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)

    def test_wrong_inputs_are_refused_with_a_remedy(self) -> None:
        method = pteron.load(LSTM).method()
        with self.raises(
            TypeError, 'input 0 ("input0")', "float32", "takes int64 [2, 6]", '.astype("int64")'
        ):
            method(self.x.astype("float32"))
        with self.raises(TypeError, "big-endian"):
            method(self.x.astype(">i8"))
        with self.raises(ValueError, "[2, 3]", "[2, 6]"):
            method(self.x[:, :3])
        for value, text in (([1, 2], "a list"), (None, "None"), (3, "an int"), ("x", "a str")):
            with self.raises(TypeError, f'input 0 ("input0") is {text}', "numpy.asarray"):
                method(value)
        for inputs in ((), (self.x, self.x)):
            with self.raises(ValueError, "takes 1 input", "input0: int64 [2, 6]"):
                method(*inputs)
        with self.raises(ValueError, 'no input "y"', "input0"):
            method(y=self.x)
        with self.raises(TypeError):
            method(np.zeros((2, 6), "datetime64[s]"))
        with self.raises(TypeError):
            method(np.zeros((2, 6), object))
        with self.raises(ValueError, "dimensions"):
            method(self.x.reshape((1,) * 30 + (2, 6)))
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)

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

    def test_html_escapes_what_a_file_says(self) -> None:
        program = pteron.load(LSTM)
        program._path = "<script>"
        self.assertNotIn("<script>", program._repr_html_())


class Tensor:
    """A tensor of another library's, by DLPack."""

    def __init__(self, array: np.ndarray, code: int = 0, device: int = 1, **more: int):
        self.array, self.code, self.device, self.more = array, code, device, more

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)

    def __dlpack__(self) -> Any:
        bits = self.more.pop("bits", self.array.itemsize * 8)
        return capsule(self.array, self.code, bits, **self.more)


class Borrowing(PackageTestCase):
    def test_dlpack_is_read_where_it_lies_whatever_its_strides(self) -> None:
        method = pteron.load(LSTM).method()
        for x in (self.x, np.asfortranarray(self.x), np.repeat(self.x, 2, 1)[:, ::2]):
            np.testing.assert_array_equal(method(Tensor(x)), method(self.x))
        np.testing.assert_array_equal(method(Tensor(self.x, offset=16)), method(self.x))

    def test_outputs_go_out_by_dlpack(self) -> None:
        y = np.from_dlpack(pteron.load(LSTM)(self.x))
        np.testing.assert_allclose(y, self.y, atol=1e-5)

    def test_tensors_elsewhere_are_refused_with_the_remedy(self) -> None:
        method = pteron.load(LSTM).method()
        with self.raises(TypeError, "on a CUDA device", ".cpu()"):
            method(Tensor(self.x, device=2))
        with self.raises(TypeError, "device type 99"):
            method(Tensor(self.x, device=99))

    def test_elements_of_other_types_are_refused(self) -> None:
        method = pteron.load(LSTM).method()
        with self.raises(TypeError, "uint64", "takes int64 [2, 6]"):
            method(Tensor(self.x, code=1))
        with self.raises(TypeError, "type 3 of 64 bits"):
            method(Tensor(self.x, code=3))
        with self.raises(TypeError, "2 lanes"):
            method(Tensor(self.x, lanes=2))

    def test_a_tensor_that_refuses_says_why(self) -> None:
        class Refuses(Tensor):
            def __dlpack__(self) -> Any:
                raise BufferError("it needs detach()")

        with self.raises(TypeError, "it needs detach()"):
            pteron.load(LSTM).method()(Refuses(self.x))

    def test_the_buffer_protocol_and_array_interface_do_as_well(self) -> None:
        case = GOLDEN / "extra__mlp"
        io = np.load(case / "io_0.npz")
        method = pteron.load(case / "model.pte").method()
        x = io["in_0"]
        want = method(x)

        class Interface:
            __array_interface__ = x.__array_interface__

        np.testing.assert_array_equal(method(Interface()), want)
        np.testing.assert_array_equal(method(memoryview(x)), want)
        flat = array.array("f", x.ravel().tolist())
        with self.raises(ValueError, "shape"):
            method(flat)

    def test_bfloat16_comes_as_float32_without_ml_dtypes(self) -> None:
        case = next(p for p in sorted(GOLDEN.iterdir()) if "bf16" in p.name or "bfloat16" in p.name)
        io = np.load(case / "io_0.npz")
        method = pteron.load(case / "model.pte").method()
        inputs = []
        for i, spec in enumerate(method.inputs):
            bits = io[f"in_{i}"]
            inputs.append(Tensor(bits, code=4) if spec.dtype == "bfloat16" else bits)
        self.assertIn("bfloat16", [spec.dtype for spec in (*method.inputs, *method.outputs)])
        out = method(*inputs)
        out = out[0] if isinstance(out, tuple) else out
        if method.outputs[0].dtype == "bfloat16":
            self.assertEqual(out.dtype, np.float32)
        with contextlib.suppress(StopIteration):
            at = next(i for i, s in enumerate(method.inputs) if s.dtype == "bfloat16")
            inputs[at] = np.zeros(method.inputs[at].shape or (), np.uint16)
            with self.raises(TypeError, "uint16", "bfloat16", "ml_dtypes"):
                method(*inputs)


class Sharing(PackageTestCase):
    def test_a_method_in_use_is_busy_and_a_program_takes_another(self) -> None:
        method = pteron.load(LSTM).method()
        with method._lock:
            with self.raises(pteron.BusyError, "load one method a thread"):
                method(self.x)
            with self.raises(RuntimeError, "in use"):
                method.reset_state()
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)

    def test_sixteen_threads_get_their_own_results(self) -> None:
        program = pteron.load(LSTM, threads=1)
        inputs = [np.full((2, 6), k % 12) for k in range(16)]
        want = [program.method()(x) for x in inputs]
        errors: list[str] = []

        def work(k: int) -> None:
            for _ in range(100):
                if not np.array_equal(program(inputs[k]), want[k]):
                    errors.append(f"thread {k} got another's result")

        with ThreadPoolExecutor(16) as threads:
            list(threads.map(work, range(16)))
        self.assertEqual(errors, [])
        self.assertLessEqual(program._pool._made, len(os.sched_getaffinity(0)))

    def test_ten_thousand_calls_do_not_grow(self) -> None:
        program = pteron.load(GOLDEN / "extra__mlp/model.pte", threads=1)
        x = np.load(GOLDEN / "extra__mlp/io_0.npz")["in_0"]

        def calls(count: int) -> None:
            for _ in range(count):
                program(x)
                with contextlib.suppress(ValueError):
                    program(x[:0])

        calls(500)
        gc.collect()
        before = resident_kb()
        calls(10000)
        gc.collect()
        self.assertLess(resident_kb() - before, 2048)

    def test_errors_in_threads_leave_no_method_behind(self) -> None:
        program = pteron.load(LSTM)
        for _ in range(50):
            with self.raises(ValueError):
                program(self.x[:1])
        self.assertEqual(program._pool._made, 1)
        np.testing.assert_allclose(program(self.x), self.y, atol=1e-5)

    def test_runs_are_awaited(self) -> None:
        program = pteron.load(LSTM)

        async def all_of_them() -> list[Any]:
            return await asyncio.gather(*(program.run_async(self.x) for _ in range(20)))

        for y in asyncio.run(all_of_them()):
            np.testing.assert_allclose(y, self.y, atol=1e-5)
        with self.raises(ValueError, "shape"):
            asyncio.run(program.run_async(self.x[:1]))
        program.close()
        with self.raises(pteron.ClosedError):
            asyncio.run(program.run_async(self.x))

    def test_closing_waits_for_a_run_in_another_thread(self) -> None:
        program = pteron.load(MODELS / "pnet_portable.pte")
        method = program.method()
        picture = np.zeros(method.inputs[0].shape or (), "float32")
        stop = threading.Event()
        ends: list[BaseException] = []

        def work() -> None:
            while not stop.is_set():
                try:
                    method(picture)
                except pteron.ClosedError as error:
                    ends.append(error)
                    return

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.1)
        method.close()
        thread.join(30)
        stop.set()
        self.assertEqual(len(ends), 1)

    def test_the_interpreter_goes_on_while_a_method_runs(self) -> None:
        method = pteron.load(MODELS / "crepe_portable.pte", threads=1).method()
        x = np.zeros(method.inputs[0].shape or (), "float32")
        method(x)
        done = threading.Event()
        count = 0

        def work() -> None:
            for _ in range(20):
                method(x)
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            count += 1
            time.sleep(0)
        thread.join()
        self.assertGreater(count, 50)

    def test_methods_share_state_where_asked(self) -> None:
        case = GOLDEN / "models__ModuleSharedState"
        program = pteron.load(case / "model.pte")
        first = program.method(program.method_names[0])
        second = program.method(program.method_names[1], shares_state_with=first)
        self.assertIs(second._shares, first)
        self.assertEqual(len(first.state), len(second.state))


class Processes(PackageTestCase):
    def test_exit_is_clean_whatever_is_left_open(self) -> None:
        self.run_python(
            "import pteron, numpy as np, threading\n"
            f"p = pteron.load({str(LSTM)!r})\n"
            "m = p.method(); v = m(np.zeros((2, 6), 'int64'), borrow=True)\n"
            "import builtins; builtins.kept = (p, m, v); kept2 = [p]; kept2.append(kept2)\n"
        )

    def test_a_forked_child_goes_on(self) -> None:
        self.run_python(
            "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
            "import os, pteron, numpy as np\n"
            f"p = pteron.load({str(LSTM)!r})\n"
            "x = np.zeros((2, 6), 'int64'); want = p(x)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    import signal; signal.alarm(60)\n"
            "    ok = np.array_equal(p(x), want)\n"
            f"    ok = ok and np.array_equal(pteron.load({str(LSTM)!r})(x), want)\n"
            "    os._exit(0 if ok else 1)\n"
            "assert os.waitpid(child, 0)[1] == 0\n"
        )

    def test_importing_is_quick_and_brings_no_openvino(self) -> None:
        done = self.run_python(
            "import sys, time, numpy\n"
            "start = time.perf_counter(); import pteron\n"
            "print(time.perf_counter() - start)\n"
            "assert 'openvino' not in sys.modules and 'asyncio' not in sys.modules\n"
            "assert 'torch' not in sys.modules\n"
            "assert 'libopenvino' not in open('/proc/self/maps').read()\n"
        )
        self.assertLess(float(done.stdout), 1)

    def test_a_newer_interface_is_asked_for_by_name(self) -> None:
        site = self.folder / "pteron"
        shutil.copytree(Path(pteron.__file__).parent, site, symlinks=False)
        (site / "lib/libpteron.so").unlink()
        code = (
            "try:\n import pteron\n"
            "except ImportError as e:\n print(e)\n"
            "else:\n raise SystemExit(1)\n"
        )
        done = self.run_python(code, PYTHONPATH=str(self.folder))
        self.assertIn("pip install --force-reinstall pteron", done.stdout)
        self.assertIn(str(site / "lib/libpteron.so"), done.stdout)


class Machine(PackageTestCase):
    def test_backends_are_named(self) -> None:
        self.assertEqual(pteron.backends(), ["OpenvinoBackend"])

    def test_the_doctor_tells_what_is_missing(self) -> None:
        found = pteron.doctor(openvino=self.folder)
        self.assertFalse(found["ok"])
        self.assertTrue(found["problems"])
        with self.raises(LookupError, str(self.folder)):
            pteron.devices(openvino=self.folder)

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
        shutil.copy(FAKES / "good/libopenvino_c.so.2541", libs)
        (libs / "libopenvino_c.so.999").write_text("older")
        (packages / "openvino/__init__.py").write_text("raise SystemExit('imported')")
        done = self.run_python(
            "import pteron, json; print(json.dumps(pteron.doctor()))",
            PYTHONPATH=os.environ["PYTHONPATH"] + os.pathsep + str(packages),
        )
        found = json.loads(done.stdout)
        self.assertEqual(found["openvino"]["file"], str(libs / "libopenvino_c.so.2541"))

    def test_an_openvino_in_the_current_folder_is_not_taken(self) -> None:
        libs = self.folder / "openvino/libs"
        libs.mkdir(parents=True)
        info = self.folder / "openvino-2025.4.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: openvino\nVersion: 2025.4.1\n")
        shutil.copy(FAKES / "good/libopenvino_c.so.2541", libs)
        done = self.run_python(
            f"import os; os.chdir({str(self.folder)!r})\n"
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


class Documentation(PackageTestCase):
    def test_the_examples_in_docstrings_are_true(self) -> None:

        modules = [m for name, m in sys.modules.items() if name.split(".")[0] == "pteron"]
        tried = 0
        for module in modules:
            failed, count = doctest.testmod(module)
            self.assertEqual(failed, 0, module.__name__)
            tried += count
        self.assertGreaterEqual(tried, 6)

    def test_all_that_is_public_is_documented(self) -> None:
        for name in pteron.__all__:
            public = getattr(pteron, name)
            self.assertTrue(public.__doc__, name)
            for attribute, member in vars(public).items() if isinstance(public, type) else ():
                if not attribute.startswith("_") and callable(member):
                    self.assertTrue(member.__doc__, f"{name}.{attribute}")


def resident_kb() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


if __name__ == "__main__":
    unittest.main()
