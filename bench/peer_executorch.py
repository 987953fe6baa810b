#!/usr/bin/env python3
"""Runs a .pte with ExecuTorch in Python; prints what pteron_peer prints, for what it can measure.

usage: peer_executorch.py MODEL.pte MODEL.npz CALLS
in the environment `oracle`, with OPENVINO_LIB_PATH set
"""

import sys
from pathlib import Path

import torch
from executorch.runtime import Runtime
from peer import arrays_of, measure


def main() -> None:
    method = Runtime.get().load_program(Path(sys.argv[1])).load_method("forward")
    inputs = [torch.from_numpy(array) for array in arrays_of(sys.argv[2])]
    assert method is not None
    measure(lambda: method.execute(inputs), int(sys.argv[3]))


if __name__ == "__main__":
    main()
