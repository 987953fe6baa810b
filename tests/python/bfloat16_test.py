#!/usr/bin/env python3
"""bfloat16, which NumPy has only with ml_dtypes.

usage: bfloat16_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import ctypes
import sys
import unittest
from typing import Any
from unittest import mock

import numpy as np
import pteron
from package_case import GOLDEN, PackageTestCase, Tensor
from pteron import _dtypes
from pteron._library import CTensor
from pteron._values import view_of

CASE = GOLDEN / "extra__bf16_add"


def wide(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Bfloat16TestCase(PackageTestCase):
    def setUp(self) -> None:
        super().setUp()
        with np.load(CASE / "io_0.npz") as data:
            self.bits = [data["in_0"], data["in_1"]]
            self.sum = wide(data["eager_0"])
        _dtypes.numpy_dtype.cache_clear()
        self.addCleanup(_dtypes.numpy_dtype.cache_clear)

    def lent(self, *bits: np.ndarray) -> list[Any]:
        return [Tensor(array, code=4) for array in bits]


class Bfloat16Alone(Bfloat16TestCase):
    def setUp(self) -> None:
        super().setUp()
        without = mock.patch.dict(sys.modules, {"ml_dtypes": None})
        without.start()
        self.addCleanup(without.stop)
        self.method = pteron.load(CASE / "model.pte").method()

    def test_it_is_lent_by_dlpack_and_comes_out_as_float32(self) -> None:
        self.assertEqual(self.method.inputs[0].dtype, "bfloat16")
        self.assertIsNone(self.method.inputs[0].numpy_dtype)
        out = self.method(*self.lent(*self.bits))
        self.assertEqual(out.dtype, np.float32)
        np.testing.assert_array_equal(out, self.sum)

    def test_each_run_has_its_own_result(self) -> None:
        zero = np.zeros_like(self.bits[0])
        first = self.method(*self.lent(*self.bits))
        second = self.method(*self.lent(self.bits[0], zero), borrow=True)
        third = self.method(*self.lent(zero, zero))
        np.testing.assert_array_equal(first, self.sum)
        np.testing.assert_array_equal(second, wide(self.bits[0]))
        np.testing.assert_array_equal(third, np.zeros((4, 5)))

    def test_other_dtypes_are_refused_with_the_remedies(self) -> None:
        for wrong in (self.bits[0], wide(self.bits[0])):
            with self.raises(TypeError, str(wrong.dtype), "bfloat16", "ml_dtypes", "PyTorch"):
                self.method(wrong, wrong)

    def test_no_other_dtype_is_taken_for_the_outputs(self) -> None:
        for wrong in ("float64", "uint16", "float32"):
            with self.raises(TypeError, wrong, "bfloat16", "ml_dtypes"):
                self.method(*self.lent(*self.bits), out=np.zeros((4, 5), wrong))

    def test_a_view_of_no_dimensions_is_an_array(self) -> None:
        bits = np.array(0x3FC0, np.uint16)
        one = view_of(CTensor(data=bits.ctypes.data, rank=0, dtype=_dtypes.BFLOAT16), None)
        self.assertIsInstance(one, np.ndarray)
        self.assertEqual((one.shape, one.item()), ((), 1.5))


class Bfloat16WithMlDtypes(Bfloat16TestCase):
    def setUp(self) -> None:
        super().setUp()
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not in the tests' environment")
        self.dtype = np.dtype(ml_dtypes.bfloat16)
        self.method = pteron.load(CASE / "model.pte").method()

    def test_its_arrays_go_in_and_come_out(self) -> None:
        arrays = [bits.view(self.dtype) for bits in self.bits]
        self.assertEqual(self.method.outputs[0].numpy_dtype, self.dtype)
        out = self.method(*arrays)
        self.assertEqual(out.dtype, self.dtype)
        np.testing.assert_array_equal(out.astype(np.float32), self.sum)
        target = np.zeros((4, 5), self.dtype)
        self.assertIs(self.method(*arrays, out=target), target)
        np.testing.assert_array_equal(target.astype(np.float32), self.sum)

    def test_other_dtypes_are_refused_with_the_remedy(self) -> None:
        with self.raises(TypeError, "float32", 'dtype="bfloat16"'):
            self.method(*map(wide, self.bits))

    def test_all_of_its_dtypes_are_known_and_come_out(self) -> None:
        bits = np.array([[0x38, 0x3C, 0x40]], np.uint8)
        shape = (ctypes.c_int64 * 2)(1, 3)
        for code in (23, 24, 25, 26):
            dtype = _dtypes.numpy_dtype(code)
            assert dtype is not None
            self.assertEqual(_dtypes.code_of(dtype), code)
            view = view_of(CTensor(bits.ctypes.data, shape, None, 2, code), None)
            self.assertEqual(view.dtype, dtype)
            np.testing.assert_array_equal(view.view(np.uint8), bits)
        for other in ("float64", "V1", "datetime64[s]", [("a", "f4")]):
            self.assertEqual(_dtypes.code_of(np.dtype(other)), 7 if other == "float64" else None)


if __name__ == "__main__":
    unittest.main()
