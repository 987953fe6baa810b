#!/usr/bin/env python3
"""Runs a .pte with ExecuTorch in Python; prints what pteron_peer prints, for what it can measure.

usage: peer_executorch.py MODEL.pte MODEL.npz CALLS
in the environment `oracle`, with OPENVINO_LIB_PATH set
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from executorch.runtime import Runtime


def main() -> None:
    method = Runtime.get().load_program(Path(sys.argv[1])).load_method("forward")
    with np.load(sys.argv[2]) as arrays:
        inputs = [torch.from_numpy(arrays[name]) for name in arrays.files if name.startswith("in")]
    assert method is not None
    method.execute(inputs)
    first = time.monotonic()
    times = []
    for _ in range(int(sys.argv[3])):
        start = time.perf_counter()
        method.execute(inputs)
        times.append((time.perf_counter() - start) * 1e6)
    status = Path("/proc/self/status").read_text()
    peak = float(status.split("VmHWM:")[1].split()[0]) / 1024
    times.sort()
    result = {
        "first_at_s": first,
        "call_p50_us": times[len(times) // 2],
        "call_min_us": times[0],
        "peak_mb": peak,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
