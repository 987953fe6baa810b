"""Finds the OpenVINO that pip installed beside this package, by its metadata and without importing
it, and tells the library its full path."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import threading
from pathlib import Path

from ._errors import call

_lock = threading.Lock()
_told = False


def installed_library(folders: list[str]) -> Path | None:
    """The file of OpenVINO's C library in a distribution "openvino" of these folders: of several
    versions in its libs, the newest."""
    for distribution in importlib.metadata.distributions(name="openvino", path=folders):
        libs = Path(str(distribution.locate_file("openvino/libs")))
        found = sorted(_candidates(libs))
        if found:
            return found[-1][1]
    return None


def _candidates(libs: Path) -> list[tuple[int, Path]]:
    if not libs.is_dir():
        return []
    found = []
    for file in libs.iterdir():
        # libopenvino_c.so.2541; on Windows openvino_c.dll, which has no number.
        match = re.fullmatch(r"libopenvino_c\.so(?:\.(\d+))?|openvino_c\.dll", file.name)
        if match:
            found.append((int(match[1] or 0), file.resolve()))
    return found


def tell_library() -> None:
    """Adds the installed OpenVINO to the places where the library looks; once a process. The empty
    entry of sys.path, which is the current folder, is left out."""
    global _told
    with _lock:
        if _told:
            return
        _told = True
        found = installed_library([entry for entry in sys.path if entry])
        if found is not None:
            call("pteron_add_openvino_path", str(found).encode("utf-8", "surrogateescape"))
