#!/usr/bin/env python3
"""One batch of CREPE's frames from the example's melody, and the pitches in CREPE's output.

usage: melody_frames.py COUNT OUT.npy       COUNT frames, a tenth of a second apart, from 0.4 s on
       melody_frames.py --decode IN.npz     prints time, frequency and confidence of each
"""

import sys
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE = 16000
SIZE = 1024
TIMES = [0.4 + 0.1 * i for i in range(64)]


def frames(count: int) -> NDArray[np.float32]:
    melody = Path(__file__).resolve().parent.parent / "examples" / "pitch" / "melody.wav"
    with wave.open(str(melody)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32)
    starts = [round(time * RATE) - SIZE // 2 for time in TIMES[:count]]
    batch = np.stack([samples[start : start + SIZE] for start in starts])
    batch -= batch.mean(axis=1, keepdims=True)
    batch /= np.maximum(batch.std(axis=1, keepdims=True), 1e-10)
    return batch


def print_pitches(bins: NDArray[np.float32]) -> None:
    cents = 1997.3794084376191 + 20 * np.arange(bins.shape[1])
    for time, row in zip(TIMES, bins, strict=False):
        near = slice(max(0, int(row.argmax()) - 4), int(row.argmax()) + 5)
        frequency = 10 * 2 ** (np.average(cents[near], weights=row[near]) / 1200)
        print(f"{time:.1f} s  {frequency:.1f} Hz  confidence {row.max():.2f}")


def main() -> None:
    if sys.argv[1] == "--decode":
        with np.load(sys.argv[2]) as arrays:
            print_pitches(arrays["out0"])
    else:
        np.save(sys.argv[2], frames(int(sys.argv[1])))


if __name__ == "__main__":
    main()
