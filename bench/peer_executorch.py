#!/usr/bin/env python3
"""Runs a .pte with ExecuTorch in Python; prints what pteron_peer prints, for what it can measure.

usage: peer_executorch.py MODEL.pte MODEL.npz CALLS
in the environment `oracle`, with OPENVINO_LIB_PATH set
"""

import sys
import time
from pathlib import Path

import torch
from executorch.runtime import Runtime
from peer import arrays_of, print_result


def main() -> None:
    method = Runtime.get().load_program(Path(sys.argv[1])).load_method("forward")
    inputs = [torch.from_numpy(array) for array in arrays_of(sys.argv[2])]
    assert method is not None
    method.execute(inputs)
    first = time.monotonic()
    times = []
    for _ in range(int(sys.argv[3])):
        start = time.perf_counter()
        method.execute(inputs)
        times.append(time.perf_counter() - start)
    print_result(first, times)


if __name__ == "__main__":
    main()
