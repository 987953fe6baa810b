"""Exports scale.pte: a program with an operator of its own, my_ops::scale, which no ExecuTorch has.

Needs PyTorch and ExecuTorch: python export_scale.py scale.pte
"""

import sys

import torch
from executorch.exir import to_edge
from torch.library import Library, impl

# An operator for ExecuTorch needs two forms: one that returns its result, and the ".out" one that
# writes it where it is told, which is what the program will call.
library = Library("my_ops", "DEF")
library.define("scale(Tensor x, float factor) -> Tensor")
library.define("scale.out(Tensor x, float factor, *, Tensor(a!) out) -> Tensor(a!)")


@impl(library, "scale", dispatch_key="CompositeExplicitAutograd")
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


@impl(library, "scale.out", dispatch_key="CompositeExplicitAutograd")
def scale_out(x: torch.Tensor, factor: float, *, out: torch.Tensor) -> torch.Tensor:
    return torch.mul(x, factor, out=out)


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.my_ops.scale(x, 2.5) + 1.0


def main() -> None:
    rows = torch.export.Dim("rows", min=1, max=4)
    program = torch.export.export(Model(), (torch.ones(4, 3),), dynamic_shapes={"x": {0: rows}})
    with open(sys.argv[1], "wb") as file:
        file.write(to_edge(program).to_executorch().buffer)


if __name__ == "__main__":
    main()
