#!/usr/bin/env python3
"""Exports models that nobody delegated, their twins lowered for XNNPACK, and OpenVINO's own
conversions of them.

usage: export_portable.py FOLDER      in the environment `oracle`, with torchvision on the path
Writes NAME_portable.pte, NAME_xnnpack.pte, NAME.xml and .bin (static shapes, float32 as they are)
and NAME_portable.npz (input and eager result). The weights are random, with a fixed seed. What is
already in FOLDER is left alone.
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

MODELS = ("mobilenet_v2", "resnet50", "vit_b_16", "lstm")


class Lstm(torch.nn.Module):  # type: ignore[misc]
    """A classifier of the elements of a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 64)
        self.lstm = torch.nn.LSTM(64, 128, batch_first=True)
        self.head = torch.nn.Linear(128, 7)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.lstm(self.embedding(ids))
        return torch.log_softmax(self.head(hidden), -1)


def make(name: str) -> tuple[torch.nn.Module, torch.Tensor]:
    import torchvision.models

    torch.manual_seed(0)
    if name == "lstm":
        return Lstm().eval(), torch.arange(40).reshape(2, 20)
    net = getattr(torchvision.models, name)().eval()
    if name == "vit_b_16":  # Its head is all zeros.
        torch.nn.init.normal_(net.heads.head.weight, std=0.02)
    return net, torch.randn(1, 3, 224, 224)


def convert(exported: torch.export.ExportedProgram, shape: list[int], path: Path) -> None:
    import openvino

    model = openvino.convert_model(exported)
    model.reshape(shape)
    openvino.save_model(model, path, compress_to_fp16=False)


def save(folder: Path, name: str) -> None:
    net, x = make(name)
    with torch.no_grad():
        np.savez(folder / f"{name}_portable.npz", in0=x.numpy(), out0=net(x).numpy())
    exported = torch.export.export(net, (x,))
    convert(exported, list(x.shape), folder / f"{name}.xml")
    for suffix, partitioners in (("xnnpack", [XnnpackPartitioner()]), ("portable", [])):
        program = to_edge_transform_and_lower(exported, partitioner=partitioners)
        (folder / f"{name}_{suffix}.pte").write_bytes(program.to_executorch().buffer)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    declare_torchvision_operators()
    for name in MODELS:
        # Both are there only if all are.
        if not all((folder / f"{name}{end}").exists() for end in (".xml", "_portable.pte")):
            save(folder, name)


if __name__ == "__main__":
    main()
