#!/usr/bin/env python3
"""Makes the model of the smoke test, tests/data/models/int8_openvino.pte and int8.npz: a small
network for pictures, quantized to int8 by NNCF and delegated to OpenVINO 2025.4.1.

usage: export_model.py FOLDER   in the environment `oracle` of scripts/lib.sh

int8.npz holds in0, a picture; out0, what the quantized network gives for it in eager PyTorch; and
float0, what the network gave before.
"""

import sys
import warnings
from pathlib import Path

import nncf
import numpy as np
import torch
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.openvino.quantizer import OpenVINOQuantizer
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.backend_details import CompileSpec
from nncf.experimental.torch.fx import quantize_pt2e

warnings.filterwarnings("ignore")


class Pictures(torch.nn.Module):
    """Three convolutions, one of them in groups, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(3, 16, 3, stride=2, padding=1),
            torch.nn.ReLU(),
            torch.nn.Conv2d(16, 16, 3, padding=1, groups=4),
            torch.nn.ReLU(),
            torch.nn.Conv2d(16, 32, 3, stride=2, padding=1),
            torch.nn.ReLU(),
        )
        self.head = torch.nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(x).mean((2, 3)))


def main(folder: Path) -> None:
    torch.manual_seed(0)
    model = Pictures().eval()
    pictures = [torch.randn(1, 3, 32, 32) for _ in range(64)]
    example = (pictures[0],)
    exported = torch.export.export(model, example).module()
    quantized = quantize_pt2e(
        exported,
        OpenVINOQuantizer(),
        nncf.Dataset(pictures[1:]),
        subset_size=63,
        fold_quantize=False,
    )
    with torch.no_grad():
        eager, before = quantized(*example), model(*example)
    lowered = to_edge_transform_and_lower(
        torch.export.export(quantized, example),
        partitioner=[OpenvinoPartitioner([CompileSpec("device", b"CPU")])],
    )
    (folder / "int8_openvino.pte").write_bytes(lowered.to_executorch().buffer)
    np.savez_compressed(
        folder / "int8.npz", in0=example[0].numpy(), out0=eager.numpy(), float0=before.numpy()
    )
    print("difference by quantization", float((eager - before).abs().max()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
