"""Runs ExecuTorch programs (.pte) on Intel hardware through OpenVINO, without PyTorch.

>>> import numpy, pteron
>>> program = pteron.load("tests/data/models/lstm_portable.pte")
>>> print(program.inputs[0])
input0: int64 [2, 6]
>>> program(numpy.zeros((2, 6), "int64")).shape
(2, 6, 7)
"""

from ._errors import (
    ArgumentError,
    ArgumentTypeError,
    BusyError,
    CancelledError,
    ClosedError,
    Error,
    ExecutionError,
    FileError,
    FileMissingError,
    InternalError,
    MalformedError,
    MissingError,
    ResourceLimitError,
    UnsupportedError,
)
from ._library import library as _library
from ._machine import backends, devices, doctor
from ._method import Method, State
from ._program import Program, load
from ._sdk import cmake_prefix_path
from ._specs import Spec

__version__: str = _library.pteron_version().decode()

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BusyError",
    "CancelledError",
    "ClosedError",
    "Error",
    "ExecutionError",
    "FileError",
    "FileMissingError",
    "InternalError",
    "MalformedError",
    "Method",
    "MissingError",
    "Program",
    "ResourceLimitError",
    "Spec",
    "State",
    "UnsupportedError",
    "backends",
    "cmake_prefix_path",
    "devices",
    "doctor",
    "load",
]
