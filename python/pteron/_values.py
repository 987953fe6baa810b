"""Python values to pteron_value and back."""

from __future__ import annotations

import ctypes
from ctypes import c_int64
from typing import Any

from . import _dtypes
from ._dlpack import Borrowed, borrow
from ._errors import ArgumentError, ArgumentTypeError, Error, first_line
from ._library import (
    BOOL,
    BOOL_LIST,
    DOUBLE,
    DOUBLE_LIST,
    INT,
    INT_LIST,
    MAX_RANK,
    NONE,
    STRING,
    TENSOR,
    TENSOR_LIST,
    CTensor,
    CValue,
)
from ._numpy import np
from ._openvino_tensor import borrow_openvino, is_openvino_tensor
from ._options import text
from ._specs import Spec

Sizes = c_int64 * MAX_RANK


def describe(value: object) -> str:
    """A value in an error: 'a list', 'None', 'a numpy.ndarray of int64 [3, 4]'."""
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {list(value.shape)}"
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def as_array(value: Any, name: str, dtype: str | None) -> np.ndarray[Any, Any] | Borrowed:
    """An array that is NumPy's, or another library's through DLPack or the buffer protocol."""
    if isinstance(value, np.ndarray):
        return plain_array(value, name)
    if isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, type):  # Whose methods an array would have.
        raise no_array(value, name, dtype)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return borrow(value, name)
    if hasattr(value, "__array_interface__") or hasattr(value, "__array__"):
        try:
            return np.asarray(value)
        except Error:  # Of a program that it calls.
            raise
        except Exception as error:  # Whatever it raises: JAX's traced arrays have no numbers.
            why = first_line(error) or type(error).__name__
            raise ArgumentTypeError(f"{name}: {describe(value)} gives no array: {why}") from error
    if is_openvino_tensor(value):
        return borrow_openvino(value, name)
    try:
        return np.asarray(memoryview(value))
    except (TypeError, ValueError):
        raise no_array(value, name, dtype) from None


