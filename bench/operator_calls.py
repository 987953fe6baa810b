"""The calls of operators that bench/operators measures, and the programs that make them.

A call is an operator's name, its arguments in the order of its schema, and the outputs where
PyTorch has no eager form to ask. Arrays have more than 4,096 elements, mostly a layer's: 64
channels of 56 x 56, 8 sequences of 197 tokens and 768 features, or matrices of 1024 x 1024.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from executorch.exir import schema
from executorch.exir._serialize._program import PTEFile, serialize_pte_binary

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/oracle"))
import operators

Outputs = list[Any]  # Tensors or lists of tensors.

# What is not measured, and why.
LEFT_OUT = {
    "executorch_prim::": "works on single numbers",
    "aten::_local_scalar_dense": "works on single numbers",
    "aten::scalar_tensor.out": "works on single numbers",
    "aten::sym_": "works on single numbers",
    "aten::copy_": "changes an input in place, which the two runtimes keep in different memory",
    "aten::index_put_": "as copy_",
    "aten::_native_batch_norm_legit.out": "as copy_",
    "llama::sdpa_with_kv_cache.out": "as copy_; custom_sdpa is the same attention",
    "llama::update_cache": "as copy_",
    "aten::empty.out": "does nothing in ExecuTorch; here the memory is cleared, so that a program "
    "cannot give away what was in it",
    "dim_order_ops::_empty_dim_order.out": "as empty",
    "aten::allclose": "not an operator of PyTorch; a test helper of ExecuTorch's",
    "aten::masked_select.out": "its output's shape depends on the data",
    "aten::nonzero.out": "its output's shape depends on the data",
    "aten::repeat_interleave.Tensor_out": "its output's shape depends on the data",
}


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def positive(*shape: int) -> torch.Tensor:
    return torch.rand(shape) * 1.9 + 0.05


def unit(*shape: int) -> torch.Tensor:
    return torch.rand(shape) * 1.8 - 0.9


def whole(high: int, *shape: int, dtype: torch.dtype = torch.int64, low: int = 0) -> torch.Tensor:
    return torch.randint(low, high, shape, dtype=dtype)


def truth(*shape: int) -> torch.Tensor:
    return torch.rand(shape) > 0.5


PLANES = (1, 64, 56, 56)
TOKENS = (8, 197, 768)
SQUARE = (1024, 1024)
VOLUME = (1, 16, 16, 28, 28)


class Calls:
    """The table, filled below: (label, operator, arguments, outputs or None).

    The last two are functions without parameters that make what they are named after.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, Any, Any]] = []

    def add(
        self,
        name: str,
        make: Any,
        variant: str = "",
        outputs: Any = None,
    ) -> None:
        self.rows.append((name + (f" ({variant})" if variant else ""), name, make, outputs))


