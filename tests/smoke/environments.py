"""Python environments with a wheel in them, and wheels that were tampered with."""

import base64
import hashlib
import json
import re
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

PROBE = Path(__file__).parent / "probe.py"

# pip decides by the marker's environment; this one says that it is a later Python's.
PIP_ON_ANOTHER_PYTHON = """
import sys
from pip._vendor.packaging import markers
real = markers.default_environment
def other():
    return {**real(), "python_version": "3.15", "python_full_version": "3.15.0"}
markers.default_environment = other
from pip._internal.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


class Failed(Exception):
    """A check found what it must not find."""


def run(command: list[Any], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )


@dataclass
class Environment:
    """A virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin/python"

    def pip_install(self, *arguments: Any, another_python: bool = False) -> None:
        pip = ["-c", PIP_ON_ANOTHER_PYTHON] if another_python else ["-m", "pip"]
        done = run([self.python, *pip, "install", "--disable-pip-version-check", *arguments])
        if done.returncode != 0:
            raise Failed(f"pip could not install {arguments}: {done.stderr.strip()}")

    def probe(
        self, *tasks: str, cwd: Path = Path("/"), variables: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """The findings of probe.py in a new process that has no environment variables but these."""
        done = run([self.python, "-I", PROBE, *tasks], cwd=cwd, env=variables or {})
        if done.returncode != 0:
            raise Failed(f"{' '.join(tasks)}: status {done.returncode}: {done.stderr.strip()}")
        findings: dict[str, Any] = json.loads(done.stdout)
        return findings

    @cached_property
    def packages(self) -> Path:
        (folder,) = self.folder.glob("lib/python3*/site-packages")
        return folder


def make_environment(python: str, folder: Path) -> Environment:
    done = run([python, "-m", "venv", folder])
    if done.returncode != 0:
        raise Failed(f"{python} makes no environment: {done.stdout.strip()} {done.stderr.strip()}")
    return Environment(folder)


Change = Callable[[bytes], bytes | None]


def tampered_wheel(
    wheel: Path,
    folder: Path,
    changes: dict[str, Change] | None = None,
    version: str | None = None,
    tag: str | None = None,
) -> Path:
    """A copy of the wheel in `folder`: `changes` gives for a file's end of name what becomes of its
    bytes (None: it is left out); `version` and `tag` are the new ones."""
    name, old_version, _, _, old_tag = wheel.stem.split("-")
    version, tag = version or old_version, tag or old_tag
    target = folder / f"{name}-{version}-py3-none-{tag}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    used = set()
    record = []
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            data: bytes | None = old.read(info)
            if info.filename.endswith(".dist-info/RECORD"):
                continue
            for end, change in (changes or {}).items():
                if info.filename.endswith(end) and data is not None:
                    used.add(end)
                    data = change(data)
            if data is None:
                continue
            if info.filename.endswith(".dist-info/METADATA"):
                data = re.sub(rb"(?m)^Version: .*$", b"Version: " + version.encode(), data)
            if info.filename.endswith(".dist-info/WHEEL"):
                data = re.sub(rb"(?m)^Tag: .*$", f"Tag: py3-none-{tag}".encode(), data)
            info.filename = info.filename.replace(f"-{old_version}.dist", f"-{version}.dist")
            new.writestr(info, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{info.filename},sha256={digest},{len(data)}")
        place = f"{name}-{version}.dist-info/RECORD"
        new.writestr(place, "\n".join([*record, f"{place},,"]) + "\n")
    if used != set(changes or {}):
        raise Failed(f"the wheel has none of {set(changes or {}) - used}")
    return target


def file_of_wheel(wheel: Path, end: str) -> bytes:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(end)]
        return opened.read(name)
