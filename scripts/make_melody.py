#!/usr/bin/env python3
"""Synthesises examples/pitch/melody.wav, a line of the Ode to Joy, and its notes, melody.txt.

The player is a plucked, slightly breathy tone with vibrato, so that a pitch tracker has some work:
16 kHz, mono, 16 bit. The same files come out on every machine.
"""

import math
import random
import struct
import wave
from pathlib import Path

RATE = 16000
BEAT = 0.42  # Seconds.
NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")

# Note (None: a rest) and its length in beats.
SCORE: list[tuple[str | None, float]] = [
    (None, 0.75),
    ("E4", 1), ("E4", 1), ("F4", 1), ("G4", 1),
    ("G4", 1), ("F4", 1), ("E4", 1), ("D4", 1),
    (None, 0.5),
    ("C4", 1), ("C4", 1), ("D4", 1), ("E4", 1),
    ("E4", 1.5), ("D4", 0.5), ("D4", 2),
    (None, 0.75),
]  # fmt: skip
BREATH = 0.06  # Seconds of silence at the end of each note.


def frequency(name: str) -> float:
    midi = 12 * (int(name[-1]) + 1) + NAMES.index(name[:-1])
    return 440 * 2 ** ((midi - 69) / 12)


def tone(pitch: float, count: int) -> list[float]:
    phase = 0.0
    samples = []
    for i in range(count):
        time = i / RATE
        vibrato = 20 * math.sin(2 * math.pi * 5.5 * time) * min(1, time / 0.25)  # Cents.
        phase += 2 * math.pi * pitch * 2 ** (vibrato / 1200) / RATE
        attack = min(1, time / 0.015)
        release = min(1, (count - i) / RATE / 0.03)
        level = attack * release * (0.55 + 0.45 * math.exp(-4 * time))
        samples.append(level * sum(math.sin(k * phase) / k**1.3 for k in range(1, 7)))
    return samples


def main() -> None:
    folder = Path(__file__).resolve().parent.parent / "examples" / "pitch"
    noise = random.Random(1)
    samples: list[float] = []
    lines = []
    for name, beats in SCORE:
        count = round(beats * BEAT * RATE)
        if name is None:
            samples += [0.0] * count
            continue
        sounding = count - round(BREATH * RATE)
        start, end = len(samples) / RATE, (len(samples) + sounding) / RATE
        lines.append(f"{start:.2f} s  {end:.2f} s  {name}  {frequency(name):.1f} Hz\n")
        samples += tone(frequency(name), sounding) + [0.0] * (count - sounding)
    loudest = max(map(abs, samples))
    values = [round(20000 * s / loudest + noise.gauss(0, 12)) for s in samples]
    with wave.open(str(folder / "melody.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(struct.pack(f"<{len(values)}h", *values))
    (folder / "melody.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