def element_wise(calls: Calls) -> None:
    for names, make in (
        (
            "abs acosh ceil cos cosh erf exp expm1 floor gelu isinf isnan leaky_relu neg relu",
            normal,
        ),
        ("round sigmoid sign sin sinh tan tanh trunc logical_not", normal),
        ("log log10 log1p log2 reciprocal rsqrt sqrt", positive),
        ("acos asin asinh atan atanh", unit),
    ):
        for name in names.split():
            rest = {"leaky_relu": [0.01], "gelu": ["none"]}.get(name, [])
            calls.add(f"aten::{name}.out", lambda m=make, r=rest: [m(*PLANES), *r])
    calls.add("aten::gelu.out", lambda: [normal(*TOKENS), "tanh"], "tanh")
    for name, type_name in (("relu", torch.float16), ("exp", torch.bfloat16)):
        short = "half" if type_name == torch.float16 else "bfloat16"
        calls.add(f"aten::{name}.out", lambda t=type_name: [normal(*PLANES).to(t)], short)
    calls.add("aten::bitwise_not.out", lambda: [whole(99, *PLANES)])
    calls.add("aten::clamp.out", lambda: [normal(*PLANES), -0.5, 0.5])
    calls.add("aten::hardtanh.out", lambda: [normal(*PLANES), 0.0, 6.0])
    calls.add("aten::clamp.Tensor_out", lambda: [normal(*PLANES), unit(*PLANES), positive(*PLANES)])
    calls.add("aten::elu.out", lambda: [normal(*PLANES), 1.0, 1.0, 1.0])
    calls.add("aten::glu.out", lambda: [normal(*PLANES), 1])
    calls.add("aten::logit.out", lambda: [torch.rand(PLANES), 1e-6])
    calls.add("aten::round.decimals_out", lambda: [normal(*PLANES), 2])
    calls.add("aten::pow.Tensor_Scalar_out", lambda: [positive(*PLANES), 2.0], "2")
    calls.add("aten::pow.Tensor_Scalar_out", lambda: [positive(*PLANES), 1.7], "1.7")
    calls.add("aten::pow.Scalar_out", lambda: [2.5, normal(*PLANES)])
    calls.add("aten::_conj_physical.out", lambda: [torch.randn(PLANES, dtype=torch.complex64)])
    for name in ["add", "sub"]:
        calls.add(f"aten::{name}.out", lambda: [normal(*PLANES), normal(*PLANES), 1])
        calls.add(f"aten::{name}.Scalar_out", lambda: [normal(*PLANES), 1.5, 1])
    calls.add("aten::add.out", lambda: [normal(*TOKENS), normal(768), 1], "broadcast")
    calls.add("aten::add.out", lambda: [normal(*PLANES), normal(1, 64, 1, 1), 1], "by channel")
    calls.add("aten::add.out", lambda: [*(normal(*PLANES).half() for _ in "ab"), 1], "half")
    calls.add("aten::rsub.Scalar_out", lambda: [normal(*PLANES), 1.5, 1])
    two = "atan2 div maximum minimum mul fmod floor_divide remainder pow eq ge gt le lt ne"
    overloads = {
        **dict.fromkeys(["fmod", "remainder", "eq", "ge", "gt", "le", "lt", "ne"], "Tensor_out"),
        "pow": "Tensor_Tensor_out",
    }
    for name in [*two.split(), "logical_and", "logical_or", "logical_xor"]:
        overload = overloads.get(name, "out")
        calls.add(f"aten::{name}.{overload}", lambda: [positive(*PLANES), positive(*PLANES)])
    for name in ["div", "mul", "fmod", "remainder", "eq", "ge", "gt", "le", "lt", "ne"]:
        calls.add(f"aten::{name}.Scalar_out", lambda: [positive(*PLANES), 0.7])
    calls.add("aten::mul.out", lambda: [whole(99, *PLANES), whole(99, *PLANES)], "int64")
    calls.add("aten::div.out_mode", lambda: [normal(*PLANES), positive(*PLANES), "floor"])
    calls.add("aten::div.Scalar_mode_out", lambda: [normal(*PLANES), 0.7, "trunc"])
    for name in ("and", "or", "xor", "left_shift", "right_shift"):
        scalar = "Tensor_Scalar_out" if "shift" in name else "Scalar_out"
        calls.add(f"aten::bitwise_{name}.{scalar}", lambda: [whole(99, *PLANES), 3])
        calls.add(
            f"aten::bitwise_{name}.Tensor_out", lambda: [whole(99, *PLANES), whole(9, *PLANES)]
        )
    for name in ("__lshift__", "__rshift__"):
        calls.add(f"aten::{name}.Scalar_out", lambda: [whole(99, *PLANES), 3])
    calls.add("aten::where.self_out", lambda: [truth(*PLANES), normal(*PLANES), normal(*PLANES)])
    calls.add("aten::masked_fill.Scalar_out", lambda: [normal(*PLANES), truth(*PLANES), 1.5])
    calls.add(
        "aten::masked_scatter.out", lambda: [normal(*PLANES), truth(*PLANES), normal(*PLANES)]
    )


