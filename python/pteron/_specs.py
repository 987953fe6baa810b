"""What a method takes and gives."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _dtypes
from ._errors import call
from ._library import TENSOR, CSpec
from ._numpy import np

_KINDS = (
    "none",
    "tensor",
    "int",
    "float",
    "bool",
    "str",
    "list of int",
    "list of float",
    "list of bool",
    "list of tensors",
)


class Spec(NamedTuple):
    """An input, output or state of a method.

    name: from the program, else input0, output0, ...
    kind: "tensor", "int", "float", "bool", "str", "none", or a list of these.
    dtype: a tensor's element type by name, "float32"; None for what is no tensor.
    shape: a tensor's sizes; upper bounds where `dynamic`.
    dynamic: whether sizes may be smaller than `shape`.
    dim_order: a tensor's dimensions in memory, outermost first; (0, 2, 3, 1) is channels-last.
    """

    name: str
    kind: str
    dtype: str | None
    shape: tuple[int, ...] | None
    dynamic: bool
    dim_order: tuple[int, ...] | None
    code: int = -1

    @property
    def numpy_dtype(self) -> np.dtype[Any] | None:
        """NumPy's dtype of a tensor's elements; None where NumPy has none: bfloat16 and the 8-bit
        floats need the package ml_dtypes."""
        return _dtypes.numpy_dtype(self.code)

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.name}: {self.kind}"
        return f"{self.name}: {self.dtype} {shape_text(self.shape, self.dynamic)}"


def shape_text(shape: Sequence[int], dynamic: bool) -> str:
    """Sizes as they are shown: [1, <=16]. A program tells that a tensor is dynamic and not which of
    its sizes are; 1 is none, since an export takes a size that may vary to be over 1."""
    return f"[{', '.join(f'<={size}' if dynamic and size > 1 else str(size) for size in shape)}]"


def position(what: str, index: int, spec: Spec) -> str:
    """Where a value stands in errors, as the library says it: input 0 "x"."""
    return f'{what} {index} "{spec.name[:80]}"'


def counted(count: int, noun: str) -> str:
    """1 input, 2 inputs"""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def read_specs(function: str, handle: Any, count: int) -> tuple[Spec, ...]:
    """The specs that a function such as pteron_method_input_spec gives."""
    specs = []
    for index in range(count):
        raw = CSpec(struct_size=ctypes.sizeof(CSpec))
        call(function, handle, index, ctypes.byref(raw))
        tensor = raw.kind == TENSOR
        specs.append(
            Spec(
                name=(raw.name or b"").decode("utf-8", "replace"),
                kind=_KINDS[raw.kind],
                dtype=_dtypes.name_of(raw.dtype) if tensor else None,
                shape=tuple(raw.shape[: raw.rank]) if tensor else None,
                dynamic=bool(raw.dynamic),
                dim_order=tuple(raw.dim_order[: raw.rank]) if tensor else None,
                code=raw.dtype if tensor else -1,
            )
        )
    return tuple(specs)
