#!/usr/bin/env python3
"""Runs a .pte with Pteron in Python; prints what pteron_peer prints, for what it can measure.

usage: peer_pteron.py MODEL.pte CALLS program|fast
in an environment with pteron and openvino
"""

import sys

import pteron


def main() -> None:
    method = pteron.load(sys.argv[1], precision=sys.argv[3]).method()
    # It has imported NumPy meanwhile, as `import openvino` does before anything else.
    from peer import made_up, measure

    shape = method.inputs[0].shape
    assert shape is not None
    x = made_up(shape)
    measure(lambda: method(x), int(sys.argv[2]))


if __name__ == "__main__":
    main()