def reductions(calls: Calls) -> None:
    for variant, make, dim in (
        ("last", lambda: normal(*TOKENS), 2),
        ("middle", lambda: normal(*TOKENS), 1),
    ):
        for name in ("argmax", "argmin"):
            calls.add(f"aten::{name}.out", lambda m=make, d=dim: [m(), d, False], variant)
        for name in ("amax", "amin"):
            calls.add(f"aten::{name}.out", lambda m=make, d=dim: [m(), [d], False], variant)
        for name in ("sum.IntList_out", "mean.out"):
            calls.add(f"aten::{name}", lambda m=make, d=dim: [m(), [d], False, None], variant)
        calls.add("aten::prod.int_out", lambda m=make, d=dim: [m(), d, False, None], variant)
        for name in ("max.dim_max", "min.dim_min"):
            calls.add(f"aten::{name}", lambda m=make, d=dim: [m(), d, False], variant)
        for name in ("var.correction_out", "var_mean.correction_out"):
            calls.add(f"aten::{name}", lambda m=make, d=dim: [m(), [d], 1, False], variant)
        calls.add("aten::var.out", lambda m=make, d=dim: [m(), [d], True, False], variant)
        calls.add("aten::cumsum.out", lambda m=make, d=dim: [m(), d, None], variant)
        calls.add("aten::_softmax.out", lambda m=make, d=dim: [m(), d, False], variant)
        calls.add("aten::_log_softmax.out", lambda m=make, d=dim: [m(), d, False], variant)
        for name in ("all", "any"):
            calls.add(f"aten::{name}.out", lambda m=make, d=dim: [m() > -9, d, False], variant)
    calls.add("aten::mean.out", lambda: [normal(*PLANES), [2, 3], True, None], "planes")
    calls.add("aten::sum.IntList_out", lambda: [normal(*TOKENS).half(), [2], False, None], "half")
    calls.add("aten::any.dims_out", lambda: [normal(*PLANES) > 9, [2, 3], False])
    for name in ("all.all_out", "any.all_out"):
        calls.add(f"aten::{name}", lambda n=name: [normal(*PLANES) > (-9 if "all." in n else 9)])
    for name in ("max.unary_out", "min.unary_out", "median.out"):
        calls.add(f"aten::{name}", lambda: [normal(*PLANES)])
    for name in ("mean.dtype_out", "prod.out"):
        calls.add(f"aten::{name}", lambda: [normal(*PLANES), None])
    calls.add("aten::median.dim_values", lambda: [normal(64, 1000), 1, False])
    calls.add("aten::topk.values", lambda: [normal(64, 1000), 5, 1, True, True])


