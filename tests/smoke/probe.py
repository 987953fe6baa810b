"""What one process of an environment sees: runs the tasks named, and prints their findings as JSON.

usage: python -I probe.py TASK[=ARGUMENT]...   each gives its finding, or {"error": "Class: text"}
"""

import hashlib
import json
import os
import sys
from typing import Any

import numpy as np
import pteron
import pteron.runtime


def registered(_: str) -> Any:
    """Which backends there are, by both interfaces."""
    registry = pteron.runtime.Runtime.get().backend_registry
    names = list(registry.registered_backend_names)
    return {"backends": pteron.backends(), "names": names}


def available(_: str) -> Any:
    return pteron.runtime.Runtime.get().backend_registry.is_available("OpenvinoBackend")


def loaded_files(name: str) -> set[str]:
    """The files in this process whose paths have this in them."""
    if sys.platform != "win32":
        with open("/proc/self/maps") as maps:
            lines = [line.rstrip().split(maxsplit=5) for line in maps]
        return {line[5] for line in lines if len(line) > 5 and name in line[5]}
    import ctypes
    from ctypes import wintypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    modules = (wintypes.HMODULE * 4096)()
    size = wintypes.DWORD()
    if not kernel.K32EnumProcessModules(
        wintypes.HANDLE(kernel.GetCurrentProcess()),
        modules,
        wintypes.DWORD(ctypes.sizeof(modules)),
        ctypes.byref(size),
    ):
        raise ctypes.WinError(ctypes.get_last_error())
    found = set()
    for module in modules[: size.value // ctypes.sizeof(wintypes.HMODULE)]:
        path = ctypes.create_unicode_buffer(32768)
        kernel.GetModuleFileNameW(wintypes.HMODULE(module), path, len(path))
        if name in path.value.lower():
            found.add(path.value.removeprefix("\\\\?\\"))
    return found


def library(_: str) -> Any:
    """The digest of the library that this process has loaded."""
    (file,) = loaded_files("pteron.dll" if sys.platform == "win32" else "libpteron.so")
    with open(file, "rb") as opened:
        return hashlib.sha256(opened.read()).hexdigest()


def loaded(_: str) -> Any:
    """OpenVINO's C library in this process, and whether its Python package was imported."""
    files = loaded_files("openvino_c.dll" if sys.platform == "win32" else "libopenvino_c.so")
    return {"files": sorted(files), "imported": "openvino" in sys.modules}


def runs(argument: str) -> Any:
    """PROGRAM,ARRAYS: runs it from its path and from memory; for each the greatest difference from
    the arrays, and how many operators OpenVINO ran, and in int8."""
    program_file, arrays_file = argument.split(",")
    with np.load(arrays_file) as arrays:
        inputs = [arrays[f"in{i}"] for i in range(sum(name.startswith("in") for name in arrays))]
        wanted = arrays["out0"]
    found: dict[str, Any] = {}
    with open(program_file, "rb") as opened:
        sources = {"path": program_file, "memory": opened.read()}
    for source, what in sources.items():
        method = pteron.load(what, profile=True).method()
        outputs = method(*inputs)
        first = outputs[0] if isinstance(outputs, tuple) else outputs
        operators = [
            operator["implementation"]
            for instruction in method.profile["instructions"]
            if instruction["name"] == "OpenvinoBackend"
            for operator in instruction["operators"]
        ]
        found[source] = {
            "difference": float(np.abs(first - wanted).max()),
            "operators": len(operators),
            "int8": sum("I8" in operator for operator in operators),
        }
    return found


def place(argument: str) -> Any:
    """Which library pteron.devices(openvino=argument) takes, from the current folder."""
    pteron.devices(openvino=argument or None)
    return loaded("")


def remedy(argument: str) -> Any:
    """What a delegated program's error says on Python 3.x of this number."""
    version = list(sys.version_info)
    version[1] = int(argument.split(",")[1])
    sys.version_info = tuple(version)  # type: ignore[assignment]
    pteron.load(argument.split(",")[0]).method()
    return "it was loaded"


def main(tasks: list[str]) -> None:
    findings = {}
    for task in tasks:
        name, _, argument = task.partition("=")
        try:
            findings[name] = globals()[name](argument)
        except Exception as error:
            findings[name] = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"cwd": os.getcwd(), **findings}))


if __name__ == "__main__":
    main(sys.argv[1:])
