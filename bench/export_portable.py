#!/usr/bin/env python3
"""Exports models that nobody delegated, and their twins lowered for XNNPACK.

usage: export_portable.py FOLDER      in the environment `oracle`, with torchvision on the path
Writes NAME_portable.pte, NAME_xnnpack.pte and NAME_portable.npz (input and eager result). The
weights are random, with a fixed seed. What is already in FOLDER is left alone.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from export_models import declare_torchvision_operators

warnings.filterwarnings("ignore")

MODELS = ("mobilenet_v2", "resnet50", "vit_b_16")


def save(folder: Path, name: str) -> None:
    import torchvision.models

    torch.manual_seed(0)
    net = getattr(torchvision.models, name)().eval()
    x = torch.randn(1, 3, 224, 224)
    with torch.no_grad():
        np.savez(folder / f"{name}_portable.npz", in0=x.numpy(), out0=net(x).numpy())
    exported = torch.export.export(net, (x,))
    for suffix, partitioners in (("xnnpack", [XnnpackPartitioner()]), ("portable", [])):
        program = to_edge_transform_and_lower(exported, partitioner=partitioners)
        (folder / f"{name}_{suffix}.pte").write_bytes(program.to_executorch().buffer)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    declare_torchvision_operators()
    for name in MODELS:
        # Written last, so that its being there means that all are.
        if not (folder / f"{name}_portable.pte").exists():
            save(folder, name)


if __name__ == "__main__":
    main()
