#!/usr/bin/env python3
"""Checks the shared library as a file: what it exports, needs and weighs, and its binary interface.

The interface is held against a recorded list, abi.txt, which may only grow: lines are added when
pteron.h grows, with --rebase, and none is ever changed or taken away.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The C and C++ runtimes, and nothing else.
ALLOWED = re.compile(
    r"(linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)\.so\.\d+"
)
LARGEST = 6_000_000  # Bytes, stripped.


def output(*command: str | Path) -> str:
    return subprocess.run(
        [str(part) for part in command], check=True, capture_output=True, text=True
    ).stdout


def exported(library: Path) -> list[str]:
    lines = output("nm", "-D", "--defined-only", library).splitlines()
    return sorted(line.split()[-1].split("@")[0] for line in lines)


def check_exports(library: Path, exports: Path) -> list[str]:
    wanted = sorted(exports.read_text().split())
    got = exported(library)
    return [
        f"exported, but not in {exports.name}: {name}" for name in got if name not in wanted
    ] + [f"in {exports.name}, but not exported: {name}" for name in wanted if name not in got]


def check_needed(library: Path) -> list[str]:
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", library))
    return [
        f"needs {name}, which is no part of the C or C++ runtime"
        for name in needed
        if not ALLOWED.fullmatch(name)
    ]


def check_search(files: list[Path]) -> list[str]:
    """An empty or relative entry of a RUNPATH is the current folder, or depends on it."""
    problems = []
    for file in files:
        paths = re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", output("readelf", "-d", file))
        entries = [entry for path in paths for entry in path.split(":")]
        problems += [
            f"{file} searches {entry!r}, which depends on the current folder"
            for entry in entries
            if not entry.startswith(("/", "$ORIGIN"))
        ]
    return problems


def check_size(library: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / "stripped.so"
        output("strip", "-o", stripped, library)
        size = os.path.getsize(stripped)
    print(f"{size} bytes stripped")
    return [f"{size} bytes stripped, over {LARGEST}"] if size > LARGEST else []


def check_abi(library: Path, layout: Path, recorded: Path, rebase: bool) -> list[str]:
    got = output(layout).splitlines() + exported(library)
    if rebase:
        recorded.write_text("\n".join(got) + "\n")
        return []
    wanted = recorded.read_text().splitlines()
    return [f"not as recorded: {line}" for line in wanted if line not in got] + [
        f"not recorded: {line} (if pteron.h has grown, run this with --rebase)"
        for line in got
        if line not in wanted
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=("exports", "needed", "size", "search", "abi"))
    parser.add_argument("library", type=Path)
    parser.add_argument("--also", type=Path, nargs="*", default=[], help="programs beside it")
    parser.add_argument("--exports", type=Path, help="the list of exported symbols")
    parser.add_argument("--layout", type=Path, help="the program that prints the layouts")
    parser.add_argument("--abi", type=Path, help="the recorded interface, abi.txt")
    parser.add_argument("--rebase", action="store_true", help="record the interface as it is now")
    arguments = parser.parse_args()
    if arguments.check == "exports":
        problems = check_exports(arguments.library, arguments.exports)
    elif arguments.check == "needed":
        problems = check_needed(arguments.library)
    elif arguments.check == "search":
        problems = check_search([arguments.library, *arguments.also])
    elif arguments.check == "size":
        problems = check_size(arguments.library)
    else:
        problems = check_abi(arguments.library, arguments.layout, arguments.abi, arguments.rebase)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
