"""What the machine offers."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from . import _openvino
from ._errors import call_for_json
from ._options import make_options


def devices(openvino: Any = None) -> list[dict[str, Any]]:
    """OpenVINO's devices: name, full_name, capabilities, ... (docs/json.md).

    openvino: its C library or a folder; None: it is searched for.
    Raises MissingError, naming every place that was tried, where there is no OpenVINO.
    """
    found: list[dict[str, Any]] = _ask("pteron_devices", openvino)["devices"]
    return found


def doctor(openvino: Any = None) -> dict[str, Any]:
    """What was looked for, what was found, and what to do (docs/json.md); `ok` says whether a model
    could run on OpenVINO.

    >>> doctor(openvino="no/such/folder")["ok"]
    False
    """
    return _ask("pteron_doctor", openvino)


def _ask(function: str, openvino: Any) -> dict[str, Any]:
    _openvino.tell_library()
    options = make_options(openvino=openvino).to_c()
    return call_for_json(function, ctypes.byref(options))


def backends() -> list[str]:
    """The ids of the delegates that programs may call.

    >>> backends()
    ['OpenvinoBackend']
    """
    return list(registered()["delegates"])


@functools.lru_cache(maxsize=1)
def registered() -> dict[str, list[str]]:
    """What this library has for programs: `delegates` and `operators`, by name."""
    return call_for_json("pteron_registered")