def layers(calls: Calls) -> None:
    norm = [positive(64), normal(64)]
    calls.add(
        "aten::_native_batch_norm_legit_no_training.out",
        lambda: [normal(*PLANES), *norm, normal(64), positive(64), 0.1, 1e-5],
        outputs=lambda: [torch.empty(PLANES), torch.empty(0), torch.empty(0)],
    )
    calls.add(
        "aten::_native_batch_norm_legit.no_stats_out",
        lambda: [normal(*PLANES), *norm, True, 0.1, 1e-5],
    )
    calls.add("aten::native_layer_norm.out", lambda: [normal(*TOKENS), [768], *two(768), 1e-5])
    calls.add(
        "aten::native_group_norm.out",
        lambda: [normal(*PLANES), *norm, 1, 64, 56 * 56, 8, 1e-5],
    )
    rest = [[1, 1], [1, 1], [1, 1], False, [0, 0]]
    for variant, weight, groups in (
        ("3x3", (64, 64, 3, 3), 1),
        ("1x1", (256, 64, 1, 1), 1),
        ("depthwise", (64, 1, 3, 3), 64),
        ("grouped", (64, 8, 3, 3), 8),
    ):
        own = [[1, 1], [0, 0], *rest[2:]] if variant == "1x1" else rest
        calls.add(
            "aten::convolution.out",
            lambda w=weight, g=groups, o=own: [normal(*PLANES), normal(*w), None, *o, g],
            variant,
        )
    up = [[2, 2], [1, 1], [1, 1], True, [0, 0], 1]
    calls.add(
        "aten::convolution.out",
        lambda: [normal(1, 32, 28, 28), normal(32, 16, 4, 4), normal(16), *up],
        "transposed",
    )
    calls.add(
        "aten::convolution.out",
        lambda: [normal(1, 64, 4000), normal(64, 64, 5), None, [1], [2], [1], False, [0], 1],
        "1d",
    )
    cube = [[1] * 3, [1] * 3, [1] * 3, False, [0] * 3, 1]
    calls.add(
        "aten::convolution.out",
        lambda: [normal(*VOLUME), normal(16, 16, 3, 3, 3), None, *cube],
        "3d",
    )
    small = [[1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True]]
    calls.add(
        "aten::convolution_backward.out",
        lambda: [normal(1, 16, 28, 28), normal(1, 16, 28, 28), normal(16, 16, 3, 3), [16], *small],
    )
    window = [[3, 3], [2, 2], [1, 1]]
    calls.add("aten::avg_pool2d.out", lambda: [normal(*PLANES), *window, False, True, None])
    calls.add(
        "aten::max_pool2d_with_indices.out", lambda: [normal(*PLANES), *window, [1, 1], False]
    )
    cubes = [[2, 2, 2], [2, 2, 2], [0, 0, 0]]
    calls.add("aten::avg_pool3d.out", lambda: [normal(*VOLUME), *cubes, False, True, None])
    calls.add(
        "aten::max_pool3d_with_indices.out", lambda: [normal(*VOLUME), *cubes, [1, 1, 1], False]
    )

    def backward() -> list[Any]:
        planes = normal(*PLANES)
        out, indices = torch.ops.aten.max_pool2d_with_indices(planes, *window)
        return [normal(*out.shape), planes, *window, [1, 1], False, indices]

    calls.add("aten::max_pool2d_with_indices_backward.grad_input", backward)
    calls.add("aten::_adaptive_avg_pool2d.out", lambda: [normal(*PLANES), [7, 7]])
    calls.add("aten::_adaptive_avg_pool2d.out", lambda: [normal(1, 512, 14, 14), [1, 1]], "1x1")
    calls.add("aten::_adaptive_avg_pool3d.out", lambda: [normal(*VOLUME), [4, 7, 7]])
    calls.add("aten::adaptive_max_pool2d.out", lambda: [normal(*PLANES), [7, 7]])
    calls.add("aten::adaptive_max_pool3d.out", lambda: [normal(*VOLUME), [4, 7, 7]])
    calls.add("aten::mm.out", lambda: [normal(512, 512), normal(512, 512)])
    calls.add("aten::bmm.out", lambda: [normal(12, 197, 64), normal(12, 64, 197)])
    calls.add("aten::addmm.out", lambda: [normal(768), normal(197, 768), normal(768, 768), 1, 1])
    calls.add("aten::linear.out", lambda: [normal(197, 768), normal(768, 768), normal(768)])
    calls.add(
        "aten::linear.out", lambda: [normal(1, 1024), normal(*SQUARE), normal(1024)], "one row"
    )
    calls.add("aten::linear.out", lambda: [*(normal(256, 512).half() for _ in "ab"), None], "half")
    calls.add("aten::_cdist_forward.out", lambda: [normal(256, 64), normal(256, 64), 2.0, None])
    calls.add("aten::_pdist_forward.out", lambda: [normal(256, 64), 2.0])
    calls.add(
        "aten::_upsample_bilinear2d_aa.out",
        lambda: [normal(1, 16, 112, 112), [56, 56], False, None, None],
    )
    calls.add(
        "aten::upsample_bilinear2d.vec_out",
        lambda: [normal(1, 16, 56, 56), [112, 112], False, None],
    )
    calls.add("aten::upsample_nearest2d.vec_out", lambda: [normal(1, 16, 56, 56), [112, 112], None])
    calls.add(
        "aten::grid_sampler_2d.out",
        lambda: [normal(1, 16, 56, 56), unit(1, 56, 56, 2), 0, 0, False],
    )
    calls.add("aten::_fft_r2c.out", lambda: [normal(64, 1024), [1], 0, True])
    calls.add(
        "aten::_fft_c2c.out", lambda: [torch.randn(64, 1024, dtype=torch.complex64), [1], 0, True]
    )
    calls.add(
        "aten::_fft_c2r.out", lambda: [torch.randn(64, 513, dtype=torch.complex64), [1], 0, 1024]
    )
    q = (1, 256, 8, 64)
    calls.add(
        "llama::custom_sdpa.out",
        lambda: [normal(*q), normal(*q), normal(*q), 0, None, 0.0, True, None],
        outputs=lambda: [torch.empty(q)],
    )
    calls.add("llama::fast_hadamard_transform.out", lambda: [normal(64, 1024)])


def two(n: int) -> list[torch.Tensor]:
    return [positive(n), normal(n)]


