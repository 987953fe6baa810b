"""Where a wheel's programs run, and what things are called there: this system, or, for a wheel for
Windows that is tried on Linux, Windows under Wine."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class System:
    windows: bool
    # What comes before a program's name; with one, programs are another system's than pip.
    runner: list[Any] = field(default_factory=list)

    @property
    def foreign(self) -> bool:
        return bool(self.runner)

    @property
    def library(self) -> str:
        return "bin/pteron.dll" if self.windows else "lib/libpteron.so"

    @property
    def command(self) -> str:
        return "bin/pteron.exe" if self.windows else "bin/pteron"

    @property
    def script(self) -> str:
        """The command on PATH, in an environment."""
        return "Scripts/pteron.exe" if self.windows else "bin/pteron"

    @property
    def python(self) -> str:
        return "Scripts/python.exe" if self.windows else "bin/python"

    @property
    def planted(self) -> str:
        """OpenVINO's C library by its bare name."""
        return "openvino_c.dll" if self.windows else "libopenvino_c.so"

    @property
    def c_libraries(self) -> str:
        """That of an installed OpenVINO, as a pattern."""
        return "openvino_c.dll" if self.windows else "libopenvino_c.so.*"

    def path(self, path: Path) -> str:
        """How its programs call a file of this system: Wine's drive Z is the root."""
        return "Z:" + str(path).replace("/", "\\") if self.foreign else str(path)

    def variables(self, given: dict[str, str]) -> dict[str, str]:
        """Those that a process gets: what cannot be done without, and these."""
        kept: tuple[str, ...] = ()
        if self.foreign:
            kept = ("PATH", "HOME", "PTERON_CACHE", "PTERON_WINDOWS", "XDG_CACHE_HOME")
        elif self.windows:
            kept = ("SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "USERPROFILE", "APPDATA")
        return {name: os.environ[name] for name in kept if name in os.environ} | given


def system_of(wheel: Path) -> System:
    if "-win_" not in wheel.name:
        return System(windows=False)
    if sys.platform == "win32":
        return System(windows=True)
    return System(windows=True, runner=[ROOT / "tests/windows/wine_run"])
