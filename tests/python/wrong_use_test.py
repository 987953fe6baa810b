#!/usr/bin/env python3
"""Wrong use, of pteron and of pteron.runtime: an exception of the kind that Python would raise,
with what to do.

usage: wrong_use_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import enum
import gc
import io
import sys
import unittest
from collections.abc import Callable
from typing import Any

import numpy as np
import pteron
from package_case import GOLDEN, LSTM, PackageTestCase, Tensor
from pteron.runtime import Runtime


class WrongSources(PackageTestCase):
    def check(self, source: Any, kind: type[Exception], *parts: str) -> None:
        with self.raises(kind, *parts):
            pteron.load(source)
        with self.raises(RuntimeError, *parts):
            Runtime.get().load_program(source)

    def test_a_missing_file_and_a_folder_are_named(self) -> None:
        # Windows' words depend on its language.
        reason = "(error 3)" if sys.platform == "win32" else "No such file"
        self.check("no/such.pte", FileNotFoundError, "no/such.pte", reason)
        self.check("", FileNotFoundError)
        self.check(self.folder, OSError, str(self.folder), "it is a folder")

    def test_what_is_no_program_says_what_it_is_not(self) -> None:
        text = self.folder / "a.pte"
        text.write_text("import this\n" * 50)
        self.check(text, ValueError, str(text), "not an ExecuTorch program")
        self.check(b"", ValueError, "it is empty")
        self.check(b"import this" * 50, ValueError, "not an ExecuTorch program")
        self.check(LSTM.read_bytes()[:5000], ValueError)
        bundled = bytearray(LSTM.read_bytes())
        bundled[4:8] = b"BP08"
        self.check(bundled, NotImplementedError, "bundled program", "export the plain")

    def test_a_file_of_text_is_to_be_opened_in_binary(self) -> None:
        self.check(io.StringIO("x"), TypeError, '"rb"')

    def test_a_path_ends_where_it_ends(self) -> None:
        self.check(f"{LSTM}\0.txt", ValueError, "NUL")

    def test_other_things_are_type_errors_of_both(self) -> None:
        loads: list[Callable[[Any], object]] = [pteron.load, Runtime.get().load_program]
        for source, text in ((None, "None"), (3, "an int"), ([1], "a list"), ({}, "a dict")):
            for load in loads:
                with self.raises(TypeError, "binary file", f"got {text}"):
                    load(source)

    def test_what_lends_no_bytes_is_a_type_error(self) -> None:
        released = memoryview(b"abc")
        released.release()
        for source in (np.array(["2020"], "M8[D]"), released):
            with self.raises(TypeError, "binary file"):
                pteron.load(source)

    def test_a_tilde_that_nobody_expands_is_pointed_out(self) -> None:
        remedy = "~ is not expanded here"
        self.check("~/none.pte", FileNotFoundError, "~/none.pte", remedy, "os.path.expanduser")
        for options in ({"weights": "~/none.ptd"}, {"weights": ["~/none.ptd"]}):
            with self.raises(FileNotFoundError, remedy):
                pteron.load(LSTM, **options)
        with self.raises(LookupError, remedy):
            pteron.devices(openvino="~/openvino")
        with self.raises(ValueError, "cache_dir is ", remedy):
            pteron.load(LSTM, cache_dir="~/none")

    def test_a_path_that_no_file_can_have_says_so(self) -> None:
        self.check("\ud800", ValueError, "UTF-8")

    def test_bytes_that_change_after_loading_change_nothing(self) -> None:
        data = bytearray(LSTM.read_bytes())
        lent: list[Any] = [data, memoryview(data), np.frombuffer(data, "uint8"), io.BytesIO(data)]
        programs = [pteron.load(source) for source in lent]
        method = Runtime.get().load_program(data).load_method("forward")
        assert method is not None
        data[:] = bytes(len(data))
        gc.collect()
        for y in (*(program(self.x) for program in programs), method.execute([self.x])[0]):
            np.testing.assert_allclose(y, self.y, atol=1e-5)


class WrongInputs(PackageTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.method = pteron.load(LSTM).method()
        same = Runtime.get().load_program(LSTM).load_method("forward")
        assert same is not None
        self.same = same

    def check(self, value: Any, kind: type[Exception], *parts: str) -> None:
        with self.raises(kind, *parts):
            self.method(value)
        with self.raises(RuntimeError, *parts):
            self.same.execute([value])
        np.testing.assert_allclose(self.method(self.x), self.y, atol=1e-5)

    def test_dtypes(self) -> None:
        self.check(
            self.x.astype("int32"), TypeError, "int32", "takes int64", 'asarray(x, dtype="int64")'
        )
        self.check(self.x.astype(">i8"), TypeError, "big-endian", 'dtype="int64"')
        self.check(self.x.astype(object), TypeError, "object")
        self.check(self.x.astype("datetime64[s]"), TypeError, "datetime64")
        self.check(Tensor(self.x.astype("int32")), TypeError, "int32", "convert it to int64")

    def test_shapes(self) -> None:
        for wrong in (self.x[:1], self.x[:, :0], self.x.ravel(), self.x[None], self.x.T):
            self.check(
                wrong, ValueError, 'input 0 "input0": shape', "[2, 6]", str(list(wrong.shape))
            )
        wide = self.x.reshape((1,) * 30 + (2, 6))
        self.check(wide, ValueError, 'input 0 "input0" has 32 dimensions')
        out = np.empty((1,) * 30 + (2, 42), "float32")
        with self.raises(ValueError, 'out 0 "output0" has 32 dimensions'):
            self.method(self.x, out=out)

    def test_what_is_no_array(self) -> None:
        for value, text in (
            (self.x.tolist(), "a list"),
            (None, "None"),
            (3, "an int"),
            ("x", "a str"),
            (object(), "an object"),
            (np.ndarray, "a type"),
        ):
            self.check(value, TypeError, f'input 0 "input0" is {text}', "numpy.asarray")
        for inputs in ([self.x], (self.x,)):
            self.check(inputs, TypeError, "program(*inputs)")

    def test_tensors_on_other_devices(self) -> None:
        for device, where in ((2, "a CUDA device"), (14, "a oneAPI device"), (99, "type 99")):
            self.check(Tensor(self.x, device=device), TypeError, where, "copy it to the CPU")

    def test_tensors_that_are_not_lent(self) -> None:
        class Refuses(Tensor):
            error: Exception = ValueError("Unknown device type meta")

            def __dlpack_device__(self) -> tuple[int, int]:
                raise self.error

        self.check(Refuses(self.x), TypeError, "cannot be read: Unknown device type meta")
        silent = Refuses(self.x)
        silent.error = BufferError()
        self.check(silent, TypeError, "cannot be read: BufferError")

        class Nothing(Tensor):
            def __dlpack__(self) -> Any:
                return None

        self.check(Nothing(self.x), TypeError, "Nothing gave no DLPack tensor")

    def test_what_gives_no_array_says_why(self) -> None:
        class Traced:
            def __array__(self, *_: Any, **__: Any) -> Any:
                raise RuntimeError("it has no numbers yet\nand more")

        self.check(Traced(), TypeError, 'input 0 "input0"', "Traced gives no array: it has no numb")

    def test_counts(self) -> None:
        for inputs in ((), (self.x, self.x)):
            with self.raises(ValueError, "takes 1 input", f"got {len(inputs)}", "input0: int64"):
                self.method(*inputs)
            with self.raises(RuntimeError, "takes 1 input", f"got {len(inputs)}"):
                self.same.execute(inputs)
        with self.raises(ValueError, "has 1 output, got 2 arrays", "each of output0"):
            self.method(self.x, out=[None, None])

    def test_what_is_no_list_of_inputs(self) -> None:
        wrong: list[Any] = [None, 3, "x", {"input0": self.x}]
        for inputs in wrong:
            with self.raises(TypeError, "takes a list of inputs"):
                self.same.execute(inputs)
        # One tensor is taken for a list of it, as ExecuTorch does.
        np.testing.assert_allclose(self.same.execute(self.x)[0], self.y, atol=1e-5)

    def test_numbers(self) -> None:
        case = GOLDEN / "models__ModuleIntBool"
        method = pteron.load(case / "model.pte").method()
        with np.load(case / "io_0.npz") as data:
            x = data["in_0"]
        for wrong, kind, part in (
            (1.0, TypeError, "is a float, but the method takes int"),
            (True, TypeError, "is a bool"),
            (None, TypeError, "is None"),
            (2**63, ValueError, "does not fit in 64 bits"),
            (-(2**64) + 1, ValueError, "does not fit in 64 bits"),
        ):
            with self.raises(kind, 'input 1 "input1"', part):
                method(x, wrong, True)
        with self.raises(TypeError, 'input 2 "input2" is an int, but the method takes bool'):
            method(x, 1, 1)
        np.testing.assert_array_equal(method(x, np.int64(1), np.True_), method(x, 1, True))

    def test_nothing_is_printed(self) -> None:
        done = self.run_python(
            "import numpy, pteron\n"
            f"method = pteron.load({str(LSTM)!r}).method()\n"
            "for inputs in ((), (None,), (numpy.zeros((2, 5), 'int64'),), (numpy.eye(2),)):\n"
            "    try:\n        method(*inputs)\n"
            "    except ValueError as error:\n        pass\n"
            "    else:\n        raise SystemExit(1)\n"
        )
        self.assertEqual(done.stdout, "")


class WrongOptions(PackageTestCase):
    def test_each_says_what_it_takes(self) -> None:
        cases: list[tuple[dict[str, Any], type[Exception], str]] = [
            ({"device": 3}, TypeError, "device is 3, but a string"),
            ({"device": "C\0PU"}, ValueError, "NUL"),
            ({"precision": "f64"}, ValueError, "program, fast, f32, f16, bf16"),
            ({"hint": "fast"}, ValueError, "latency, throughput"),
            ({"threads": -1}, ValueError, "threads is -1"),
            ({"threads": 1.5}, TypeError, "threads is 1.5, but a whole number"),
            ({"threads": 2**31}, ValueError, "to 2147483647"),
            ({"weights": 3}, TypeError, "paths of .ptd files"),
            ({"weights": [3]}, TypeError, "weights is 3, but a path"),
            ({"weights": "none.ptd"}, OSError, "none.ptd"),
            ({"weights": LSTM}, ValueError, "lstm_portable.pte"),
            ({"config": [1]}, TypeError, "dict of properties"),
            ({"config": {"A": "b\0"}}, ValueError, "NUL"),
            ({"openvino": 3}, TypeError, "openvino is 3, but a path"),
            ({"cache_dir": 3}, TypeError, "cache_dir is 3, but a path"),
            ({"memory_limit": -1}, ValueError, "memory_limit is -1"),
            ({"time_limit": "1"}, TypeError, "seconds"),
            ({"time_limit": -1}, ValueError, "time_limit"),
            ({"time_limit": float("nan")}, ValueError, "time_limit"),
            ({"precision": []}, TypeError, "precision is [], but a string"),
            ({"hint": {}}, TypeError, "hint is {}, but a string"),
            ({"time_limit": 10**400}, ValueError, "time_limit is a number too large"),
            ({"device": "\ud800"}, ValueError, "UTF-8"),
            ({"copy_file": np.zeros(3)}, TypeError, "copy_file is "),
            ({"profile": np.zeros(3)}, TypeError, "profile is "),
            ({"weights": "none.ptd"}, FileNotFoundError, "none.ptd"),
            ({"weights": [LSTM.parent]}, OSError, str(LSTM.parent)),
            ({"seed": 2**64}, ValueError, "seed is 18446744073709551616"),
        ]
        for options, kind, part in cases:
            with self.subTest(options), self.raises(kind, part):
                pteron.load(LSTM, **options)
        with self.assertRaisesRegex(TypeError, "devices"):
            pteron.load(LSTM, devices="CPU")  # type: ignore[call-arg]

    def test_numbers_of_numpy_and_borrow_that_is_neither(self) -> None:
        program = pteron.load(LSTM, time_limit=np.float32(100))
        np.testing.assert_allclose(program(self.x), self.y, atol=1e-5)
        with self.raises(TypeError, "borrow is "):
            program(self.x, borrow=np.zeros(2))

    def test_only_a_missing_file_is_said_to_be_missing(self) -> None:
        try:
            pteron.load(LSTM, weights=LSTM.parent)
        except pteron.FileError as error:
            self.assertNotIsInstance(error, FileNotFoundError)
        with self.raises(FileNotFoundError, "none.ptd"):
            pteron.load(LSTM.read_bytes(), weights="none.ptd")

    def test_texts_that_tell_something_else_are_taken_for_what_they_are(self) -> None:
        class Choice(str, enum.Enum):
            F32 = "f32"
            LATENCY = "latency"
            NONE = "none"

        class Tells(str):
            __slots__ = ()

            def __str__(self) -> str:
                return "forward\0x"

        program = pteron.load(
            LSTM,
            precision=Choice.F32,
            hint=Choice.LATENCY,
            device=Choice.NONE,
            config={Choice.NONE: Choice.F32},
        )
        self.assertEqual(program._options.device, "none")
        self.assertEqual(program._options.config, (("none", "f32"),))
        self.assertEqual(program.method(Tells("forward")).inputs[0].name, "input0")

    def test_methods(self) -> None:
        program = pteron.load(LSTM)
        wrong: list[tuple[Any, type[Exception], str]] = [
            ("backward", ValueError, "forward"),
            ("forward\0", ValueError, "NUL"),
            (3, TypeError, "a method's name is 3"),
        ]
        for name, kind, part in wrong:
            with self.raises(kind, part):
                program.method(name)
        with self.raises(TypeError, "shares_state_with is a", "of the same program"):
            program.method(shares_state_with=program)  # type: ignore[arg-type]
        with self.raises(ValueError, "program"):
            program.method(shares_state_with=pteron.load(LSTM).method())
        with self.raises(ValueError, "seed is -1"):
            program.method(seed=-1)

    def test_a_runtime_takes_its_own_verification_and_paths_of_weights(self) -> None:
        load: Any = Runtime.get().load_program
        with self.raises(TypeError, "Verification is wanted"):
            load(LSTM, verification=1)
        with self.raises(RuntimeError, "none.ptd"):
            load(LSTM, data_path="none.ptd")
        with self.raises(RuntimeError, "paths of .ptd files"):
            load(LSTM, data_path=3)


if __name__ == "__main__":
    unittest.main()