def plain_array(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """The same memory as NumPy itself sees it: a subclass may tell other strides."""
    if type(array) is np.ndarray:
        return array
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentTypeError(
            f"{name} is a masked array, whose mask no program sees; give x.filled() or x.data"
        )
    return np.ndarray.view(array, np.ndarray)


def no_array(value: object, name: str, dtype: str | None) -> ArgumentTypeError:
    remedy = f'give numpy.asarray(x, dtype="{dtype}"), or a tensor of PyTorch or JAX'
    if isinstance(value, (list, tuple)) and any(hasattr(item, "shape") for item in value):
        remedy = "give the arrays in it as arguments of their own: program(*inputs)"
    return ArgumentTypeError(f"{name} is {describe(value)}, but an array is wanted; {remedy}")


class TensorSlot:
    """A pteron_value that holds a tensor, with the memory of its shape and strides."""

    __slots__ = ("address", "shape", "strides", "tensor", "value")

    def __init__(self, value: CValue) -> None:
        self.value = value
        self.shape = Sizes()
        self.strides = Sizes()
        value.kind = TENSOR
        self.tensor: CTensor = value.any.tensor
        self.tensor.shape = self.shape
        self.tensor.strides = None
        # The address alone changes from call to call.
        self.address = ctypes.c_void_p.from_buffer(self.tensor, CTensor.data.offset)

    def set_array(self, array: np.ndarray[Any, Any], code: int) -> None:
        """Points at NumPy's array, whatever its strides."""
        interface = array.__array_interface__
        self.set(interface["data"][0], code, array.shape, array.strides)

    def set(
        self, address: int, code: int, shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> None:
        rank = len(shape)
        self.tensor.dtype = code
        self.tensor.rank = rank
        self.shape[:rank] = list(shape)
        self.strides[:rank] = list(strides)
        self.tensor.strides = self.strides
        self.address.value = address


def check_rank(shape: tuple[int, ...], name: str) -> None:
    """What a slot has room for; `name` stands in errors: input 0 "x"."""
    if len(shape) > MAX_RANK:
        raise ArgumentError(f"{name} has {len(shape)} dimensions, but at most {MAX_RANK} can be")


def store_tensor(slot: TensorSlot, value: Any, spec: Spec, name: str) -> object:
    """Lets the slot point at `value`; gives what must live as long as the slot is used."""
    array = as_array(value, name, spec.dtype)
    if isinstance(array, Borrowed):
        code: int | None = array.code
    else:
        code = _dtypes.code_of(array.dtype)
    if code != spec.code:
        raise wrong_dtype(array, spec, name)
    check_rank(array.shape, name)
    if isinstance(array, Borrowed):
        slot.set(array.address, array.code, array.shape, array.strides)
    else:
        slot.set_array(array, spec.code)
    return array


def wrong_dtype(array: Any, spec: Spec, name: str, is_output: bool = False) -> ArgumentTypeError:
    if isinstance(array, Borrowed):
        got, remedy = _dtypes.name_of(array.code), f"convert it to {spec.dtype}"
    else:
        got, remedy = str(array.dtype), f'give numpy.asarray(x, dtype="{spec.dtype}")'
        if array.dtype.byteorder not in "=|":
            got += f" in {'big' if array.dtype.byteorder == '>' else 'little'}-endian order"
    if spec.numpy_dtype is None:
        remedy = f"install ml_dtypes, which gives NumPy {spec.dtype}, or give a tensor of PyTorch"
    elif is_output:
        remedy = f"give an array of {spec.dtype} to be written to, or leave out away"
    verb = "gives" if is_output else "takes"
    sizes = str(spec).partition(": ")[2]
    return ArgumentTypeError(f"{name}: dtype {got}, but the method {verb} {sizes}; {remedy}")


def store_scalar(raw: CValue, value: Any, spec: Spec, name: str) -> object:
    """Stores what is no tensor: a number, a bool, a string or None."""
    if spec.kind == "int" and isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise ArgumentError(f"{name} is {value}, which does not fit in 64 bits")
        raw.kind, raw.any.integer = INT, int(value)
    elif spec.kind == "float" and isinstance(value, (float, int, np.floating)):
        try:
            raw.kind, raw.any.real = DOUBLE, float(value)
        except OverflowError:
            raise ArgumentError(f"{name} is a number too large for a float") from None
    elif spec.kind == "bool" and isinstance(value, (bool, np.bool_)):
        raw.kind, raw.any.boolean = BOOL, int(value)
    elif spec.kind == "str" and isinstance(value, str):
        encoded = text(value, name)
        raw.kind, raw.any.string = STRING, encoded
        return encoded
    elif spec.kind == "none" and value is None:
        raw.kind = NONE
    else:
        raise ArgumentTypeError(f"{name} is {describe(value)}, but the method takes {spec.kind}")
    return None


class _Memory:
    """Memory of the library's as NumPy takes it: the array keeps this, and this its owner."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None,
        dtype: np.dtype[Any],
        owner: object,
    ) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "data": (address, True),  # Read-only.
            "shape": shape,
            "strides": strides,
            "typestr": dtype.str,
        }


def view_of(tensor: CTensor, owner: object) -> np.ndarray[Any, Any]:
    """A read-only NumPy view of a pteron_tensor's memory, which keeps `owner` alive.

    Without ml_dtypes, NumPy has no bfloat16: then the values come as float32, which holds them all,
    in an array of its own.
    """
    dtype = _dtypes.numpy_dtype(tensor.dtype)
    widen = dtype is None and tensor.dtype == _dtypes.BFLOAT16
    if widen:
        dtype = np.dtype(np.uint16)
    if dtype is None:
        name = _dtypes.name_of(tensor.dtype)
        raise ArgumentTypeError(
            f"NumPy has no {name}; install ml_dtypes, which gives it the float8s"
        )
    shape = tuple(tensor.shape[: tensor.rank]) if tensor.rank else ()
    strides = tuple(tensor.strides[: tensor.rank]) if tensor.rank and tensor.strides else None
    if not tensor.data or 0 in shape:
        view = np.empty(shape, dtype)
    else:
        # The interface cannot tell ml_dtypes', so they come as numbers of their size.
        raw = np.dtype(f"u{dtype.itemsize}") if _dtypes.is_ml_dtype(tensor.dtype) else dtype
        view = np.asarray(_Memory(tensor.data, shape, strides, raw, owner))
        if raw is not dtype:
            view = view.view(dtype)
    if widen:
        wide = view.astype(np.uint32)
        wide <<= 16  # In place: of an array of no dimensions, `wide << 16` is no array.
        return wide.view(np.float32)
    return view


_LISTS = {INT_LIST: ctypes.c_int64, DOUBLE_LIST: ctypes.c_double, BOOL_LIST: ctypes.c_uint8}


def load_value(value: CValue, owner: object, own: bool) -> Any:
    """A pteron_value as Python's; tensors as arrays, copied if `own`."""
    kind = value.kind
    if kind == TENSOR:
        view = view_of(value.any.tensor, owner)
        return view.copy() if own else view
    if kind == INT:
        return value.any.integer
    if kind == DOUBLE:
        return value.any.real
    if kind == BOOL:
        return bool(value.any.boolean)
    if kind == STRING:
        return (value.any.string or b"").decode("utf-8", "replace")
    if kind == NONE:
        return None
    items = value.any.list
    if kind == TENSOR_LIST:
        tensors = (CValue * items.count).from_address(items.items) if items.count else ()
        return [load_value(item, owner, own) for item in tensors]
    if items.count == 0:
        return []
    numbers = list((_LISTS[kind] * items.count).from_address(items.items))
    return [bool(number) for number in numbers] if kind == BOOL_LIST else numbers
