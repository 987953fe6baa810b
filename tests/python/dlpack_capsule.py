"""Makes DLPack capsules of any type and device, as other libraries give them."""

import ctypes
from ctypes import c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, py_object
from typing import Any

import numpy as np


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class Managed(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", c_void_p), ("deleter", c_void_p))


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", Tensor),
    )


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = py_object
_new.argtypes = (c_void_p, ctypes.c_char_p, c_void_p)

# Capsules made here have no deleter: what they point at lives as long as this module.
_kept: list[Any] = []


def capsule(array: np.ndarray, code: int, bits: int, lanes: int = 1, offset: int = 0) -> Any:
    """A capsule of `array`'s memory as elements of DLPack's type `code`, with its strides."""
    rank = array.ndim
    shape = (c_int64 * max(rank, 1))(*array.shape)
    strides = (c_int64 * max(rank, 1))(*(s // array.itemsize for s in array.strides))
    managed = Managed()
    managed.tensor = Tensor(
        array.ctypes.data - offset, 1, 0, rank, code, bits, lanes, shape, strides, offset
    )
    _kept.append((array, shape, strides, managed))
    return _new(ctypes.addressof(managed), b"dltensor", None)


def broken_capsule(array: np.ndarray, version: int = 0, **fields: Any) -> Any:
    """A capsule of float32 that is DLPack's of this version, with other values in its fields."""
    shape = (c_int64 * max(array.ndim, 1))(*array.shape)
    tensor = Tensor(array.ctypes.data, 1, 0, array.ndim, 2, 32, 1, shape, None, 0)
    for name, value in fields.items():
        setattr(tensor, name, value)
    managed = Versioned(version, 0, None, None, 1, tensor) if version else Managed(tensor)
    _kept.append((array, shape, fields, managed))
    kind = b"dltensor_versioned" if version else b"dltensor"
    return _new(ctypes.addressof(managed), kind, None)
