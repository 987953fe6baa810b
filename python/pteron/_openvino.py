"""Finds the OpenVINO that pip installed beside this package, by its metadata and without importing
it, and tells the library its full path; or what to do where there is none."""

from __future__ import annotations

import os
import sys
import threading

from ._builds import BUILDS
from ._errors import call

_lock = threading.Lock()
_told = False


def installed_library(folders: list[str]) -> str | None:
    """The file of OpenVINO's C library in a distribution "openvino" of these folders: of several
    versions in its libs, the newest.

    importlib.metadata does the same in general, and takes longer to import than all else here.
    """
    for folder in folders:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        if any(_is_distribution(name) for name in names):
            found = sorted(_candidates(os.path.join(folder, "openvino", "libs")))
            if found:
                return found[-1][1]
    return None


def _is_distribution(name: str) -> bool:
    # openvino-2025.4.1.dist-info. No regular expression: to compile one and try it on each name
    # takes as long as to open a program.
    return name.startswith("openvino-") and name.endswith(".dist-info") and name.count("-") == 2


def _candidates(libs: str) -> list[tuple[int, str]]:
    found = []
    windows = sys.platform == "win32"
    for name in os.listdir(libs) if os.path.isdir(libs) else ():
        # libopenvino_c.so.2541; on Windows openvino_c.dll, which has no number.
        number = "" if windows else name.removeprefix("libopenvino_c.so.")
        if number.isdecimal():
            found.append((int(number), os.path.realpath(os.path.join(libs, name))))
        elif name == ("openvino_c.dll" if windows else "libopenvino_c.so"):
            found.append((0, os.path.realpath(os.path.join(libs, name))))
    return found


def tell_library() -> None:
    """Adds the installed OpenVINO to the places where the library looks; once a process. Entries of
    sys.path that are not absolute lead to wherever the current folder is, so they are left out."""
    global _told
    with _lock:
        if _told:
            return
        _told = True
        # Some put a pathlib.Path there, which Python itself passes over.
        entries = [entry for entry in sys.path if isinstance(entry, str) and os.path.isabs(entry)]
        found = installed_library(entries)
        if found is not None:
            call("pteron_add_openvino_path", _utf8(found))
        else:
            packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            place = os.path.join(packages, "openvino", "libs")
            call("pteron_add_openvino_path", _utf8(place))
            call("pteron_set_openvino_remedy", remedy().encode())


def _utf8(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _platform() -> tuple[str, str]:
    """What the module `platform` calls system and machine. On Windows that runs a program, which an
    interpreter beside the first one may not."""
    if sys.platform != "win32":
        here = os.uname()
        return here.sysname, here.machine
    import sysconfig

    return "Windows", sysconfig.get_platform().removeprefix("win-").upper()  # "AMD64"


def remedy(option: str = "openvino=PATH") -> str:
    """What to do where no OpenVINO is installed: where PyPI has no build of it for this Python, the
    extra brings none."""
    elsewhere = f"name one that is installed elsewhere by {option} or OPENVINO_LIB_PATH"
    system, machine = _platform()
    minor = sys.version_info[1]
    names = {"cpython": "CPython", "pypy": "PyPy"}
    implementation = names.get(sys.implementation.name, sys.implementation.name)
    first, last = BUILDS.get((system, machine), (0, -1))
    if implementation == "CPython" and first <= minor <= last:
        return f'Install it with: pip install "pteron[openvino]"; or {elsewhere}'
    why = f"OpenVINO has no build for {implementation} 3.{minor} on {system} {machine}"
    if last < 0:
        return f"{why}: {elsewhere}"
    return f"{why}: use CPython 3.{first} to 3.{last}, or {elsewhere}"