def copies(calls: Calls) -> None:
    for name in ("alias_copy", "detach_copy", "lift_fresh_copy", "t_copy"):
        calls.add(f"aten::{name}.out", lambda: [normal(*SQUARE)])
    calls.add("aten::clone.out", lambda: [normal(*PLANES), None])
    calls.add("aten::copy.out", lambda: [normal(*PLANES), normal(*PLANES), False])
    calls.add(
        "aten::_to_copy.out",
        lambda: [normal(*PLANES), False, None],
        "to half",
        outputs=lambda: [torch.empty(PLANES, dtype=torch.float16)],
    )
    calls.add(
        "aten::_to_copy.out",
        lambda: [normal(*PLANES).half(), False, None],
        "from half",
        outputs=lambda: [torch.empty(PLANES)],
    )
    calls.add(
        "aten::_to_copy.out",
        lambda: [whole(99, *PLANES, dtype=torch.int32), False, None],
        "int32 to float32",
        outputs=lambda: [torch.empty(PLANES)],
    )
    for name in ("_clone_dim_order", "_to_dim_order_copy"):
        calls.add(
            f"dim_order_ops::{name}.out",
            lambda: [normal(*PLANES), False, [0, 1, 2, 3]],
            outputs=lambda: [torch.empty(PLANES)],
        )
    for name in ("_d2h_copy", "_h2d_copy"):
        calls.add(
            f"et_copy::{name}.out", lambda: [normal(*PLANES)], outputs=lambda: [torch.empty(PLANES)]
        )
    heads = (8, 197, 12, 64)
    calls.add("aten::permute_copy.out", lambda: [normal(*heads), [0, 2, 1, 3]], "heads")
    calls.add("aten::permute_copy.out", lambda: [normal(*PLANES), [0, 2, 3, 1]], "to channels last")
    calls.add("aten::permute_copy.out", lambda: [normal(*TOKENS), [2, 0, 1]], "all")
    calls.add("aten::transpose_copy.int_out", lambda: [normal(*TOKENS), 1, 2])
    calls.add("aten::view_copy.out", lambda: [normal(*PLANES), [64, -1]])
    calls.add("aten::unsqueeze_copy.out", lambda: [normal(*PLANES), 1])
    calls.add("aten::squeeze_copy.dim_out", lambda: [normal(*PLANES), 0])
    calls.add("aten::squeeze_copy.dims_out", lambda: [normal(*PLANES), [0]])
    calls.add("aten::expand_copy.out", lambda: [normal(1, 64, 1, 56), [8, 64, 56, 56], False])
    calls.add("aten::select_copy.int_out", lambda: [normal(*TOKENS), 0, 1])
    calls.add("aten::slice_copy.Tensor_out", lambda: [normal(*TOKENS), 1, 1, 197, 1])
    calls.add("aten::slice_copy.Tensor_out", lambda: [normal(*TOKENS), 2, 0, 768, 2], "step 2")
    calls.add("aten::narrow_copy.out", lambda: [normal(*TOKENS), 1, 1, 196])
    calls.add("aten::slice_scatter.out", lambda: [normal(*TOKENS), normal(8, 9, 768), 1, 0, 9, 1])
    calls.add("aten::select_scatter.out", lambda: [normal(*TOKENS), normal(8, 768), 1, 3])
    calls.add("aten::split_copy.Tensor_out", lambda: [normal(*TOKENS), 256, 2])
    calls.add("aten::split_with_sizes_copy.out", lambda: [normal(*TOKENS), [256, 512], 2])
    calls.add("aten::unbind_copy.int_out", lambda: [normal(3, 8, 197, 256), 0])
    calls.add("aten::unfold_copy.out", lambda: [normal(1, 16, 56, 56), 2, 3, 1])
    calls.add("aten::diagonal_copy.out", lambda: [normal(64, 128, 128), 0, 1, 2])
    calls.add("aten::as_strided_copy.out", lambda: [normal(*SQUARE), [512, 512], [2048, 2], 0])
    calls.add("aten::cat.out", lambda: [[normal(*PLANES), normal(*PLANES)], 1])
    calls.add("aten::cat.out", lambda: [[normal(*TOKENS), normal(8, 197, 64)], 2], "last")
    calls.add("aten::stack.out", lambda: [[normal(*PLANES), normal(*PLANES)], 0])
    calls.add("aten::constant_pad_nd.out", lambda: [normal(*PLANES), [1, 1, 1, 1], 0.0])
    line, cube = normal(64, 4000), (1, 8, 16, 28, 28)
    for kind in ("reflection", "replication"):
        calls.add(f"aten::{kind}_pad1d.out", lambda: [line, [3, 3]])
        calls.add(f"aten::{kind}_pad2d.out", lambda: [normal(*PLANES), [1, 1, 1, 1]])
        calls.add(f"aten::{kind}_pad3d.out", lambda: [normal(*cube), [1] * 6])
    calls.add("aten::flip.out", lambda: [normal(*PLANES), [3]])
    calls.add("aten::repeat.out", lambda: [normal(64, 56, 56), [2, 1, 1, 1]])
    calls.add("aten::roll.out", lambda: [normal(*PLANES), [3], [2]])
    calls.add("aten::tril.out", lambda: [normal(*SQUARE), 0])
    calls.add("aten::pixel_shuffle.out", lambda: [normal(*PLANES), 2])
    calls.add("aten::pixel_unshuffle.out", lambda: [normal(*PLANES), 2])
    calls.add("aten::view_as_real_copy.out", lambda: [torch.randn(PLANES, dtype=torch.complex64)])
    for name in ("ones", "zeros", "full", "rand", "randn"):
        rest = [1.5] if name == "full" else []
        calls.add(
            f"aten::{name}.out",
            lambda r=rest: [list(PLANES), *r],
            outputs=lambda: [torch.empty(PLANES)],
        )
    calls.add("aten::full_like.out", lambda: [normal(*PLANES), 1.5, None])
    calls.add("aten::fill.Scalar_out", lambda: [normal(*PLANES), 1.5])
    calls.add("aten::fill.Tensor_out", lambda: [normal(*PLANES), torch.tensor(1.5)])
    calls.add("aten::arange.out", lambda: [100000], outputs=lambda: [whole(9, 100000)])
    calls.add("aten::arange.start_out", lambda: [0.0, 1e5, 1.0], outputs=lambda: [normal(100000)])
    calls.add(
        "aten::native_dropout.out",
        lambda: [normal(*PLANES), 0.5, True],
        outputs=lambda: [torch.empty(PLANES), truth(*PLANES)],
    )


