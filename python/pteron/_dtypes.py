"""Element types: ExecuTorch's numbers, their names, and NumPy's dtypes.

NumPy has no bfloat16 and no 8-bit floats; ml_dtypes has, and is used where it is installed.
"""

from __future__ import annotations

import functools
from typing import Any

from ._library import library
from ._numpy import np

_NUMPY = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    5: "float16",
    6: "float32",
    7: "float64",
    9: "complex64",
    10: "complex128",
    11: "bool",
    27: "uint16",
    28: "uint32",
    29: "uint64",
}
_ML_DTYPES = {
    15: "bfloat16",
    23: "float8_e5m2",
    24: "float8_e4m3fn",
    25: "float8_e5m2fnuz",
    26: "float8_e4m3fnuz",
}
BFLOAT16 = 15


@functools.cache
def _codes() -> dict[Any, int]:
    return {np.dtype(name): code for code, name in _NUMPY.items()}


@functools.cache
def name_of(code: int) -> str:
    """A dtype's name: float32."""
    return str((library.pteron_dtype_name(code) or b"unknown").decode())


@functools.cache
def numpy_dtype(code: int) -> np.dtype[Any] | None:
    """NumPy's dtype for a number of ExecuTorch's; None where NumPy has none here."""
    if code in _NUMPY:
        return np.dtype(_NUMPY[code])
    if code in _ML_DTYPES:
        try:
            import ml_dtypes
        except ImportError:
            return None
        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[code]))
        return found
    return None


def code_of(dtype: np.dtype[Any]) -> int | None:
    """ExecuTorch's number for a NumPy dtype in the machine's byte order, else None."""
    code = _codes().get(dtype)
    if code is not None:
        return code
    # Compared only where there is one: NumPy takes None for float64.
    for code, own in ((number, numpy_dtype(number)) for number in _ML_DTYPES):
        if own is not None and own == dtype:
            return code
    return None


def is_ml_dtype(code: int) -> bool:
    """Whether the dtype is one that NumPy has only by ml_dtypes."""
    return code in _ML_DTYPES
