"""The `pteron` command: runs the program that this package carries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ._openvino import remedy


def command_file() -> Path:
    """The command's own file."""
    name = "pteron.exe" if sys.platform == "win32" else "pteron"
    return Path(os.path.abspath(__file__)).parent / "bin" / name


def main() -> int:
    """Becomes the command, with its arguments and its exit status."""
    file = command_file()
    arguments = [str(file), *sys.argv[1:]]
    variables = {**os.environ, "PTERON_OPENVINO_REMEDY": remedy("--openvino PATH")}
    if sys.platform == "win32":
        return subprocess.call(arguments, env=variables)
    os.execve(file, arguments, variables)


if __name__ == "__main__":
    sys.exit(main())