def look_ups(calls: Calls) -> None:
    calls.add(
        "aten::embedding.out", lambda: [normal(3000, 256), whole(3000, 512), -1, False, False]
    )
    bags = [torch.arange(0, 1024, 8), False, 0, False, None, False, -1]
    calls.add("aten::_embedding_bag.out", lambda: [normal(3000, 256), whole(3000, 1024), *bags])
    rows = (512, 256)
    calls.add("aten::gather.out", lambda: [normal(*rows), 0, whole(512, *rows), False])
    calls.add("aten::index_select.out", lambda: [normal(3000, 256), 0, whole(3000, 512)])
    calls.add("aten::index_select.out", lambda: [normal(*rows), 1, whole(256, 128)], "last")
    calls.add("aten::index.Tensor_out", lambda: [normal(3000, 256), [whole(3000, 512)]])
    calls.add("aten::index.Tensor_out", lambda: [normal(*rows), [None, whole(256, 128)]], "last")
    calls.add(
        "aten::index_put.out",
        lambda: [normal(*rows), [torch.randperm(512)[:64]], normal(64, 256), False],
    )
    calls.add("aten::scatter.src_out", lambda: [normal(*rows), 0, whole(512, *rows), normal(*rows)])
    calls.add("aten::scatter.value_out", lambda: [normal(*rows), 0, whole(512, *rows), 1.5])
    calls.add("aten::scatter_add.out", lambda: [normal(*rows), 0, whole(512, *rows), normal(*rows)])


