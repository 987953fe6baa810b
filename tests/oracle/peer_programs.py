#!/usr/bin/env python3
"""Makes tests/data/peer: small programs of kinds that the golden set lacks.

usage: peer_programs.py FOLDER     in the environment oracle; not a test

Each has one float32 input of [2, 2], or [1, 2, 3, 4] in the channels-last order.
"""

import sys
from pathlib import Path

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from torch.export import export


class Doubles(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


class Squares(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x


class WithConstant(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """Its second output is a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.fixed = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + self.fixed, self.fixed


class Counts(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """Keeps how often it ran, in the buffer "runs"."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("runs", torch.zeros(2, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.runs.add_(1)
        return x + self.runs


class Enlarges(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    def __init__(self, order: torch.memory_format) -> None:
        super().__init__()
        self.order = order

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        large = torch.nn.functional.interpolate(x, scale_factor=2, mode="nearest")
        return large.to(memory_format=self.order)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    square = (torch.ones(2, 2),)
    picture = (torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last),)
    unplanned = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(alloc_graph_output=False)
    )
    named = ExecutorchBackendConfig(emit_mutable_buffer_names=True)
    two = {"forward": export(Doubles(), square), "square": export(Squares(), square)}
    rows, last = torch.contiguous_format, torch.channels_last
    programs = {
        "two_methods": to_edge(two).to_executorch(),
        "constant_output": to_edge(export(WithConstant(), square)).to_executorch(config=unplanned),
        "counter": to_edge(export(Counts(), square)).to_executorch(config=named),
        "channels_last": to_edge(export(Enlarges(last), picture)).to_executorch(),
        "channels_last_to_rows": to_edge(export(Enlarges(rows), picture)).to_executorch(),
    }
    for name, program in programs.items():
        (folder / f"{name}.pte").write_bytes(bytes(program.buffer))


if __name__ == "__main__":
    main()
