"""What goes wrong, as exceptions: one class a status of the C interface.

Each is a `pteron.Error`, and also the exception that Python itself raises for such a thing.
"""

from __future__ import annotations

import ctypes
from ctypes import c_void_p
from typing import Any

from ._library import library


class Error(Exception):
    """Any failure of Pteron. Its text is one line: what, where, what was wanted, what to do."""


class ArgumentError(Error, ValueError):
    """The caller's data is wrong: a count, a shape, a value, an option."""


class ArgumentTypeError(ArgumentError, TypeError):
    """The caller's data is of the wrong kind: a dtype, or no array at all."""


class FileError(Error, OSError):
    """A file cannot be read."""


class FileMissingError(FileError, FileNotFoundError):
    """A file is not there."""


class MalformedError(Error, ValueError):
    """The program or weights file is broken, or is no such file."""


class MissingError(Error, LookupError):
    """An operator, delegate, weights key, OpenVINO or device is not there."""


class UnsupportedError(Error, NotImplementedError):
    """The file or device asks for something that Pteron does not do."""


class ResourceLimitError(Error, MemoryError):
    """Out of memory, or over a limit."""


class ExecutionError(Error, RuntimeError):
    """A part of the program failed while it ran."""


class BusyError(Error, RuntimeError):
    """The method is in use by another thread."""


class InternalError(Error, RuntimeError):
    """A bug in Pteron."""


class CancelledError(Error, TimeoutError):
    """The run was cancelled, or took longer than its time limit."""


class ClosedError(Error, ValueError):
    """The program or method was closed."""


_CLASSES: dict[int, type[Error]] = {
    1: ArgumentError,
    2: FileError,
    3: MalformedError,
    4: MissingError,
    5: UnsupportedError,
    6: ResourceLimitError,
    7: ExecutionError,
    8: BusyError,
    9: InternalError,
    10: CancelledError,
}


def take_error(status: int, pointer: c_void_p) -> Error:
    """The exception for a status and the error object that came with it, which is freed."""
    message = f"pteron failed with status {status}"
    if pointer.value:
        text = library.pteron_error_message(pointer)
        message = (text or b"").decode("utf-8", "replace")
        library.pteron_error_free(pointer)
    return _CLASSES.get(status, InternalError)(message)


def first_line(error: Exception) -> str:
    """The first line of another library's error that says something."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")


def call(name: str, *arguments: object) -> None:
    """Calls a function of the C interface that takes a pteron_error** last, and raises what it
    reports."""
    error = c_void_p()
    status = getattr(library, name)(*arguments, ctypes.byref(error))
    if status:
        raise take_error(status, error)


def call_for_text(name: str, *arguments: object) -> str:
    """The same for a function that gives a string (a char** before the error)."""
    text = c_void_p()
    call(name, *arguments, ctypes.byref(text))
    try:
        return ctypes.string_at(text.value or 0).decode("utf-8", "replace")
    finally:
        library.pteron_string_free(text)


def call_for_json(name: str, *arguments: object) -> dict[str, Any]:
    """The same for a JSON object (docs/json.md)."""
    import json  # Here, since running a program needs none.

    found: dict[str, Any] = json.loads(call_for_text(name, *arguments))
    return found