def quantized(calls: Calls) -> None:
    bytes_of = [-128, 127, torch.int8]
    int8 = {"dtype": torch.int8, "low": -128}

    def whole8(*shape: int) -> torch.Tensor:
        return whole(128, *shape, **int8)

    def add(name: str, make: Any, *outputs: torch.Tensor) -> None:
        calls.add(f"quantized_decomposed::{name}", make, outputs=lambda: list(outputs))

    out8 = torch.empty(PLANES, dtype=torch.int8)
    out32 = torch.empty(PLANES)
    one = (lambda v: torch.tensor([v], dtype=torch.float64), lambda v: torch.tensor([v]))
    add("quantize_per_tensor.out", lambda: [normal(*PLANES), 0.02, 3, *bytes_of], out8)
    add(
        "quantize_per_tensor.Tensor_out",
        lambda: [normal(*PLANES), one[0](0.02), one[1](3), *bytes_of],
        out8,
    )
    add("dequantize_per_tensor.out", lambda: [whole8(*PLANES), 0.02, 3, *bytes_of, None], out32)
    add(
        "dequantize_per_tensor.Tensor_out",
        lambda: [whole8(*PLANES), one[0](0.02), one[1](3), *bytes_of, None],
        out32,
    )
    channels = (lambda: positive(64).double(), lambda: whole(9, 64))
    add(
        "quantize_per_channel.out",
        lambda: [normal(*PLANES), channels[0](), channels[1](), 1, *bytes_of],
        out8,
    )
    add(
        "dequantize_per_channel.out",
        lambda: [whole8(*PLANES), channels[0](), channels[1](), 1, *bytes_of, None],
        out32,
    )
    add(
        "choose_qparams.Tensor_out",
        lambda: [normal(*PLANES), -128, 127, 1e-7, torch.int8],
        torch.empty(1, dtype=torch.float64), whole(9, 1),
    )  # fmt: skip
    rows = (197, 768)
    add(
        "choose_qparams_per_token_asymmetric.out",
        lambda: [normal(*rows), torch.int8],
        torch.empty(197, 1, dtype=torch.float64), whole(9, 197, 1),
    )  # fmt: skip
    tokens = (lambda: positive(197, 1).double(), lambda: whole(9, 197, 1))
    add(
        "quantize_per_token.out",
        lambda: [normal(*rows), tokens[0](), tokens[1](), *bytes_of],
        whole8(*rows),
    )
    add(
        "dequantize_per_token.out",
        lambda: [whole8(*rows), tokens[0](), tokens[1](), *bytes_of, torch.float32],
        torch.empty(rows),
    )
    for name, width, dtype in (
        ("embedding_byte", 256, torch.int8), ("embedding_4bit", 128, torch.uint8),
        ("embedding_2bit", 64, torch.uint8),
    ):  # fmt: skip
        for suffix in ("", "dtype_"):
            low = -128 if dtype == torch.int8 else 0
            add(
                f"{name}.{suffix}out",
                lambda w=width, d=dtype, lo=low, s=suffix: [
                    whole(127, 3000, w, dtype=d, low=lo), positive(3000), None, lo, 127,
                    whole(3000, 512), *([torch.float32] if s else []),
                ],
                torch.empty(512, 256),
            )  # fmt: skip
    add(
        "add.out",
        lambda: [
            whole(255, *PLANES, dtype=torch.uint8), 0.1, 2, 0, 255,
            whole(255, *PLANES, dtype=torch.uint8), 0.2, 1, 0, 255, 0.3, 0, 0, 255,
        ],
        torch.empty(PLANES, dtype=torch.uint8),
    )  # fmt: skip
    add("mixed_mm.out", lambda: [normal(64, 512), whole8(512, 512), positive(512), None],
        torch.empty(64, 512))  # fmt: skip
    add("mixed_linear.out", lambda: [normal(64, 512), whole8(512, 512), positive(512), None, None],
        torch.empty(64, 512))  # fmt: skip
    q = (1, 256, 8, 64)
    side = [whole(9, 1, 256, 8, 1, **int8), positive(1, 256, 8, 1) / 50]
    calls.add(
        "llama::custom_quantized_sdpa.out",
        lambda: [whole8(*q), whole8(*q), whole8(*q), 0, None, 0.0, True, None, *side * 3, False],
        outputs=lambda: [torch.empty(q)],
    )


def all_calls() -> Calls:
    operators.load_custom_operators()
    torch.manual_seed(1)
    calls = Calls()
    for family in (element_wise, reductions, layers, copies, look_ups, quantized):
        family(calls)
    return calls


def outputs_of(name: str, args: list[Any]) -> Outputs:
    """What PyTorch gives: its shapes and dtypes are the program's."""
    op = operators.functional_of(name)
    positional, named = [], {}
    own = [a for a in operators.overload(name)._schema.arguments if not a.is_out]
    values = {a.name: value for a, value in zip(own, args, strict=True)}
    for a in op._schema.arguments:
        if a.name not in values:
            continue
        if a.kwarg_only:
            named[a.name] = values[a.name]
        else:
            positional.append(values[a.name])
    result = op(*positional, **named)
    schema_outputs = [a for a in operators.overload(name)._schema.arguments if a.is_out]
    if len(schema_outputs) == 1:
        return [result]
    return list(result)


