"""What the tests of the package share: the programs, the variables that ctest sets, and how errors
are held to what is promised of them.

PTERON_GOLDEN and PTERON_MODELS are folders of programs, PTERON_FAKES has fake OpenVINOs,
PTERON_OPENVINO is a real one and may be empty.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pteron
from dlpack_capsule import capsule

GOLDEN = Path(os.environ["PTERON_GOLDEN"]) / "portable"
MODELS = Path(os.environ["PTERON_MODELS"])
FAKES = Path(os.environ["PTERON_FAKES"])
OPENVINO = os.environ.get("PTERON_OPENVINO") or None
# A fake OpenVINO's file.
C_LIBRARY = "openvino_c.dll" if sys.platform == "win32" else "libopenvino_c.so.2541"
LSTM = MODELS / "lstm_portable.pte"


class PackageTestCase(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        with np.load(MODELS / "lstm.npz") as data:
            self.x, self.y = data["in0"], data["out0"]

    def raises(self, kind: type[Exception], *parts: str) -> "Raises":
        return Raises(self, kind, parts)

    def run_python(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A new process on the same package, which ends well and says nothing on stderr."""
        done = subprocess.run(
            [sys.executable, "-W", "error", "-X", "faulthandler", "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**os.environ, **variables},
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done


class Raises:
    """An exception that is also a pteron.Error, in one line that has all parts."""

    def __init__(self, test: PackageTestCase, kind: type[Exception], parts: tuple[str, ...]):
        self.test, self.kind, self.parts = test, kind, parts

    def __enter__(self) -> None:
        self.context = self.test.assertRaises(self.kind)
        self.context.__enter__()

    def __exit__(self, *error: Any) -> bool | None:
        held = self.context.__exit__(*error)
        if held:
            self.test.assertIsInstance(self.context.exception, pteron.Error)
            text = str(self.context.exception)
            self.test.assertNotIn("\n", text)
            for part in self.parts:
                self.test.assertIn(part, text)
        return held


class Tensor:
    """A tensor of another library's, by DLPack."""

    def __init__(
        self,
        array: np.ndarray,
        code: int = 0,
        device: int = 1,
        bits: int | None = None,
        lanes: int = 1,
        offset: int = 0,
    ):
        self.array, self.device = array, device
        self.element = (code, array.itemsize * 8 if bits is None else bits, lanes, offset)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)

    def __dlpack__(self) -> Any:
        return capsule(self.array, *self.element)


class MemoryCounters(ctypes.Structure):
    """Windows' PROCESS_MEMORY_COUNTERS"""

    _fields_ = [
        ("cb", ctypes.c_uint32),
        ("page_faults", ctypes.c_uint32),
        ("peak_working_set", ctypes.c_size_t),
        ("working_set", ctypes.c_size_t),
        ("others", ctypes.c_size_t * 4),
        ("pagefile", ctypes.c_size_t),
        ("peak_pagefile", ctypes.c_size_t),
    ]


def resident_kb() -> int:
    if sys.platform == "win32":
        counters = MemoryCounters(cb=ctypes.sizeof(MemoryCounters))
        this = ctypes.c_void_p(-1)  # A process's handle of itself.
        if not ctypes.windll.kernel32.K32GetProcessMemoryInfo(
            this, ctypes.byref(counters), counters.cb
        ):
            raise ctypes.WinError()
        return int(counters.working_set) // 1024
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")
