"""OpenVINO's own Tensor, which has neither DLPack nor the buffer protocol, but a view: `data`."""

from __future__ import annotations

from typing import Any

from ._dlpack import Borrowed
from ._errors import ArgumentTypeError, first_line

# OpenVINO's names of element types to ExecuTorch's ScalarType. The view's dtype does not tell: for
# bfloat16 it is float16, for 4 bits int8.
_CODES = {
    "u8": 0,
    "i8": 1,
    "i16": 2,
    "i32": 3,
    "i64": 4,
    "f16": 5,
    "f32": 6,
    "f64": 7,
    "boolean": 11,
    "bf16": 15,
    "u16": 27,
    "u32": 28,
    "u64": 29,
}


def is_openvino_tensor(value: Any) -> bool:
    kind = type(value)
    return kind.__module__.startswith("openvino.") and hasattr(kind, "get_element_type")


def borrow_openvino(value: Any, name: str) -> Borrowed:
    """What an openvino.Tensor on the CPU points at. `name` stands in errors: 'input 0'."""
    element = value.get_element_type().get_type_name()
    if element not in _CODES:
        raise ArgumentTypeError(
            f"{name}: the openvino.Tensor has {element}, which no program takes"
        )
    try:
        view = value.data
    except RuntimeError as error:
        why = first_line(error) or "it is not on the CPU"
        raise ArgumentTypeError(f"{name}: the openvino.Tensor cannot be read: {why}") from error
    return Borrowed(view.ctypes.data, _CODES[element], view.shape, view.strides, (value, view))
