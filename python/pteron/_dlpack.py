"""Tensors of other libraries, borrowed through DLPack (https://dmlc.github.io/dlpack): their memory
is read where it lies, for as long as the capsule is kept.

DLPack is read here, and not by NumPy, because NumPy takes neither bfloat16 nor read-only tensors
of older producers.
"""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    py_object,
)
from typing import Any

from ._errors import ArgumentTypeError, first_line
from ._library import MAX_RANK
from ._specs import counted

# DLDeviceType: memory that the CPU reads.
_CPU, _CUDA_HOST, _ROCM_HOST = 1, 3, 11
_DEVICES = {
    2: "a CUDA device",
    4: "an OpenCL device",
    7: "a Vulkan device",
    8: "a Metal device",
    10: "a ROCm device",
    13: "CUDA managed memory",
    14: "a oneAPI device",
}

# (DLDataTypeCode, bits) to ExecuTorch's ScalarType.
_CODES = {
    (0, 8): 1,
    (0, 16): 2,
    (0, 32): 3,
    (0, 64): 4,
    (1, 8): 0,
    (1, 16): 27,
    (1, 32): 28,
    (1, 64): 29,
    (2, 16): 5,
    (2, 32): 6,
    (2, 64): 7,
    (4, 16): 15,
    (5, 64): 9,
    (5, 128): 10,
    (6, 8): 11,
    (10, 8): 24,
    (11, 8): 26,
    (12, 8): 23,
    (13, 8): 25,
}


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned, of DLPack 1: also lends what must not be written to."""

    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _DLTensor),
    ]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype = ctypes.c_int
_is_valid.argtypes = (py_object, ctypes.c_char_p)
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = c_void_p
_get_pointer.argtypes = (py_object, ctypes.c_char_p)


class Borrowed:
    """An array of another library's: address, shape, strides in bytes, ExecuTorch's dtype number.

    Valid while this object lives.
    """

    __slots__ = ("address", "code", "owner", "shape", "strides")

    def __init__(
        self,
        address: int,
        code: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        owner: object,
    ) -> None:
        self.address = address
        self.code = code
        self.shape = shape
        self.strides = strides
        self.owner = owner


def borrow(value: Any, name: str) -> Borrowed:
    """What `value.__dlpack__()` points at. `name` stands in errors: 'input 0'."""
    kind = type(value).__module__.split(".")[0] + "." + type(value).__name__
    if getattr(value, "requires_grad", False) is True:
        value = value.detach()  # PyTorch lends such a tensor to nobody; here it is only read.
    try:
        device = int(value.__dlpack_device__()[0])
        on_cpu = device in (_CPU, _CUDA_HOST, _ROCM_HOST)
        capsule = _capsule(value) if on_cpu else None
    except Exception as error:  # Whatever the other library raises.
        why = first_line(error) or type(error).__name__
        raise ArgumentTypeError(f"{name}: the {kind} cannot be read: {why}") from error
    if not on_cpu:
        where = _DEVICES.get(device, f"device type {device} of DLPack")
        raise ArgumentTypeError(
            f"{name}: the {kind} is on {where}; copy it to the CPU first (x.cpu())"
        )
    tensor = _tensor(capsule)
    if tensor is None:
        raise ArgumentTypeError(f"{name}: the {kind} gave no DLPack tensor")
    code = _CODES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if code is None:
        raise ArgumentTypeError(
            f"{name}: the {kind} has elements that no program takes "
            f"(DLPack's type {tensor.code} of {tensor.bits} bits, {counted(tensor.lanes, 'lane')})"
        )
    rank = tensor.ndim
    if not 0 <= rank <= MAX_RANK:
        raise ArgumentTypeError(f"{name}: {rank} dimensions, at most {MAX_RANK}")
    if rank and not tensor.shape:
        raise ArgumentTypeError(f"{name}: the {kind} has {rank} dimensions, but no sizes")
    shape = tuple(tensor.shape[:rank]) if rank else ()
    size = tensor.bits // 8
    if rank and tensor.strides:
        strides = tuple(stride * size for stride in tensor.strides[:rank])
    else:
        strides = dense_strides(shape, size)
    address = (tensor.data or 0) + tensor.byte_offset
    if not tensor.data and 0 not in shape:
        raise ArgumentTypeError(f"{name}: the {kind} has no memory")
    # What ctypes would cut to 64 bits.
    if address >= 2**64 or not all(-(2**63) <= stride < 2**63 for stride in strides):
        raise ArgumentTypeError(f"{name}: the {kind} leads further than memory can be")
    return Borrowed(address, code, shape, strides, capsule)


def _capsule(value: Any) -> Any:
    try:
        return value.__dlpack__(max_version=(1, 0))
    except TypeError:  # It is older than DLPack 1.
        return value.__dlpack__()


def _tensor(capsule: Any) -> _DLTensor | None:
    # The capsule is not renamed, as one is whose tensor is taken over: so it frees the tensor when
    # it goes.
    if _is_valid(capsule, b"dltensor"):  # DLManagedTensor, which begins with the tensor.
        return _DLTensor.from_address(_get_pointer(capsule, b"dltensor"))
    if _is_valid(capsule, b"dltensor_versioned"):
        managed = _Versioned.from_address(_get_pointer(capsule, b"dltensor_versioned"))
        return managed.tensor if managed.major == 1 else None  # Another one has another layout.
    return None


def dense_strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Strides in bytes of a row-major array."""
    strides = []
    for length in reversed(shape):
        strides.append(size)
        size *= max(length, 1)
    return tuple(reversed(strides))
