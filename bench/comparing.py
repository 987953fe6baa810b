"""Runs programs in turn and tabulates their ratios: what bench/compare and bench/python share."""

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPENVINO = "2025.4.1"
PROGRAMS = ROOT / "build/release/bench"  # Those in C, once build() was called.
Result = dict[str, float]


@dataclass
class Row:
    model: str
    peer: str
    precision: str
    measure: str
    peer_value: float
    pteron_value: float
    ratio: float
    goal: str
    met: bool


def cache_folder() -> Path:
    default = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("PTERON_CACHE") or str(Path(default) / "pteron"))


def packages_of(environment: str) -> Path:
    return next((cache_folder() / environment).glob("lib/python3*/site-packages"))


def shipped_library() -> Path:
    """The library that ships, which scripts/wheel builds."""
    subprocess.run([ROOT / "scripts/wheel"], check=True, stdout=sys.stderr)
    return ROOT / "build/ship/src/api/libpteron.so"


def export_models(script: str) -> Path:
    """The folder of the models, exported there if they are not yet."""
    subprocess.run([ROOT / "scripts/setup", "--bench"], check=True)
    models = cache_folder() / "bench"
    subprocess.run(
        [cache_folder() / "oracle/bin/python", ROOT / "bench" / script, models],
        check=True,
        env={**os.environ, "PYTHONPATH": str(packages_of("torchvision"))},
        stdout=sys.stderr,
        stderr=subprocess.DEVNULL,
    )
    return models


def build(*targets: str) -> None:
    """Builds programs of this folder into PROGRAMS. The loader finds the shipped library by
    LD_LIBRARY_PATH before the one that they were linked with."""
    environment = {**os.environ, "PTERON_TOOLS_DIR": str(cache_folder() / "tools")}
    for command in (["--preset", "release"], ["--build", "--preset", "release", "--target"]):
        extra = targets if "--build" in command else ()
        subprocess.run(
            ["cmake", *command, *extra], check=True, env=environment, cwd=ROOT, stdout=sys.stderr
        )
    link = PROGRAMS / "shipped/libpteron.so.0"
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(shipped_library())


def openvino_library() -> Path:
    libraries = packages_of(f"openvino-{OPENVINO}") / "openvino/libs"
    return next(libraries.glob("libopenvino_c.so.*"))


def measure(command: list[str], library: Path) -> Result:
    start = time.monotonic()
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "OPENVINO_LIB_PATH": str(library),
            "LD_LIBRARY_PATH": str(PROGRAMS / "shipped"),
        },
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    result: Result = json.loads(done.stdout.strip().splitlines()[-1])
    if "first_at_s" in result:
        result["start_to_first_ms"] = (result["first_at_s"] - start) * 1e3
    result["whole_ms"] = (time.monotonic() - start) * 1e3
    return result


def interleave(pairs: int, peer: list[str], pteron: list[str], library: Path) -> list[list[Result]]:
    """[peer's results, Pteron's results], after one run of each that warms the file cache."""
    both = (peer, pteron)
    for command in both:
        measure(command, library)
    results: list[list[Result]] = [[], []]
    for pair in range(pairs):
        # Who goes first alternates: the second run of a pair may find a warmer or busier machine.
        for side in (0, 1) if pair % 2 == 0 else (1, 0):
            results[side].append(measure(both[side], library))
    return results


class Comparison:
    """Rows of the table for one model, peer and precision."""

    def __init__(self, model: str, peer: str, precision: str, results: list[list[Result]]):
        self.labels = (model, peer, precision)
        self.results = results
        self.rows: list[Row] = []

    def add(self, key: str, factor: float | None, plus: float = 0, unit: str = "") -> None:
        """Adds a row whose goal is: Pteron at most `factor` times the peer, plus `plus`."""
        pairs = [(a[key], b[key]) for a, b in zip(*self.results, strict=True)]
        peer = statistics.median(a for a, _ in pairs)
        pteron = statistics.median(b for _, b in pairs)
        ratio = statistics.median(b / a if a else 1.0 for a, b in pairs)
        goal, met = "", True
        if factor is not None:
            goal = f"<= {factor:.3g}x" + (f" + {plus:g} {unit}" if plus else "")
            met = statistics.median(b - factor * a for a, b in pairs) <= plus
        self.rows.append(Row(*self.labels, key, peer, pteron, ratio, goal, met))


def print_table(rows: list[Row]) -> None:
    header = ("model", "peer", "precision", "measure", "peer", "pteron", "ratio", "goal", "")
    lines = [header]
    for row in rows:
        verdict = ("met" if row.met else "MISSED") if row.goal else ""
        numbers = (f"{row.peer_value:.2f}", f"{row.pteron_value:.2f}", f"{row.ratio:.3f}")
        lines.append((row.model, row.peer, row.precision, row.measure, *numbers, row.goal, verdict))
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join(cells).rstrip())


def report(title: str, rows: list[Row], file: str | None, check: bool) -> int:
    """Prints the table and writes it as JSON; the exit status: 1 if a goal is missed that `check`
    asks for."""
    print(title)
    print_table(rows)
    if file:
        Path(file).write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return 1 if check and not all(row.met for row in rows) else 0
