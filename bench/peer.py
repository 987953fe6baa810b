"""What the measured Python programs share; peer.h does the same for those in C."""

import json
import time
from collections.abc import Callable

import numpy as np


def arrays_of(file: str) -> list[np.ndarray]:
    """The inputs in0, in1, ... of an archive."""
    with np.load(file) as arrays:
        return [arrays[name] for name in arrays.files if name.startswith("in")]


def made_up(shape: tuple[int, ...]) -> np.ndarray:
    """An input; reading one from an archive would be a tenth of what is measured."""
    return np.full(shape, 0.5, "float32")


def measure(call: Callable[[], object], count: int) -> None:
    """Calls once, then `count` times; prints when the first result was there, on time.monotonic(),
    the median and the least of the others, and the process's peak of memory."""
    call()
    first = time.monotonic()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    times.sort()
    with open("/proc/self/status") as file:
        status = file.read()
    result = {
        "first_at_s": first,
        "call_p50_us": times[len(times) // 2] * 1e6,
        "call_min_us": times[0] * 1e6,
        "peak_mb": float(status.split("VmHWM:")[1].split()[0]) / 1024,
    }
    print(json.dumps(result))
