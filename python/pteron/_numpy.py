"""NumPy, imported when it is first needed, or while a method loads: either takes as long as the
other, and they do not need each other."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module("numpy"), name)
            setattr(self, name, value)  # So that the next one asks nobody.
            return value

    np = _NumPy()

__all__ = ["imported_meanwhile", "np"]


@contextlib.contextmanager
def imported_meanwhile() -> Iterator[None]:
    """Imports NumPy on another thread while the `with` waits for the library."""
    if "numpy" in sys.modules:
        yield
        return
    thread = threading.Thread(target=_try_to_import)
    try:
        thread.start()
    except RuntimeError:  # A sub-interpreter may have no threads.
        yield
        return
    try:
        yield
    finally:
        thread.join()


def _try_to_import() -> None:
    # Whoever needs it meets the error.
    with contextlib.suppress(Exception):
        importlib.import_module("numpy")
