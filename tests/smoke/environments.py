"""Python environments with a wheel in them, and wheels that were tampered with."""

import base64
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from systems import System

PROBE = Path(__file__).parent / "probe.py"

# pip decides by the marker's environment; some of this one is given, as JSON.
PIP_ON_ANOTHER_SYSTEM = """
import json, sys
from pip._vendor.packaging import markers
real = markers.default_environment
given = json.loads(sys.argv[1])
def other():
    return {**real(), **given}
markers.default_environment = other
from pip._internal.cli.main import main
sys.exit(main(sys.argv[2:]))
"""
ANOTHER_PYTHON = {"python_version": "3.15", "python_full_version": "3.15.0"}
WINDOWS = {
    "os_name": "nt",
    "sys_platform": "win32",
    "platform_system": "Windows",
    "platform_machine": "AMD64",
}


class Failed(Exception):
    """A check found what it must not find."""


def run(command: list[Any], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        **options,
    )


@dataclass
class Environment:
    """A virtual environment."""

    folder: Path
    system: System

    @property
    def python(self) -> Path:
        return self.folder / self.system.python

    def pip_install(self, *arguments: Any, another_python: bool = False) -> None:
        """By the environment's own pip; for another system by this one's, as if it were there."""
        markers = dict(ANOTHER_PYTHON) if another_python else {}
        python: Any = self.python
        options: list[Any] = []
        if self.system.foreign:
            python = sys.executable
            version = self.version
            markers = {
                **WINDOWS,
                "python_version": version,
                "python_full_version": f"{version}.0",
                **markers,
            }
            options = ["--target", self.packages, "--upgrade", "--only-binary=:all:"]
            options += ["--platform", "win_amd64", "--python-version", version]
        pip = ["-c", PIP_ON_ANOTHER_SYSTEM, json.dumps(markers)] if markers else ["-m", "pip"]
        done = run(
            [python, *pip, "install", "--disable-pip-version-check", "-q", *options, *arguments]
        )
        if done.returncode != 0:
            raise Failed(f"pip could not install {arguments}: {done.stderr.strip()}")
        if self.system.foreign:
            self.write_command()

    def write_command(self) -> None:
        """Scripts/pteron.exe as pip makes it on Windows: launcher, Python's name, script."""
        from pip._vendor import distlib

        launcher = (Path(distlib.__file__).parent / "t64.exe").read_bytes()
        (points,) = self.packages.glob("pteron-*.dist-info/entry_points.txt")
        found = re.search(r"(?m)^pteron *= *([\w.]+):(\w+)", points.read_text())
        if found is None:
            raise Failed(f"{points} names no command")
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as opened:
            opened.writestr(
                "__main__.py",
                f"import sys\nfrom {found[1]} import {found[2]}\nsys.exit({found[2]}())\n",
            )
        shebang = f'#!"{self.system.path(self.python)}"\n'.encode()
        (self.folder / self.system.script).write_bytes(launcher + shebang + archive.getvalue())

    @cached_property
    def version(self) -> str:
        done = self.start([self.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
        if done.returncode != 0:
            raise Failed(f"{self.python}: {done.stderr.strip()}")
        return done.stdout.strip()

    def start(
        self, command: list[Any], cwd: Path = Path("/"), variables: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """A process that has no environment variables but these."""
        given = self.system.variables(variables or {})
        return run([*self.system.runner, *command], cwd=cwd, env=given)

    def command(self, *arguments: Any) -> subprocess.CompletedProcess[str]:
        """The pteron on PATH."""
        return self.start([self.folder / self.system.script, *arguments])

    def probe(
        self, *tasks: str, cwd: Path = Path("/"), variables: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """The findings of probe.py in a new process that has no environment variables but these."""
        done = self.start([self.python, "-I", self.system.path(PROBE), *tasks], cwd, variables)
        if done.returncode != 0:
            raise Failed(f"{' '.join(tasks)}: status {done.returncode}: {done.stderr.strip()}")
        findings: dict[str, Any] = json.loads(done.stdout)
        return findings

    @cached_property
    def packages(self) -> Path:
        if self.system.windows:
            return self.folder / "Lib/site-packages"
        (folder,) = self.folder.glob("lib/python3*/site-packages")
        return folder


def make_environment(python: str, folder: Path, system: System) -> Environment:
    environment = Environment(folder, system)
    if system.foreign:
        make_foreign(Path(python), environment)
        return environment
    done = run([python, "-m", "venv", folder])
    if done.returncode != 0:
        raise Failed(f"{python} makes no environment: {done.stdout.strip()} {done.stderr.strip()}")
    return environment


def make_foreign(python: Path, environment: Environment) -> None:
    """As `python -m venv` on Windows, which copies Python's program; the library is beside it."""
    environment.packages.mkdir(parents=True)
    scripts = environment.python.parent
    scripts.mkdir()
    shutil.copy(python, environment.python)
    for library in python.parent.glob("python3*.dll"):
        os.symlink(library, scripts / library.name)
    home = environment.system.path(python.parent)
    (environment.folder / "pyvenv.cfg").write_text(
        f"home = {home}\ninclude-system-site-packages = false\n"
    )


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
