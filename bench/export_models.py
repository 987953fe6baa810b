#!/usr/bin/env python3
"""Exports the benchmark's models: NAME.pte, NAME.blob (its delegate's payload), NAME.npz.

usage: export_models.py FOLDER      in the environment `oracle`, with torchvision on the path
The weights are random, with a fixed seed. What is already in FOLDER is left alone.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.backend_details import CompileSpec

warnings.filterwarnings("ignore")

Model = tuple[torch.nn.Module, tuple[torch.Tensor, ...]]
LIBRARIES: list[torch.library.Library] = []


def two_linear() -> Model:
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
    return net, (torch.randn(4, 16),)


def declare_torchvision_operators() -> None:
    # PyPI's torchvision is built for CUDA; without it, importing it needs these operators declared.
    library = torch.library.Library("torchvision", "DEF")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.define(
        "roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, "
        "int pooled_width, int sampling_ratio, bool aligned) -> Tensor"
    )
    LIBRARIES.append(library)  # Its operators go when it does.


def mobilenet_v2() -> Model:
    declare_torchvision_operators()
    import torchvision.models

    return torchvision.models.mobilenet_v2(), (torch.randn(1, 3, 224, 224),)


def save(folder: Path, name: str, model: Model) -> None:
    net, inputs = model[0].eval(), model[1]
    with torch.no_grad():
        output = net(*inputs)
    arrays = {f"in{i}": tensor.numpy() for i, tensor in enumerate(inputs)}
    np.savez(folder / f"{name}.npz", **arrays, out0=output.numpy())
    partitioner = OpenvinoPartitioner([CompileSpec("device", b"CPU")])
    lowered = to_edge_transform_and_lower(
        torch.export.export(net, inputs), partitioner=[partitioner]
    )
    delegate = lowered.exported_program().graph_module.lowered_module_0
    (folder / f"{name}.blob").write_bytes(delegate.processed_bytes)
    # Last, so that its being there means that all are.
    (folder / f"{name}.pte").write_bytes(lowered.to_executorch().buffer)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (two_linear, mobilenet_v2):
        if not (folder / f"{make.__name__}.pte").exists():
            torch.manual_seed(0)
            save(folder, make.__name__, make())


if __name__ == "__main__":
    main()
