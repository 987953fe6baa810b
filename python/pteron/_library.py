"""The C interface (pteron.h) as ctypes: its structs, its functions, the library beside this file.

Only this module knows the layout of what crosses; `pteron_abi_version` is compared when the library
is loaded. Nothing here loads OpenVINO.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)

ABI_VERSION = 1
MAX_RANK = 16

# pteron_kind
NONE, TENSOR, INT, DOUBLE, BOOL, STRING = range(6)
INT_LIST, DOUBLE_LIST, BOOL_LIST, TENSOR_LIST = range(6, 10)

PRECISIONS = {"program": 0, "fast": 1, "f32": 2, "f16": 3, "bf16": 4}
HINTS = {"latency": 0, "throughput": 1}
ACCELERATE = {"auto": 0, "on": 1, "off": 2}


class CTensor(ctypes.Structure):
    """pteron_tensor: strides in bytes, or null where the array is dense and row-major."""

    _fields_ = [
        ("data", c_void_p),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("rank", c_int32),
        ("dtype", c_int32),
    ]


class CList(ctypes.Structure):
    _fields_ = [("items", c_void_p), ("count", c_size_t)]


class CAnyValue(ctypes.Union):
    _fields_ = [
        ("tensor", CTensor),
        ("integer", c_int64),
        ("real", c_double),
        ("boolean", c_uint8),
        ("string", c_char_p),
        ("list", CList),
    ]


class CValue(ctypes.Structure):
    """pteron_value"""

    _fields_ = [("kind", c_int32), ("reserved", c_int32), ("any", CAnyValue)]


class CProgramOptions(ctypes.Structure):
    """pteron_program_options"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_char_p),
        ("openvino", c_char_p),
        ("cache_dir", c_char_p),
        ("config_keys", POINTER(c_char_p)),
        ("config_values", POINTER(c_char_p)),
        ("config_count", c_size_t),
        ("weights", POINTER(c_char_p)),
        ("weights_count", c_size_t),
        ("precision", c_int32),
        ("hint", c_int32),
        ("threads", c_int32),
        ("copy_file", c_int32),
        ("profile", c_int32),
        ("accelerate", c_int32),
        ("memory_limit", c_uint64),
        ("instruction_limit", c_uint64),
        ("allocator", c_void_p),
        ("thread_pool", c_void_p),
        ("operators", c_void_p),
        ("operator_count", c_size_t),
        ("delegates", c_void_p),
        ("delegate_count", c_size_t),
        ("time_limit", c_double),
    ]


class CMethodOptions(ctypes.Structure):
    """pteron_method_options"""

    _fields_ = [("struct_size", c_size_t), ("shares_state_with", c_void_p), ("seed", c_uint64)]


class CSpec(ctypes.Structure):
    """pteron_spec"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("shape", POINTER(c_int64)),
        ("dim_order", POINTER(c_uint8)),
        ("kind", c_int32),
        ("dtype", c_int32),
        ("rank", c_int32),
        ("dynamic", c_int32),
    ]


_ERROR = POINTER(c_void_p)
_VALUE = POINTER(CValue)
_HANDLE = POINTER(c_void_p)
_SPEC = POINTER(CSpec)
_TEXT = POINTER(c_void_p)

# Every function of the C interface that Python uses: what it returns, what it takes.
FUNCTIONS: dict[str, tuple[type | None, tuple[type, ...]]] = {
    "pteron_abi_version": (c_uint32, ()),
    "pteron_version": (c_char_p, ()),
    "pteron_dtype_name": (c_char_p, (c_int,)),
    "pteron_error_status": (c_int, (c_void_p,)),
    "pteron_error_message": (c_char_p, (c_void_p,)),
    "pteron_error_free": (None, (c_void_p,)),
    "pteron_string_free": (None, (c_void_p,)),
    "pteron_program_open": (c_int, (c_char_p, POINTER(CProgramOptions), _HANDLE, _ERROR)),
    "pteron_program_open_memory": (
        c_int,
        (c_void_p, c_size_t, POINTER(CProgramOptions), _HANDLE, _ERROR),
    ),
    "pteron_program_free": (None, (c_void_p,)),
    "pteron_program_method_count": (c_size_t, (c_void_p,)),
    "pteron_program_method_name": (c_char_p, (c_void_p, c_size_t)),
    "pteron_program_info": (c_int, (c_void_p, _TEXT, _ERROR)),
    "pteron_method_load": (c_int, (c_void_p, c_char_p, POINTER(CMethodOptions), _HANDLE, _ERROR)),
    "pteron_method_free": (None, (c_void_p,)),
    "pteron_method_input_count": (c_size_t, (c_void_p,)),
    "pteron_method_output_count": (c_size_t, (c_void_p,)),
    "pteron_method_input_spec": (c_int, (c_void_p, c_size_t, _SPEC, _ERROR)),
    "pteron_method_output_spec": (c_int, (c_void_p, c_size_t, _SPEC, _ERROR)),
    "pteron_method_bind_output": (c_int, (c_void_p, c_size_t, _VALUE, _ERROR)),
    "pteron_method_run": (c_int, (c_void_p, _VALUE, c_size_t, _ERROR)),
    "pteron_method_announce": (c_int, (c_void_p, _ERROR)),
    "pteron_method_cancel": (None, (c_void_p,)),
    "pteron_method_get_output": (c_int, (c_void_p, c_size_t, _VALUE, _ERROR)),
    "pteron_method_state_count": (c_size_t, (c_void_p,)),
    "pteron_method_state_spec": (c_int, (c_void_p, c_size_t, _SPEC, _ERROR)),
    "pteron_method_get_state": (c_int, (c_void_p, c_size_t, _VALUE, _ERROR)),
    "pteron_method_set_state": (c_int, (c_void_p, c_size_t, _VALUE, _ERROR)),
    "pteron_method_reset_state": (c_int, (c_void_p, _ERROR)),
    "pteron_method_execution": (c_int, (c_void_p, _TEXT, _ERROR)),
    "pteron_method_profile": (c_int, (c_void_p, _TEXT, _ERROR)),
    "pteron_devices": (c_int, (POINTER(CProgramOptions), _TEXT, _ERROR)),
    "pteron_doctor": (c_int, (POINTER(CProgramOptions), _TEXT, _ERROR)),
    "pteron_add_openvino_path": (c_int, (c_char_p, _ERROR)),
    "pteron_registered": (c_int, (_TEXT, _ERROR)),
    "pteron_set_openvino_remedy": (c_int, (c_char_p, _ERROR)),
}


def library_file() -> str:
    """The shared library that this package carries: on Windows beside the command, which looks for
    it there."""
    package = os.path.dirname(os.path.abspath(__file__))
    if sys.platform == "win32":
        return os.path.join(package, "bin", "pteron.dll")
    return os.path.join(package, "lib", "libpteron.so")


def _load() -> ctypes.CDLL:
    file = library_file()
    if not os.path.isfile(file):
        raise ImportError(
            f"pteron's library is not at {file}: this is a source folder, or a damaged install; "
            "run: pip install --force-reinstall pteron"
        )
    # A full path: nothing else of that name can take its place.
    library = ctypes.CDLL(file)
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(
                f"{file} has no {name}: it is older than this package; "
                "run: pip install --force-reinstall pteron"
            ) from None
        function.restype = result
        function.argtypes = arguments
    if library.pteron_abi_version() < ABI_VERSION:
        raise ImportError(
            f"{file} has interface {library.pteron_abi_version()}, but this package needs "
            f"{ABI_VERSION}; run: pip install --force-reinstall pteron"
        )
    return library


library = _load()
