"""Objects of the library's, and what the classes that show them to Python have in common.

A handle is freed with the last reference to it. Whoever uses one, or lends its memory, keeps a
reference meanwhile, so that close() may come at any time, from any thread.
"""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any, ClassVar, TypeVar

from ._errors import ClosedError
from ._library import library


class Handle(c_void_p):
    """Null until a function of the library stores an object here."""

    free: ClassVar[Any]

    def __del__(self) -> None:
        if self:
            self.free(self)


class ProgramHandle(Handle):
    free = library.pteron_program_free


class MethodHandle(Handle):
    free = library.pteron_method_free


Self = TypeVar("Self", bound="Closable")


class Closable:
    """Has a handle until it is closed, also by the end of a `with`."""

    _handle: Handle | None = None
    _what = ""  # As it stands in errors.

    def _open(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise ClosedError(f"{self._what} was closed")
        return handle

    def close(self) -> None:
        """Frees it, once no run that goes on and no borrowed output needs it any more. Using it
        afterwards raises ClosedError."""
        self._handle = None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
