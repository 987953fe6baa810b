#!/usr/bin/env python3
# environment: oracle
"""Operators that others found wrong in programs delegated to OpenVINO agree with eager PyTorch.

Those that the partitioner leaves undelegated run on Pteron's kernels. Left out are
reflection_pad1d, 2d and 3d, whose blobs are wrong in themselves (docs/finding_openvino.md), and
var.correction with a correction above 1, which OpenVINO does not convert.
"""

from collections.abc import Callable

import torch
from exporting import Suite, export, run_suite

Function = Callable[..., torch.Tensor]
aten = torch.ops.aten


class Wrapped(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    def __init__(self, function: Function):
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def cases() -> dict[str, tuple[Function, tuple[torch.Tensor, ...]]]:
    x = torch.randn(3, 4)
    wide = torch.randn(4, 3, 5)
    picture = torch.randn(1, 2, 5, 6)
    halves = torch.tensor([-5.5, 5.5, -3.0, 7.0, -1.0])
    divisors = torch.tensor([3.0, -3.0, 2.0, -4.0, 0.3])
    whole = torch.tensor([-7, 7, -8, 5])
    by = torch.tensor([2, -2, 3, 3])
    return {
        "clone": (lambda x: x.clone(), (x,)),
        "clone_in_the_middle": (lambda x: x.clone() + 1, (x,)),
        "clone_beside_another": (lambda x: (x.clone(), x * 2)[1] + x.clone(), (x,)),
        "clone_channels_last": (
            lambda x: x.clone(memory_format=torch.channels_last) + 1,
            (picture,),
        ),
        "t_copy": (lambda x: aten.t_copy(x) * 2, (x,)),
        "alias_copy": (lambda x: aten.alias_copy(x), (x,)),
        "alias_copy_in_the_middle": (lambda x: aten.alias_copy(x) * 2, (x,)),
        "detach": (lambda x: x.detach() * 2, (x,)),
        "diagonal": (lambda x: torch.diagonal(x, 1, 0, 2).contiguous() * 2, (wide,)),
        "diagonal_copy": (lambda x: aten.diagonal_copy(x, -1) * 2, (x,)),
        "unfold": (lambda x: x.unfold(2, 3, 2) * 2, (wide,)),
        "replication_pad2d": (
            lambda x: torch.nn.functional.pad(x, (1, 2, 2, 1), mode="replicate"),
            (picture,),
        ),
        "remainder": (torch.remainder, (halves, divisors)),
        "remainder_scalar": (lambda x: torch.remainder(x, -3.0), (halves,)),
        "remainder_int": (lambda x: torch.remainder(x, 3), (whole,)),
        "fmod": (lambda x: torch.fmod(x, 3.0), (halves,)),
        "floor_divide": (torch.floor_divide, (whole, by)),
        "var_of_all": (lambda x: torch.var(x, dim=1, correction=0), (x,)),
        "var_of_a_sample": (lambda x: torch.var(x, dim=1, correction=1), (x,)),
        "std": (lambda x: torch.std(x, dim=1), (x,)),
        "roll": (lambda x: torch.roll(x, 2, 1) * 2, (x,)),
        "flip": (lambda x: torch.flip(x, [0, 1]) * 2, (x,)),
        "sign": (torch.sign, (torch.tensor([-2.0, 0.0, 3.0]),)),
        "round": (torch.round, (torch.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]),)),
    }


def test(suite: Suite) -> None:
    torch.manual_seed(0)
    for name, (function, inputs) in cases().items():
        model = Wrapped(function).eval()
        suite.compare(name, export(model, inputs), inputs, model(*inputs).contiguous(), 1e-4)


if __name__ == "__main__":
    run_suite("2025.4.1", test)
