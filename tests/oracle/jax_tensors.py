#!/usr/bin/env python3
# environment: jax
"""Arrays of JAX on the CPU through the Python package: read by DLPack, and made of its outputs.

usage: jax_tensors.py BUILD
"""

import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(sys.argv.pop(1)).resolve() / "tests/python/site"))

import jax
import jax.numpy as jnp
import numpy as np
import pteron

DATA = Path(__file__).parent.parent / "data"


class Jax(unittest.TestCase):
    def setUp(self) -> None:
        self.method = pteron.load(DATA / "models/pnet_portable.pte").method()
        with np.load(DATA / "models/pnet.npz") as data:
            self.x = data["in0"]
        self.want = self.method(self.x)

    def check(self, x: Any) -> None:
        for got, want in zip(self.method(x), self.want, strict=True):
            np.testing.assert_array_equal(got, want)

    def test_arrays_go_in(self) -> None:
        self.check(jnp.asarray(self.x))
        last = jnp.asarray(np.ascontiguousarray(self.x.transpose(0, 2, 3, 1)))
        self.check(jnp.transpose(last, (0, 3, 1, 2)))
        self.check(jax.jit(lambda x: x * 1)(self.x))

    def test_they_are_read_where_they_lie(self) -> None:
        same = pteron.load(DATA / "peer/counter.pte").method()
        x = jnp.ones((2, 2))
        same(x)
        (slot,) = same._slots
        assert slot is not None
        self.assertEqual(slot.address.value, x.unsafe_buffer_pointer())

    def test_outputs_become_arrays(self) -> None:
        for got, want in zip(map(jnp.from_dlpack, self.method(self.x)), self.want, strict=True):
            self.assertIsInstance(got, jax.Array)
            np.testing.assert_array_equal(np.asarray(got), want)

    def test_wrong_ones_are_refused(self) -> None:
        x = jnp.asarray(self.x)
        gone = x + 0
        gone.delete()
        for wrong, kind, part in (
            (x.astype("float16"), TypeError, "dtype float16"),
            (x.astype("bfloat16"), TypeError, "dtype bfloat16"),
            (x[:, :2], ValueError, "shape [1, 2, "),
            (gone, TypeError, "cannot be read"),
            (jax.random.key(0), TypeError, "gives no array"),
        ):
            with self.assertRaisesRegex(kind, 'input 0 "input0"') as raised:
                self.method(wrong)
            self.assertIsInstance(raised.exception, pteron.Error)
            self.assertIn(part, str(raised.exception))
        self.check(x)

    def test_a_traced_array_says_why_it_has_no_numbers(self) -> None:
        with self.assertRaisesRegex(pteron.ArgumentTypeError, "gives no array: .*traced array"):
            jax.jit(self.method)(self.x)


if __name__ == "__main__":
    unittest.main()