class ProgramMaker:
    """A .pte whose inputs are the tensors of a call, and whose one instruction is that call."""

    def __init__(self) -> None:
        self.values: list[schema.EValue] = []
        self.inputs: list[int] = []
        self.arrays: list[torch.Tensor] = []
        self.planned = 0

    def append(self, value: Any) -> int:
        self.values.append(schema.EValue(value))
        return len(self.values) - 1

    def tensor(self, tensor: torch.Tensor, is_output: bool) -> int:
        place = None
        if is_output:
            place = schema.AllocationDetails(1, self.planned & 0xFFFFFFFF, self.planned >> 32)
            self.planned += -(-tensor.numel() * tensor.element_size() // 64) * 64
        index = self.append(
            schema.Tensor(
                schema.ScalarType(operators.DTYPES[tensor.dtype]), 0, list(tensor.shape),
                list(range(tensor.dim())), False, 0, 0, place,
                schema.TensorShapeDynamism.STATIC,
            )
        )  # fmt: skip
        if not is_output:
            self.inputs.append(index)
            self.arrays.append(tensor.contiguous())
        return index

    def argument(self, kind: str, value: Any, is_output: bool = False) -> int:
        if value is None:
            return self.append(schema.Null())
        if isinstance(value, torch.Tensor):
            return self.tensor(value, is_output)
        if isinstance(value, torch.dtype):
            return self.append(schema.Int(operators.DTYPES[value]))
        if isinstance(value, str):
            return self.append(schema.String(value))
        if isinstance(value, bool):
            return self.append(schema.Bool(value))
        if kind == "float" or isinstance(value, float):
            return self.append(schema.Double(float(value)))
        if isinstance(value, int):
            return self.append(schema.Int(value))
        return self.append(self.list_of(kind, value, is_output))

    def list_of(self, kind: str, value: Sequence[Any], is_output: bool) -> Any:
        if "Tensor" in kind or any(isinstance(v, torch.Tensor) for v in value):
            items = [-1 if v is None else self.tensor(v, is_output) for v in value]
            optional = "Optional[Tensor]" in kind
            return schema.OptionalTensorList(items) if optional else schema.TensorList(items)
        if "bool" in kind:
            return schema.BoolList(list(value))
        if "float" in kind:
            return schema.DoubleList(list(value))
        return schema.IntList([self.append(schema.Int(v)) for v in value])

    def finish(self, name: str, args: list[Any], outputs: Outputs) -> bytes:
        own = [a for a in operators.overload(name)._schema.arguments if not a.is_out]
        indices = [self.argument(str(a.type), v) for a, v in zip(own, args, strict=True)]
        results = [self.argument("", output, True) for output in outputs]
        tensors: list[int] = []
        for index in results:
            value = self.values[index].val
            tensors += value.items if isinstance(value, schema.TensorList) else [index]
        operator, _, overload = name.partition(".")
        # The emitter repeats what the call returns: each output, or all of them as a list.
        again = results if len(results) == 1 else [self.append(schema.TensorList(results))]
        plan = schema.ExecutionPlan(
            "forward", schema.ContainerMetadata("", ""), self.values, self.inputs, tensors,
            [
                schema.Chain(
                    self.inputs, tensors,
                    [schema.Instruction(schema.KernelCall(0, [*indices, *results, *again]))], None,
                )
            ],
            [schema.Operator(operator, overload)], [], [0, max(self.planned, 64)],
        )  # fmt: skip
        program = schema.Program(
            0, [plan], [schema.Buffer(b"")], [], [], schema.SubsegmentOffsets(0, []), None, None
        )
        return bytes(serialize_pte_binary(PTEFile(program)))


def make_program(name: str, args: list[Any], outputs: Outputs) -> tuple[bytes, list[torch.Tensor]]:
    """The program's bytes, and its inputs."""
    maker = ProgramMaker()
    data = maker.finish(name, args, outputs)
    return data, maker.arrays


def reason(name: str) -> str | None:
    """Why an operator is not measured."""
    return next((why for start, why in LEFT_OUT.items() if name.startswith(start)), None)


def elements(args: Sequence[Any]) -> int:
    sizes = [math.prod(a.shape) for a in args if isinstance(a, torch.Tensor)]
    return max(sizes, default=0)
