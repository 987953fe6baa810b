#!/usr/bin/env python3
"""Runs a compiled model with OpenVINO's own Python package; prints what pteron_peer prints, as far
as it can measure it.

usage: peer_openvino.py MODEL.blob CALLS program|fast
in an environment with openvino
"""

import sys

from peer import made_up, measure

import openvino


def main() -> None:
    core = openvino.Core()
    if sys.argv[3] == "program":
        core.set_property(
            "CPU", {"EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_PRECISION_HINT": "f32"}
        )
    with open(sys.argv[1], "rb") as file:
        model = core.import_model(file.read(), "CPU")
    x = made_up(tuple(model.inputs[0].shape))
    measure(lambda: model(x), int(sys.argv[2]))


if __name__ == "__main__":
    main()
