"""What a method takes and gives, as ExecuTorch's MethodMeta tells it."""

from __future__ import annotations

from math import prod
from typing import Any

# ExecuTorch's ScalarType: the number, its name there, bytes an element.
_SCALAR_TYPES = {
    "uint8": (0, "Byte", 1),
    "int8": (1, "Char", 1),
    "int16": (2, "Short", 2),
    "int32": (3, "Int", 4),
    "int64": (4, "Long", 8),
    "float16": (5, "Half", 2),
    "float32": (6, "Float", 4),
    "float64": (7, "Double", 8),
    "complex64": (9, "ComplexFloat", 8),
    "complex128": (10, "ComplexDouble", 16),
    "bool": (11, "Bool", 1),
    "qint8": (12, "QInt8", 1),
    "quint8": (13, "QUInt8", 1),
    "qint32": (14, "QInt32", 4),
    "bfloat16": (15, "BFloat16", 2),
    "bits16": (22, "Bits16", 2),
    "float8_e5m2": (23, "Float8_e5m2", 1),
    "float8_e4m3fn": (24, "Float8_e4m3fn", 1),
    "float8_e5m2fnuz": (25, "Float8_e5m2fnuz", 1),
    "float8_e4m3fnuz": (26, "Float8_e4m3fnuz", 1),
    "uint16": (27, "UInt16", 2),
    "uint32": (28, "UInt32", 4),
    "uint64": (29, "UInt64", 8),
}


class TensorInfo:
    """A tensor that a method takes or gives, or that has a name."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._sizes: tuple[int, ...] = tuple(spec["shape"])
        self._type: tuple[int, str, int] = _SCALAR_TYPES[spec["dtype"]]
        # A constant counts as planned, as in ExecuTorch: nobody else gives it memory.
        self._planned = bool(spec["planned"] or spec.get("constant"))

    def sizes(self) -> tuple[int, ...]:
        """Its sizes; upper bounds where they are dynamic."""
        return self._sizes

    def dtype(self) -> int:
        """ExecuTorch's number of its element type."""
        return self._type[0]

    def is_memory_planned(self) -> bool:
        """Whether the program plans its memory."""
        return self._planned

    def nbytes(self) -> int:
        """Its bytes."""
        return int(prod(self._sizes)) * self._type[2]

    def __repr__(self) -> str:
        return (
            f"TensorInfo(sizes={list(self._sizes)}, dtype={self._type[1]}, "
            f"is_memory_planned={self._planned}, nbytes={self.nbytes()})"
        )


class MethodMeta:
    """What a method takes and gives, and what tensors of it have names."""

    def __init__(self, method: dict[str, Any]) -> None:
        self._name = str(method["name"])
        self._inputs = method["inputs"]
        self._outputs = method["outputs"]
        self._attributes = method["named_tensors"]

    def name(self) -> str:
        """The method's name."""
        return self._name

    def num_inputs(self) -> int:
        """How many inputs it takes."""
        return len(self._inputs)

    def num_outputs(self) -> int:
        """How many outputs it gives."""
        return len(self._outputs)

    def num_attributes(self) -> int:
        """How many tensors of it have names: buffers that it keeps, weights beside the program."""
        return len(self._attributes)

    def input_tensor_meta(self, index: int) -> TensorInfo:
        """Raises IndexError past the last input, and ValueError for one that is no tensor."""
        return _tensor(self._inputs, index, "input")

    def output_tensor_meta(self, index: int) -> TensorInfo:
        """Raises IndexError past the last output, and ValueError for one that is no tensor."""
        return _tensor(self._outputs, index, "output")

    def attribute_tensor_meta(self, index: int) -> TensorInfo:
        """Raises IndexError past the last tensor that has a name."""
        return _tensor(self._attributes, index, "attribute")

    def __repr__(self) -> str:
        def shown(specs: list[dict[str, Any]]) -> list[str]:
            return [repr(TensorInfo(s)) if "shape" in s else s["kind"] for s in specs]

        return (
            f"MethodMeta(name='{self._name}', num_inputs={self.num_inputs()}, "
            f"input_tensor_meta={shown(self._inputs)}, num_outputs={self.num_outputs()}, "
            f"output_tensor_meta={shown(self._outputs)})"
        )


def _tensor(specs: list[dict[str, Any]], index: int, what: str) -> TensorInfo:
    if not 0 <= index < len(specs):
        raise IndexError(f"Cannot get {what} tensor meta at {index}: there are {len(specs)}")
    if "shape" not in specs[index]:
        raise ValueError(f"{what} {index} is no tensor but {specs[index]['kind']}")
    return TensorInfo(specs[index])
