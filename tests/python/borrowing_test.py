#!/usr/bin/env python3
"""Arrays of other libraries are read where they lie.

usage: borrowing_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import array
import unittest
from typing import Any

import numpy as np
import pteron
from package_case import GOLDEN, LSTM, PackageTestCase, Tensor


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


if __name__ == "__main__":
    unittest.main()
