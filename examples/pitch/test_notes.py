#!/usr/bin/env python3
"""Runs the pitch example on its melody and compares the notes it prints with those played.

usage: test_notes.py PITCH MODEL MELODY.wav NOTES.txt
Right means: the same notes in order, each start and end within 50 ms, each frequency within 1 %.
"""

import os
import subprocess
import sys
from pathlib import Path

Note = tuple[float, float, str, float]
SKIPPED = 77


def parse(text: str) -> list[Note]:
    notes = []
    for line in text.splitlines():
        start, _, end, _, name, frequency, _ = line.split()
        notes.append((float(start), float(end), name, float(frequency)))
    return notes


def is_right(got: Note, wanted: Note) -> bool:
    return (
        got[2] == wanted[2]
        and abs(got[0] - wanted[0]) <= 0.05
        and abs(got[1] - wanted[1]) <= 0.05
        and abs(got[3] / wanted[3] - 1) <= 0.01
    )


def main() -> int:
    pitch, model, wav, expected = sys.argv[1:5]
    openvino = os.environ.get("PTERON_TEST_OPENVINO_2025_4_1")
    if not openvino:
        print("skipped: PTERON_TEST_OPENVINO_2025_4_1 is not set; scripts/test sets it")
        return SKIPPED
    # A program for Windows is started by what runs such programs here.
    emulator = os.environ.get("PTERON_EMULATOR")
    done = subprocess.run(
        [*([emulator] if emulator else []), pitch, model, wav, "--openvino", openvino],
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, done.stderr, sep="")
    if done.returncode != 0:
        print(f"pitch ended with status {done.returncode}")
        return 1
    got, wanted = parse(done.stdout), parse(Path(expected).read_text())
    both = zip(got, wanted, strict=False)
    wrong = [f"got {g}, wanted {w}" for g, w in both if not is_right(g, w)]
    if len(got) != len(wanted):
        wrong.append(f"got {len(got)} notes, wanted {len(wanted)}")
    print("\n".join(wrong) if wrong else f"{len(got)} notes are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
