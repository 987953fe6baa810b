#!/usr/bin/env python3
"""Arrays of other libraries are read where they lie.

usage: borrowing_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import array
import ctypes
import unittest
import weakref
from typing import Any

import numpy as np
import pteron
from dlpack_capsule import broken_capsule
from package_case import GOLDEN, LSTM, MODELS, PackageTestCase, Tensor


class Borrowing(PackageTestCase):
    def test_dlpack_is_read_where_it_lies_whatever_its_strides(self) -> None:
        method = pteron.load(LSTM).method()
        for x in (self.x, np.asfortranarray(self.x), np.repeat(self.x, 2, 1)[:, ::2]):
            np.testing.assert_array_equal(method(Tensor(x)), method(self.x))
        np.testing.assert_array_equal(method(Tensor(self.x, offset=16)), method(self.x))

    def test_outputs_go_out_by_dlpack(self) -> None:
        y = np.from_dlpack(pteron.load(LSTM)(self.x))
        np.testing.assert_allclose(y, self.y, atol=1e-5)

    def test_elements_of_other_types_are_refused(self) -> None:
        method = pteron.load(LSTM).method()
        with self.raises(TypeError, "uint64", "takes int64 [2, 6]"):
            method(Tensor(self.x, code=1))
        with self.raises(TypeError, "type 3 of 64 bits"):
            method(Tensor(self.x, code=3))
        with self.raises(TypeError, "2 lanes"):
            method(Tensor(self.x, lanes=2))

    def test_a_tensor_that_refuses_says_why_in_one_line(self) -> None:
        for reason, line in (
            ("it needs detach()", "it needs detach()"),
            ("\n  it is elsewhere\nand so on", "it is elsewhere"),
        ):

            class Refuses(Tensor):
                said = reason

                def __dlpack__(self) -> Any:
                    raise BufferError(self.said)

            with self.raises(TypeError, f"cannot be read: {line}"):
                pteron.load(LSTM).method()(Refuses(self.x))

    def test_capsules_that_lead_nowhere_are_refused(self) -> None:
        method = pteron.load(MODELS.parent / "peer/two_methods.pte").method()
        x = np.ones((2, 2), "float32")

        class Broken(Tensor):
            made: Any = None

            def __dlpack__(self) -> Any:
                return self.made

        strides = (ctypes.c_int64 * 2)(2**62, 1)
        for fields, part in (
            ({"shape": None}, "2 dimensions, but no sizes"),
            ({"data": None}, "no memory"),
            ({"data": None, "byte_offset": 16}, "no memory"),
            ({"byte_offset": 2**64 - 4}, "further than memory"),
            ({"strides": strides}, "further than memory"),
            ({"version": 2}, "no DLPack tensor"),
        ):
            value = Broken(x)
            value.made = broken_capsule(x, **fields)
            with self.subTest(part), self.raises(TypeError, part):
                method(value)
        value.made = broken_capsule(x, version=1)
        np.testing.assert_array_equal(method(value), method(x))

    def test_read_only_arrays_are_lent_by_dlpack_and_given_back(self) -> None:
        class Wraps:
            def __init__(self, array: np.ndarray) -> None:
                self.array = array

            def __dlpack_device__(self) -> tuple[int, int]:
                return (1, 0)

            def __dlpack__(self, **how: Any) -> Any:
                return self.array.__dlpack__(**how)

        x = self.x.copy()
        x.flags.writeable = False
        try:
            x.__dlpack__(max_version=(1, 0))
        except TypeError:
            self.skipTest("this NumPy has no DLPack 1")
        seen = weakref.ref(x)
        y = pteron.load(LSTM)(Wraps(x))
        np.testing.assert_allclose(y, self.y, atol=1e-5)
        del x
        self.assertIsNone(seen())

    def test_borrowed_outputs_are_read_only(self) -> None:
        method = pteron.load(LSTM).method()
        view = method(self.x, borrow=True)
        with self.assertRaisesRegex(ValueError, "read-only"):
            view[:] = 0
        method(self.x)[:] = 0
        np.testing.assert_allclose(view, self.y, atol=1e-5)

    def test_a_subclass_is_read_as_numpy_sees_it(self) -> None:
        class Tells(np.ndarray):
            """Tells strides and an interface that its memory has not."""

            strides: Any = (2**40, 8)

            @property
            def __array_interface__(self) -> Any:
                raise AttributeError("none here")

        method = pteron.load(LSTM).method()
        np.testing.assert_allclose(method(self.x.view(Tells)), self.y, atol=1e-5)
        out = np.zeros_like(self.y).view(Tells)
        self.assertIs(method(self.x, out=out), out)
        np.testing.assert_allclose(out.view(np.ndarray), self.y, atol=1e-5)

    def test_masked_arrays_are_refused_with_the_remedy(self) -> None:
        method = pteron.load(LSTM).method()
        with self.raises(TypeError, "masked array", ".filled()"):
            method(np.ma.masked_array(self.x))
        with self.raises(TypeError, "out 0", "masked array"):
            method(self.x, out=np.ma.masked_array(self.y))

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


if __name__ == "__main__":
    unittest.main()
