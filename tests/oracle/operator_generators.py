"""Random arguments for operators: the shapes, dtypes and values that PyTorch's samples lack.

A generator takes a Maker and gives (operator to call or None for the table's own, positional
arguments, keyword arguments).
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import torch

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16]
NUMBERS = [*INTEGERS, *FLOATS]
ANY = [*NUMBERS, torch.bool]

Call = tuple[Any, Sequence[Any], dict[str, Any]]

# What PyTorch's results cannot be held against, and why.
NOT_COMPARABLE = {
    "aten::empty.out": "the contents are undefined",
    "dim_order_ops::_empty_dim_order.out": "the contents are undefined",
    "aten::rand.out": "random",
    "aten::randn.out": "random",
    "aten::native_dropout.out": "random",
    "aten::_local_scalar_dense": "gives a number; tested in prim_test",
    "aten::sym_numel": "gives a number; tested in prim_test",
    "aten::sym_size.int": "gives a number; tested in prim_test",
    "aten::copy_": "tested with copy.out",
    "quantized_decomposed::add.out": "ExecuTorch has no eager form; tested in quantized_test",
    "quantized_decomposed::mixed_mm.out": "no eager form; tested in quantized_test",
    "quantized_decomposed::mixed_linear.out": "no eager form; tested in quantized_test",
    "llama::custom_quantized_sdpa.out": "tested in quantized_test",
    "dim_order_ops::_clone_dim_order.out": "a clone; tested with clone.out",
    "dim_order_ops::_to_dim_order_copy.out": "a copy; tested with _to_copy.out",
    "et_copy::_d2h_copy.out": "a clone; tested with clone.out",
    "et_copy::_h2d_copy.out": "a clone; tested with clone.out",
    "aten::allclose.out": "not an operator of PyTorch; tested in reduce_test",
    "aten::allclose.Tensor": "not an operator of PyTorch; tested in reduce_test",
}


# Where PyTorch's samples have ties, the index is any of them.
OWN_CASES_ONLY = {"aten::topk.values"}

# What takes complex numbers here: transforms, and what only moves elements.
COMPLEX = {
    "aten::_conj_physical.out",
    "aten::_fft_c2c.out",
    "aten::_fft_c2r.out",
    "aten::_fft_r2c.out",
    "aten::as_strided_copy.out",
    "aten::clone.out",
    "aten::expand_copy.out",
    "aten::flip.out",
    "aten::permute_copy.out",
    "aten::select_copy.int_out",
    "aten::slice_copy.Tensor_out",
    "aten::squeeze_copy.dims_out",
    "aten::transpose_copy.int_out",
    "aten::unsqueeze_copy.out",
    "aten::view_as_real_copy.out",
    "aten::view_copy.out",
}


def rounds_within(name: str) -> bool:
    """Operators that in PyTorch round float16 and bfloat16 between their steps. Their cases hold
    the result of float32, rounded once."""
    return name in (
        "aten::convolution.out",
        "aten::grid_sampler_2d.out",
        "aten::add.out",
        "aten::scatter_add.out",
        "aten::sub.out",
    )


class Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def shape(self, least: int = 0, most: int = 4, empty: float = 0.06) -> list[int]:
        rank = self.rng.randint(least, most)
        limit = [300, 60, 12, 7, 4, 3, 2][rank] if rank < 7 else 2
        shape = [self.rng.choice([1, 2, 3, self.rng.randint(1, limit)]) for _ in range(rank)]
        if rank and self.chance(empty):
            shape[self.rng.randrange(rank)] = 0
        return shape

    def broadcast(self, shape: Sequence[int]) -> list[int]:
        """A shape that broadcasts to `shape`."""
        cut = self.rng.randint(0, len(shape)) if self.chance(0.4) else 0
        return [1 if self.chance(0.25) else n for n in shape[cut:]]

    def dtype(self, of: Sequence[torch.dtype] = ANY) -> torch.dtype:
        return self.rng.choice(list(of))

    def tensor(
        self, shape: Sequence[int], dtype: torch.dtype, edges: float = 0.25, positive: bool = False
    ) -> torch.Tensor:
        rng = self.rng
        count = math.prod(shape)
        values: list[Any]
        if dtype == torch.bool:
            values = [rng.random() < 0.5 for _ in range(count)]
        elif dtype.is_floating_point:
            scale = rng.choice([1.0, 3.0, 40.0])
            values = [round(rng.gauss(0, scale) * 64) / 64 for _ in range(count)]
            special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-4, -1e-4, 1e4, 0.5, -1.5, 2.5]
            if edges and self.chance(edges):
                for _ in range(min(count, 6)):
                    values[rng.randrange(count)] = rng.choice(special)
        else:
            info = torch.iinfo(dtype)
            low = max(info.min, -20)
            values = [rng.randint(low, min(info.max, 20)) for _ in range(count)]
            if edges and self.chance(edges):
                for _ in range(min(count, 6)):
                    values[rng.randrange(count)] = rng.choice([info.min, info.max, 0, 1, low])
        if positive:
            values = [abs(v) if v != 0 else 1 for v in values]
        return torch.tensor(values, dtype=dtype).reshape(list(shape))

    def floats(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Moderate values: for sums of products, whose infinities depend on their order."""
        values = [round(self.rng.gauss(0, 1) * 32) / 32 for _ in range(math.prod(shape))]
        tensor = torch.tensor(values, dtype=torch.float64).reshape(list(shape))
        return tensor.to(dtype) if dtype.is_floating_point else (tensor * 3).to(dtype)

    def indices(self, shape: Sequence[int], size: int, dtype: Any = torch.int64) -> torch.Tensor:
        values = [self.rng.randrange(size) for _ in range(math.prod(shape))]
        return torch.tensor(values, dtype=dtype).reshape(list(shape))

    def scalar(self, dtype: torch.dtype) -> int | float | bool:
        roll = self.rng.random()
        if roll < 0.1:
            return self.chance(0.5)
        if roll < 0.15 and dtype in (torch.int8, torch.uint8, torch.int16):
            return self.rng.choice([256, 300, 70000])  # Which the dtype wraps.
        if roll < 0.6:
            low = 0 if dtype == torch.uint8 else -6
            return self.rng.randint(low, 9)
        # Half of them are no float16's or bfloat16's.
        return self.rng.choice([0.5, -1.25, 2.0, 3.75, 0.0, -0.5, 0.1, -0.3, 0.7, 2.3, -1.7, 9.1])

    def dims(self, rank: int) -> list[int]:
        count = self.rng.randint(1, max(rank, 1)) if rank else 0
        chosen = self.rng.sample(range(rank), count)
        return [d - rank if self.chance(0.3) else d for d in chosen]

    def dim(self, rank: int) -> int:
        return self.rng.randrange(-max(rank, 1), max(rank, 1))


# ---- Families -------------------------------------------------------------------------------

UNARY_REAL = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
UNARY = [
    "abs",
    "bitwise_not",
    "ceil",
    "floor",
    "isinf",
    "isnan",
    "logical_not",
    "neg",
    "relu",
    "round",
    "sign",
    "trunc",
    "_conj_physical",
]
BINARY = [
    "atan2",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "div",
    "eq",
    "floor_divide",
    "fmod",
    "ge",
    "gt",
    "le",
    "logical_and",
    "logical_or",
    "logical_xor",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "ne",
    "pow",
    "remainder",
    "bitwise_left_shift",
    "bitwise_right_shift",
]


def unary(m: Maker) -> Call:
    return None, [m.tensor(m.shape(), m.dtype())], {}


def unary_real(m: Maker) -> Call:
    tensor = m.tensor(m.shape(), m.dtype([*FLOATS, *FLOATS, *ANY]))
    if tensor.is_floating_point() and m.chance(0.5):
        tensor = tensor / 50
    return None, [tensor], {}


def two(m: Maker, first: Any = None, second: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
    shape = m.shape()
    a = m.dtype(first or ANY)
    b = a if m.chance(0.6) else m.dtype(second or first or ANY)
    left, right = m.broadcast(shape), m.broadcast(shape)
    if m.chance(0.5):
        left = list(shape)
    return m.tensor(left, a), m.tensor(right, b)


def binary(m: Maker) -> Call:
    return None, list(two(m)), {}


def with_scalar(m: Maker) -> Call:
    dtype = m.dtype()
    return None, [m.tensor(m.shape(), dtype), m.scalar(dtype)], {}


def with_alpha(m: Maker) -> Call:
    a, b = two(m)
    is_real = a.is_floating_point() or b.is_floating_point()
    alpha = m.rng.choice([1, 1, 2, -3] + ([0.5, -1.25, 0.3] if is_real else []))
    return None, [a, b], {"alpha": alpha}


def scalar_with_alpha(m: Maker) -> Call:
    dtype = m.dtype()
    return None, [m.tensor(m.shape(), dtype), m.scalar(dtype), m.rng.choice([1, 1, 2, -3])], {}


def shift_scalar(m: Maker) -> Call:
    return None, [m.tensor(m.shape(), m.dtype(INTEGERS)), m.rng.randint(0, 9)], {}


def shift(m: Maker) -> Call:
    a, b = two(m, INTEGERS)
    return None, [a, b.clamp(0, 12)], {}


def where(m: Maker) -> Call:
    a, b = two(m)
    shape = list(torch.broadcast_shapes(a.shape, b.shape))
    return None, [m.tensor(m.broadcast(shape), torch.bool), a, b], {}


def clamp(m: Maker) -> Call:
    dtype = m.dtype(NUMBERS)
    low = m.scalar(dtype) if m.chance(0.8) else None
    high = m.scalar(dtype) if low is None or m.chance(0.7) else None
    if m.chance(0.1):
        low = math.nan
    elif m.chance(0.1):
        high = math.nan
    return None, [m.tensor(m.shape(), dtype), low, high], {}


def clamp_tensor(m: Maker) -> Call:
    a, b = two(m, NUMBERS)
    c = m.tensor(m.broadcast(list(a.shape)), m.dtype(NUMBERS))
    return None, [a, b, c if m.chance(0.7) else None], {}


def div_mode(m: Maker) -> Call:
    a, b = two(m)
    return None, [a, b], {"rounding_mode": m.rng.choice([None, "floor", "trunc"])}


def div_scalar_mode(m: Maker) -> Call:
    dtype = m.dtype()
    mode = m.rng.choice([None, "floor", "trunc"])
    return None, [m.tensor(m.shape(), dtype), m.scalar(dtype)], {"rounding_mode": mode}


def pow_scalar_tensor(m: Maker) -> Call:
    return None, [m.scalar(torch.int8), m.tensor(m.shape(), m.dtype())], {}


def elu(m: Maker) -> Call:
    tensor = m.tensor(m.shape(), m.dtype(FLOATS))
    return None, [tensor, m.rng.choice([1, 0.5, 2.0]), 1, m.rng.choice([1, 1.5])], {}


def gelu(m: Maker) -> Call:
    mode = m.rng.choice(["none", "tanh"])
    return None, [m.tensor(m.shape(), m.dtype(FLOATS), 0)], {"approximate": mode}


def to_real_scalar(m: Maker) -> Call:
    return None, [m.tensor(m.shape(), m.dtype(FLOATS)), m.rng.choice([0.01, 0.2, 1, 2])], {}


def round_decimals(m: Maker) -> Call:
    tensor = m.tensor(m.shape(), m.dtype([torch.float32, torch.float64])) * 1.37
    return None, [tensor], {"decimals": m.rng.randint(-2, 3)}


def hardtanh(m: Maker) -> Call:
    low = m.rng.choice([-1, 0, -2.5])
    return None, [m.tensor(m.shape(), m.dtype(FLOATS)), low, m.rng.choice([1, 6, 2.5])], {}


# Reductions.


def sum_dims(m: Maker) -> Call:
    kwargs: dict[str, Any] = {}
    if m.chance(0.3):
        kwargs["dtype"] = m.dtype([torch.float32, torch.float64, torch.int64])
    dtype = m.dtype()
    if kwargs.get("dtype") == torch.int64 and dtype.is_floating_point:
        tensor = m.floats(m.shape(), dtype)  # Each element is converted, so it must fit.
    else:
        # The least and the greatest int64 as floats cancel in an order of their own.
        edges = 0 if dtype == torch.int64 and kwargs else 0.1
        tensor = m.tensor(m.shape(), dtype, edges)
    dims = None if m.chance(0.2) else m.dims(tensor.dim())
    return None, [tensor, dims, m.chance(0.5)], kwargs


def mean_dims(m: Maker) -> Call:
    tensor = m.tensor(m.shape(), m.dtype(FLOATS), 0.1)
    kwargs = {"dtype": torch.float64} if m.chance(0.2) else {}
    return None, [tensor, None if m.chance(0.2) else m.dims(tensor.dim()), m.chance(0.5)], kwargs


def extreme_dims(m: Maker) -> Call:
    tensor = m.tensor(m.shape(), m.dtype())
    return None, [tensor, m.dims(tensor.dim()), m.chance(0.5)], {}


def distinct(m: Maker, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """No two alike, so that the index of an extreme is one."""
    count = math.prod(shape)
    if dtype == torch.bool or count > 100:
        dtype = torch.float32
    values = list(range(count))
    m.rng.shuffle(values)
    tensor = torch.tensor(values, dtype=torch.float64).reshape(list(shape))
    return (tensor / 4 - 3 if dtype.is_floating_point else tensor).to(dtype)


def extreme_index(m: Maker) -> Call:
    tensor = distinct(m, m.shape(), m.dtype(NUMBERS))
    if tensor.is_floating_point() and tensor.numel() and m.chance(0.2):
        tensor.view(-1)[m.rng.randrange(tensor.numel())] = math.nan
    return None, [tensor, None if m.chance(0.2) else m.dim(tensor.dim()), m.chance(0.5)], {}


def extreme_dim(m: Maker) -> Call:
    tensor = distinct(m, m.shape(), m.dtype(NUMBERS))
    if tensor.is_floating_point() and tensor.numel() and m.chance(0.2):
        tensor.view(-1)[m.rng.randrange(tensor.numel())] = math.nan
    return None, [tensor, m.dim(tensor.dim()), m.chance(0.5)], {}


def topk(m: Maker) -> Call:
    tensor = distinct(m, m.shape(), m.dtype(NUMBERS))
    dim = m.dim(tensor.dim())
    size = tensor.shape[dim] if tensor.dim() else 1
    return (
        None,
        [tensor, m.rng.randint(0 if tensor.dim() else 1, size), dim, m.chance(0.5), True],
        {},
    )


def truth_dim(m: Maker) -> Call:
    tensor = m.tensor(m.shape(), m.dtype())
    return None, [tensor, m.dim(tensor.dim()), m.chance(0.5)], {}


def truth_dims(m: Maker) -> Call:
    tensor = m.tensor(m.shape(), m.dtype())
    roll = m.rng.random()
    dims = None if roll < 0.2 else [] if roll < 0.35 else m.dims(tensor.dim())
    return None, [tensor, dims, m.chance(0.5)], {}


def prod_dim(m: Maker) -> Call:
    tensor = m.floats(m.shape(), m.dtype())
    return None, [tensor, m.dim(tensor.dim()), m.chance(0.5)], {}


def prod_all(m: Maker) -> Call:
    return None, [m.floats(m.shape(), m.dtype())], {}


def cumsum(m: Maker) -> Call:
    tensor = m.tensor(m.shape(), m.dtype(), 0.05)
    return None, [tensor, m.dim(tensor.dim())], {}


def variance(m: Maker) -> Call:
    tensor = m.floats(m.shape(), m.dtype(FLOATS))
    dims = None if m.chance(0.2) else m.dims(tensor.dim())
    kwargs = {"correction": m.rng.choice([0, 1, 2, None, 0.5]), "keepdim": m.chance(0.5)}
    return None, [tensor, dims], kwargs


def variance_unbiased(m: Maker) -> Call:
    tensor = m.floats(m.shape(), m.dtype(FLOATS))
    return None, [tensor, m.dims(tensor.dim()), m.chance(0.5), m.chance(0.5)], {}


# Norms and softmax.


def softmax(m: Maker) -> Call:
    tensor = m.tensor(m.shape(), m.dtype(FLOATS), 0.05)
    return None, [tensor, m.dim(tensor.dim()), False], {}


def maybe(m: Maker, make: Callable[[], torch.Tensor]) -> torch.Tensor | None:
    return make() if m.chance(0.7) else None


def layer_norm(m: Maker) -> Call:
    dtype = m.dtype(FLOATS)
    shape = m.shape(1)
    over = shape[m.rng.randrange(len(shape)) :]
    weight = maybe(m, lambda: m.floats(over, dtype))
    bias = maybe(m, lambda: m.floats(over, dtype))
    return None, [m.floats(shape, dtype), over, weight, bias, m.rng.choice([1e-5, 1e-2])], {}


def group_norm(m: Maker) -> Call:
    dtype = m.dtype(FLOATS)
    groups = m.rng.randint(1, 3)
    n, c, hw = m.rng.randint(1, 3), groups * m.rng.randint(1, 3), m.rng.randint(2, 6)
    weight = maybe(m, lambda: m.floats([c], dtype))
    bias = maybe(m, lambda: m.floats([c], dtype))
    return None, [m.floats([n, c, hw], dtype), weight, bias, n, c, hw, groups, 1e-5], {}


def batch_norm_inference(m: Maker) -> Call:
    dtype = m.dtype([torch.float32, torch.float64])
    shape = m.shape(2)
    c = shape[1]
    weight = maybe(m, lambda: m.floats([c], dtype))
    bias = maybe(m, lambda: m.floats([c], dtype))
    mean, var = m.floats([c], dtype), m.floats([c], dtype).abs() + 0.1
    return None, [m.floats(shape, dtype), weight, bias, mean, var, 0.1, 1e-3], {}


def batch_norm(m: Maker) -> Call:
    dtype = m.dtype([torch.float32, torch.float64])
    shape = m.shape(2, 4, 0)
    c = shape[1]
    weight = maybe(m, lambda: m.floats([c], dtype))
    bias = maybe(m, lambda: m.floats([c], dtype))
    mean, var = m.floats([c], dtype), m.floats([c], dtype).abs() + 0.1
    tensor = m.floats(shape, dtype)
    return None, [tensor, weight, bias, mean, var, m.chance(0.5), 0.1, 1e-3], {}


def batch_norm_without_statistics(m: Maker) -> Call:
    _, args, _ = batch_norm(m)
    return None, [*args[:3], True, 0.1, 1e-3], {}


# Convolutions, poolings.


def spatial(m: Maker, dims: int, low: int, high: int) -> list[int]:
    return [m.rng.randint(low, high) for _ in range(dims)]


def convolution(m: Maker) -> Call:
    dims = m.rng.choice([1, 2, 2, 3])
    groups = m.rng.choice([1, 1, 1, 2, 3])
    ci, co = groups * m.rng.randint(1, 2), groups * m.rng.randint(1, 2)
    dtype = m.dtype(FLOATS)
    transposed = m.chance(0.35)
    kernel = spatial(m, dims, 1, 3)
    size = spatial(m, dims, 3, {1: 12, 2: 7, 3: 4}[dims])
    dilation = spatial(m, dims, 1, 2)
    stride = spatial(m, dims, 1, 3)
    pad = spatial(m, dims, 0, 2)
    extra = [m.rng.randrange(max(s, d)) for s, d in zip(stride, dilation, strict=True)]
    weight = [ci, co // groups, *kernel] if transposed else [co, ci // groups, *kernel]
    bias = maybe(m, lambda: m.floats([co], dtype))
    batch = [] if m.chance(0.1) else [m.rng.randint(1, 2)]
    tensor = m.floats([*batch, ci, *size], dtype)
    if not batch:
        return (
            None,
            [
                tensor.unsqueeze(0),
                m.floats(weight, dtype),
                bias,
                stride,
                pad,
                dilation,
                transposed,
                extra if transposed else [0] * dims,
                groups,
            ],
            {},
        )
    return (
        None,
        [
            tensor,
            m.floats(weight, dtype),
            bias,
            stride,
            pad,
            dilation,
            transposed,
            extra if transposed else [0] * dims,
            groups,
        ],
        {},
    )


def convolution_backward(m: Maker) -> Call:
    _, args, _ = convolution(m)
    tensor, weight, bias = args[0], args[1], args[2]
    if tensor.dtype not in (torch.float32, torch.float64):
        tensor, weight = tensor.float(), weight.float()
    try:
        out = torch.ops.aten.convolution.default(tensor, weight, None, *args[3:])
    except RuntimeError:
        return None, [], {}
    sizes = [out.shape[1]]
    mask = [True, True, bias is not None]
    return (
        None,
        [m.floats(list(out.shape), tensor.dtype), tensor, weight, sizes, *args[3:], mask],
        {},
    )


def pool_input(m: Maker, dims: int, make: Callable[..., torch.Tensor], dtypes: Any = FLOATS) -> Any:
    lead = [m.rng.randint(1, 2), m.rng.randint(1, 3)] if m.chance(0.8) else [m.rng.randint(1, 3)]
    return make([*lead, *spatial(m, dims, 3, 9 if dims == 2 else 5)], m.dtype(dtypes))


def max_pool(dims: int) -> Callable[[Maker], Call]:
    def make(m: Maker) -> Call:
        tensor = pool_input(m, dims, lambda s, d: distinct(m, s, d))
        kernel = spatial(m, dims, 1, 3)
        pad = [m.rng.randint(0, k // 2) for k in kernel]
        stride = spatial(m, dims, 1, 3) if m.chance(0.8) else []
        return None, [tensor, kernel, stride, pad, spatial(m, dims, 1, 2), m.chance(0.5)], {}

    return make


def avg_pool(dims: int) -> Callable[[Maker], Call]:
    def make(m: Maker) -> Call:
        tensor = pool_input(m, dims, m.floats)
        kernel = spatial(m, dims, 1, 3)
        pad = [m.rng.randint(0, k // 2) for k in kernel]
        stride = spatial(m, dims, 1, 3) if m.chance(0.8) else []
        divisor = m.rng.choice([None, None, 2, 5])
        return None, [tensor, kernel, stride, pad, m.chance(0.5), m.chance(0.5), divisor], {}

    return make


def max_pool_backward(m: Maker) -> Call:
    _, args, _ = max_pool(2)(m)
    if args[0].dtype not in (torch.float32, torch.float64):
        return None, [], {}
    try:
        out, indices = torch.ops.aten.max_pool2d_with_indices.default(*args)
    except RuntimeError:
        return None, [], {}
    return None, [m.floats(list(out.shape), args[0].dtype), *args, indices], {}


def adaptive(dims: int, is_max: bool) -> Callable[[Maker], Call]:
    def make(m: Maker) -> Call:
        values = (lambda s, d: distinct(m, s, d)) if is_max else m.floats
        return None, [pool_input(m, dims, values), spatial(m, dims, 1, 6)], {}

    return make


def reflection(dims: int, is_replication: bool) -> Callable[[Maker], Call]:
    def make(m: Maker) -> Call:
        lead = [m.rng.randint(1, 2) for _ in range(m.rng.randint(1, 2))]
        size = spatial(m, dims, 3, 5)
        tensor = m.tensor([*lead, *size], m.dtype(FLOATS))
        pads = []
        for n in reversed(size):
            most = 4 if is_replication else n - 1
            pads += [m.rng.randint(-1, most), m.rng.randint(-1, most)]
        return None, [tensor, pads], {}

    return make


# Resampling.


def upsample(is_linear: bool) -> Callable[[Maker], Call]:
    def make(m: Maker) -> Call:
        dtype = m.dtype(FLOATS if is_linear else [*FLOATS, torch.uint8])
        tensor = m.tensor(
            [m.rng.randint(1, 2), m.rng.randint(1, 3), *spatial(m, 2, 1, 6)], dtype, 0
        )
        size: list[int] | None = spatial(m, 2, 1, 9)
        scales = None
        if m.chance(0.5):
            size, scales = None, [m.rng.choice([0.5, 1.0, 1.5, 2.0, 2.3, 3.0]) for _ in range(2)]
        args: list[Any] = [tensor, size]
        if is_linear:
            args.append(m.chance(0.5))
        return None, [*args, scales], {}

    return make


def upsample_smooth(m: Maker) -> Call:
    dtype = m.dtype([torch.float32, torch.float64])
    tensor = m.tensor([m.rng.randint(1, 2), m.rng.randint(1, 3), *spatial(m, 2, 2, 9)], dtype, 0)
    # To a width of 1 PyTorch interpolates along the width alone.
    return None, [tensor, spatial(m, 2, 2, 9), m.chance(0.5), None, None], {}


def grid_sampler(m: Maker) -> Call:
    dtype = m.dtype([torch.float32, torch.float32, torch.float64])
    n, h, w = m.rng.randint(1, 2), m.rng.randint(1, 4), m.rng.randint(1, 4)
    tensor = m.tensor([n, m.rng.randint(1, 3), *spatial(m, 2, 1, 6)], dtype, 0)
    values = [m.rng.uniform(-1.6, 1.6) for _ in range(n * h * w * 2)]
    grid = torch.tensor(values, dtype=dtype).reshape(n, h, w, 2)
    return None, [tensor, grid, m.rng.randrange(3), m.rng.randrange(3), m.chance(0.5)], {}


# Products.


def mm(m: Maker) -> Call:
    dtype = m.dtype(NUMBERS)
    a, b, c = (m.rng.choice([0, 1, 2, 3, 5, 9, 17]) for _ in range(3))
    return None, [m.floats([a, b], dtype), m.floats([b, c], dtype)], {}


def bmm(m: Maker) -> Call:
    dtype = m.dtype(NUMBERS)
    n, a, b, c = (m.rng.choice([0, 1, 2, 3, 5]) for _ in range(4))
    return None, [m.floats([n, a, b], dtype), m.floats([n, b, c], dtype)], {}


def addmm(m: Maker) -> Call:
    dtype = m.dtype(NUMBERS)
    a, b, c = (m.rng.choice([0, 1, 2, 3, 5, 9]) for _ in range(3))
    bias = m.floats(m.broadcast([a, c]), dtype)
    scale = [1, 2, 0] if not dtype.is_floating_point else [1, 0.5, 2, 0]
    kwargs = {"beta": m.rng.choice(scale), "alpha": m.rng.choice(scale)}
    return None, [bias, m.floats([a, b], dtype), m.floats([b, c], dtype)], kwargs


def linear(m: Maker) -> Call:
    dtype = m.dtype(FLOATS)
    lead = [m.rng.randint(1, 4) for _ in range(m.rng.randint(0, 3))]
    i, o = m.rng.choice([1, 3, 8, 17]), m.rng.choice([1, 2, 7])
    bias = maybe(m, lambda: m.floats([o], dtype))
    return None, [m.floats([*lead, i], dtype), m.floats([o, i], dtype), bias], {}


def cdist(m: Maker) -> Call:
    dtype = m.dtype([torch.float32, torch.float64])
    lead = [m.rng.randint(1, 2) for _ in range(m.rng.randint(0, 2))]
    p, r, w = m.rng.randint(1, 5), m.rng.randint(1, 5), m.rng.randint(1, 6)
    norm = m.rng.choice([0.0, 1.0, 2.0, 3.5, math.inf])
    return (
        None,
        [
            m.floats([*lead, p, w], dtype),
            m.floats([*lead, r, w], dtype),
            norm,
            m.rng.choice([None, 0, 2]),
        ],
        {},
    )


def pdist(m: Maker) -> Call:
    dtype = m.dtype([torch.float32, torch.float64])
    norm = m.rng.choice([0.0, 1.0, 2.0, 3.5, math.inf])
    return None, [m.floats([m.rng.randint(0, 7), m.rng.randint(1, 5)], dtype), norm], {}


# Indices.


def embedding(m: Maker) -> Call:
    rows, width = m.rng.randint(1, 9), m.rng.randint(1, 9)
    index = m.indices(m.shape(0, 3), rows, m.dtype([torch.int64, torch.int32]))
    return None, [m.tensor([rows, width], m.dtype(FLOATS)), index], {}


def embedding_bag(m: Maker) -> Call:
    rows, width, n = m.rng.randint(1, 9), m.rng.randint(1, 5), m.rng.randint(0, 12)
    offsets = [0, *sorted(m.rng.randint(0, n) for _ in range(m.rng.randint(0, 3)))]
    has_last = m.chance(0.4)
    if has_last:
        offsets.append(n)
    mode = m.rng.randrange(3)
    dtype = m.dtype([torch.float32, torch.float64])
    factors = m.floats([n], dtype) if mode == 0 and m.chance(0.5) else None
    padding = m.rng.randrange(rows) if m.chance(0.3) else -1
    kind = m.dtype([torch.int64, torch.int32])
    return (
        None,
        [
            m.floats([rows, width], dtype),
            m.indices([n], rows, kind),
            torch.tensor(offsets, dtype=kind),
            False,
            mode,
            False,
            factors,
            has_last,
            padding,
        ],
        {},
    )


def masked_fill(m: Maker) -> Call:
    shape = m.shape()
    dtype = m.dtype()
    value = m.scalar(dtype)
    return None, [m.tensor(shape, dtype), m.tensor(m.broadcast(shape), torch.bool), value], {}


def masked_select(m: Maker) -> Call:
    shape = m.shape()
    tensor = m.tensor(m.broadcast(shape), m.dtype())
    return None, [tensor, m.tensor(m.broadcast(shape), torch.bool)], {}


def masked_scatter(m: Maker) -> Call:
    shape = m.shape(1)
    dtype = m.dtype()
    mask = m.tensor(m.broadcast(shape), torch.bool)
    return None, [m.tensor(shape, dtype), mask, m.tensor([math.prod(shape) + 1], dtype)], {}


def nonzero(m: Maker) -> Call:
    return None, [m.tensor(m.shape(), m.dtype())], {}


def scatter_shapes(m: Maker) -> tuple[list[int], list[int], int]:
    shape = m.shape(1, 3, 0)
    dim = m.rng.randrange(len(shape))
    index = [m.rng.randint(0 if m.chance(0.1) else 1, n) for n in shape]
    index[dim] = m.rng.randint(1, shape[dim])
    return shape, index, dim


def scatter(m: Maker, is_add: bool = False) -> Call:
    shape, index_shape, dim = scatter_shapes(m)
    dtype = m.dtype()
    # No place twice: which of two writes wins is not defined.
    if is_add:
        index = m.indices(index_shape, shape[dim])
    else:
        index = torch.argsort(torch.rand(shape), dim=dim)[tuple(slice(0, n) for n in index_shape)]
    return (
        None,
        [
            m.tensor(shape, dtype, 0),
            dim,
            index.contiguous(),
            m.tensor([n + m.rng.randint(0, 1) for n in index_shape], dtype, 0),
        ],
        {},
    )


def scatter_value(m: Maker) -> Call:
    _, args, _ = scatter(m)
    return None, [*args[:3], m.scalar(args[0].dtype)], {}


def gather(m: Maker) -> Call:
    shape, index_shape, dim = scatter_shapes(m)
    index = m.indices(index_shape, shape[dim])
    return None, [m.tensor(shape, m.dtype()), dim, index], {}


def index_select(m: Maker) -> Call:
    shape = m.shape(1, 4, 0)
    dim = m.dim(len(shape))
    index = m.indices(m.shape(1, 1), shape[dim], m.dtype([torch.int64, torch.int32]))
    return None, [m.tensor(shape, m.dtype()), dim, index[:20]], {}


def index_lists(m: Maker) -> tuple[torch.Tensor, list[torch.Tensor | None]]:
    shape = m.shape(1, 4, 0)
    tensor = m.tensor(shape, m.dtype())
    common = m.shape(0, 2)
    if math.prod(common) > 20:
        common = [3]
    indices: list[torch.Tensor | None] = []
    d = 0
    while d < len(shape):
        roll = m.rng.random()
        if roll < 0.45:
            index = m.indices(m.broadcast(common) if m.chance(0.3) else common, shape[d])
            indices.append(index - shape[d] if m.chance(0.3) else index)
        elif roll < 0.55 and not any(i is not None for i in indices):
            mask = m.tensor([shape[d]], torch.bool)
            indices.append(mask)
            common = [int(mask.sum())]
        else:
            indices.append(None)
        d += 1
        if m.chance(0.2):
            break
    if all(i is None for i in indices):
        indices[-1] = m.indices(common, shape[len(indices) - 1])
    return tensor, indices


def index(m: Maker) -> Call:
    tensor, indices = index_lists(m)
    return None, [tensor, indices], {}


def index_put(m: Maker) -> Call:
    tensor, indices = index_lists(m)
    try:
        shape = list(tensor[tuple(slice(None) if i is None else i for i in indices)].shape)
    except (IndexError, RuntimeError):
        return None, [], {}
    accumulate = m.chance(0.5)
    values = m.tensor(m.broadcast(shape), tensor.dtype, 0)
    if not accumulate and values.numel() > 1:
        # Which of two writes to one place wins is not defined.
        values = m.tensor([1] * values.dim(), tensor.dtype, 0)
    return None, [tensor, indices, values, accumulate], {}


# Moving elements.


def cat(m: Maker) -> Call:
    shape = m.shape(1, 4)
    d = m.rng.randrange(len(shape))
    dtype = m.dtype()
    tensors = []
    for _ in range(m.rng.randint(1, 4)):
        one = list(shape)
        one[d] = m.rng.randint(0, 4)
        tensors.append(m.tensor(one, dtype if m.chance(0.85) else m.dtype()))
    if m.chance(0.1):
        tensors.insert(0, m.tensor([0], dtype))
    return None, [tensors, d - len(shape) if m.chance(0.3) else d], {}


def stack(m: Maker) -> Call:
    shape = m.shape(0, 3)
    dtype = m.dtype()
    tensors = [m.tensor(shape, dtype) for _ in range(m.rng.randint(1, 4))]
    return None, [tensors, m.dim(len(shape) + 1)], {}


def constant_pad(m: Maker) -> Call:
    shape = m.shape(1)
    dtype = m.dtype()
    pads = [m.rng.randint(-1, 3) for _ in range(2 * m.rng.randint(0, len(shape)))]
    return None, [m.tensor(shape, dtype), pads, m.scalar(dtype)], {}


def slicing(m: Maker) -> tuple[list[int], int, int | None, int | None, int]:
    shape = m.shape(1)
    bounds = [None if m.chance(0.2) else m.rng.randint(-8, 9) for _ in range(2)]
    return shape, m.dim(len(shape)), bounds[0], bounds[1], m.rng.randint(1, 3)


def slice_copy(m: Maker) -> Call:
    shape, *rest = slicing(m)
    return None, [m.tensor(shape, m.dtype()), *rest], {}


def slice_scatter(m: Maker) -> Call:
    shape, *rest = slicing(m)
    tensor = m.tensor(shape, m.dtype())
    part = torch.ops.aten.slice.Tensor(tensor, *rest)
    return None, [tensor, m.tensor(list(part.shape), tensor.dtype), *rest], {}


def to_copy(m: Maker) -> Call:
    if m.chance(0.1):
        big = [0, 1, 2**31, 2**63, 2**63 + 2**42, 2**64 - 2**42]
        values = torch.tensor([m.rng.choice(big) for _ in range(5)], dtype=torch.uint64)
        floats = [torch.float32, torch.float64, torch.bfloat16]
        if m.chance(0.5):
            return None, [values], {"dtype": m.dtype(floats)}
        return None, [values.to(m.dtype(floats[:2]))], {"dtype": torch.uint64}
    return None, [m.tensor(m.shape(), m.dtype(), 0)], {"dtype": m.dtype()}


def repeat(m: Maker) -> Call:
    shape = m.shape(0, 3)
    repeats = [m.rng.randint(0 if m.chance(0.1) else 1, 3) for _ in shape]
    if m.chance(0.3):
        repeats.insert(0, m.rng.randint(1, 3))
    return None, [m.tensor(shape, m.dtype()), repeats], {}


def roll(m: Maker) -> Call:
    shape = m.shape()
    dims = m.rng.sample(range(len(shape)), m.rng.randint(0, len(shape)))
    shifts = [m.rng.randint(-9, 9) for _ in dims] or [m.rng.randint(-9, 9)]
    return None, [m.tensor(shape, m.dtype()), shifts, dims], {}


def as_strided(m: Maker) -> Call:
    tensor = m.tensor([m.rng.randint(40, 60)], m.dtype())
    size = spatial(m, m.rng.randint(0, 3), 1, 3)
    return None, [tensor, size, [m.rng.randint(0, 4) for _ in size], m.rng.choice([None, 0, 5])], {}


def tril(m: Maker) -> Call:
    return None, [m.tensor(m.shape(2), m.dtype()), m.rng.randint(-4, 4)], {}


def diagonal(m: Maker) -> Call:
    shape = m.shape(2)
    a, b = m.rng.sample(range(len(shape)), 2)
    return None, [m.tensor(shape, m.dtype()), m.rng.randint(-3, 3), a, b - len(shape)], {}


def pixel_shuffle(m: Maker) -> Call:
    r = m.rng.randint(1, 3)
    lead = [m.rng.randint(1, 2) for _ in range(m.rng.randint(0, 2))]
    return (
        None,
        [m.tensor([*lead, r * r * m.rng.randint(1, 2), *spatial(m, 2, 1, 4)], m.dtype()), r],
        {},
    )


def pixel_unshuffle(m: Maker) -> Call:
    r = m.rng.randint(1, 3)
    lead = [m.rng.randint(1, 2) for _ in range(m.rng.randint(1, 2))]
    return None, [m.tensor([*lead, *(r * n for n in spatial(m, 2, 1, 3))], m.dtype()), r], {}


def repeat_interleave(m: Maker) -> Call:
    return None, [m.indices([m.rng.randint(0, 9)], 5, m.dtype([torch.int64, torch.int32]))], {}


def glu(m: Maker) -> Call:
    shape = m.shape(1)
    dim = m.dim(len(shape))
    shape[dim] *= 2
    return None, [m.tensor(shape, m.dtype(FLOATS)), dim], {}


def logit(m: Maker) -> Call:
    tensor = torch.rand(m.shape(), dtype=torch.float64).to(m.dtype(FLOATS))
    return None, [tensor, m.rng.choice([None, 0.1, 1e-3])], {}


def arange(m: Maker) -> Call:
    step = m.rng.choice([1, 2, -3, 0.5, -0.25, 3])
    start = m.rng.choice([0, 5, -7, 1.5])
    count = m.rng.randint(0, 20)
    dtype = m.dtype([torch.int64, torch.float32, torch.float64, torch.int32])
    if not dtype.is_floating_point:
        start, step = int(start), int(step) or 1
    out = torch.ops.aten.arange.start_step
    return out, [start, start + step * count, step], {"dtype": dtype}


def arange_to(m: Maker) -> Call:
    dtype = m.dtype([torch.int64, torch.float32, torch.float64, torch.int32])
    end = m.rng.choice([0, 1, 7, 30] if not dtype.is_floating_point else [0, 3, 7.5, 20.25])
    return torch.ops.aten.arange.default, [end], {"dtype": dtype}


def sizes_only(m: Maker) -> Call:
    return None, [m.shape()], {"dtype": m.dtype()}


def number_only(m: Maker) -> Call:
    dtype = m.dtype()
    return None, [m.scalar(dtype)], {"dtype": dtype}


def full(m: Maker) -> Call:
    dtype = m.dtype()
    return None, [m.shape(), m.scalar(dtype)], {"dtype": dtype}


def full_like(m: Maker) -> Call:
    dtype = m.dtype()
    return None, [m.tensor(m.shape(), m.dtype()), m.scalar(dtype)], {"dtype": dtype}


def fill_tensor(m: Maker) -> Call:
    return None, [m.tensor(m.shape(), m.dtype()), m.tensor([], m.dtype(), 0)], {}


def fft_real(m: Maker) -> Call:
    shape = m.shape(1, 3, 0)
    dims = m.rng.sample(range(len(shape)), m.rng.randint(1, len(shape)))
    dtype = m.dtype([torch.float32, torch.float64])
    return None, [m.floats(shape, dtype), dims, m.rng.randrange(3), m.chance(0.6)], {}


def complex_tensor(m: Maker, shape: Sequence[int]) -> torch.Tensor:
    dtype = m.dtype([torch.float32, torch.float64])
    return torch.complex(m.floats(shape, dtype), m.floats(shape, dtype))


def fft_back(m: Maker) -> Call:
    shape = m.shape(1, 3, 0)
    dims = m.rng.sample(range(len(shape)), m.rng.randint(1, len(shape)))
    size = m.rng.choice([2 * shape[dims[-1]] - 2, 2 * shape[dims[-1]] - 1])
    if size < 1:
        size = 1
    return None, [complex_tensor(m, shape), dims, m.rng.randrange(3), size], {}


def fft_complex(m: Maker) -> Call:
    shape = m.shape(1, 3, 0)
    dims = m.rng.sample(range(len(shape)), m.rng.randint(1, len(shape)))
    return None, [complex_tensor(m, shape), dims, m.rng.randrange(3), m.chance(0.5)], {}


def view_as_real(m: Maker) -> Call:
    return None, [complex_tensor(m, m.shape(0, 3))], {}


# Quantized operators: PyTorch's decomposed ones, or ExecuTorch's definitions of its own.


def quantized_op(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.quantized_decomposed, packet), overload or "default")


QUANTIZED = [
    (torch.int8, -128, 127),
    (torch.uint8, 0, 255),
    (torch.int8, -127, 127),
    (torch.int32, -1000, 1000),
]
REAL = [torch.float32, torch.float32, torch.float16, torch.bfloat16]


def quantize_per_tensor(m: Maker, by_tensors: bool = False) -> Call:
    dtype, low, high = m.rng.choice(QUANTIZED)
    tensor = m.tensor(m.shape(), torch.float32, 0)
    scale, zero = m.rng.choice([0.02, 0.1, 0.37, 1.5]), m.rng.randint(low // 2, high // 2)
    if by_tensors:
        return (
            quantized_op("quantize_per_tensor.tensor"),
            [tensor, torch.tensor([scale]), torch.tensor([zero]), low, high, dtype],
            {},
        )
    return quantized_op("quantize_per_tensor"), [tensor, scale, zero, low, high, dtype], {}


def dequantize_per_tensor(m: Maker, by_tensors: bool = False) -> Call:
    dtype, low, high = m.rng.choice(QUANTIZED)
    tensor = m.tensor(m.shape(), dtype, 0)
    scale, zero = m.rng.choice([0.02, 0.1, 0.37, 1.5]), m.rng.randint(low // 2, high // 2)
    if by_tensors:
        return (
            quantized_op("dequantize_per_tensor.tensor"),
            [tensor, torch.tensor([scale]), torch.tensor([zero]), low, high, dtype],
            {},
        )
    return quantized_op("dequantize_per_tensor"), [tensor, scale, zero, low, high, dtype], {}


def per_channel(m: Maker) -> tuple[list[int], int, torch.Tensor, torch.Tensor, Any]:
    shape = m.shape(1, 4, 0)
    axis = m.rng.randrange(len(shape))
    dtype, low, high = m.rng.choice(QUANTIZED)
    scales = torch.rand(shape[axis], dtype=m.dtype([torch.float32, torch.float64])) + 0.05
    zeros = m.indices([shape[axis]], 20) - (10 if low < 0 else 0)
    return shape, axis, scales, zeros, (low, high, dtype)


def quantize_per_channel(m: Maker) -> Call:
    shape, axis, scales, zeros, (low, high, dtype) = per_channel(m)
    return (
        quantized_op("quantize_per_channel"),
        [m.tensor(shape, torch.float32, 0), scales, zeros, axis, low, high, dtype],
        {},
    )


def dequantize_per_channel(m: Maker) -> Call:
    shape, axis, scales, zeros, (low, high, dtype) = per_channel(m)
    return (
        quantized_op("dequantize_per_channel"),
        [
            m.tensor(shape, dtype, 0),
            scales.float(),
            zeros if m.chance(0.7) else None,
            axis,
            low,
            high,
            dtype,
        ],
        {},
    )


def choose_for_tensor(m: Maker) -> Call:
    dtype, low, high = m.rng.choice(QUANTIZED[:3])
    tensor = m.tensor(m.shape(0, 4, 0), torch.float32, 0)
    return quantized_op("choose_qparams.tensor"), [tensor, low, high, 1.2e-7, dtype], {}


def choose_per_token(m: Maker) -> Call:
    tensor = m.tensor(m.shape(1, 3, 0), torch.float32, 0)
    return quantized_op("choose_qparams_per_token_asymmetric"), [tensor, torch.int8], {}


def per_token(m: Maker) -> tuple[list[int], torch.Tensor, torch.Tensor]:
    shape = m.shape(1, 3, 0)
    rows = [*shape[:-1], 1]
    dtype = m.dtype([torch.float32, torch.float64])
    return shape, torch.rand(rows, dtype=dtype) + 0.05, m.indices(rows, 20) - 10


def quantize_per_token(m: Maker) -> Call:
    shape, scales, zeros = per_token(m)
    return (
        quantized_op("quantize_per_token"),
        [m.tensor(shape, torch.float32, 0), scales, zeros, -128, 127, torch.int8],
        {},
    )


def dequantize_per_token(m: Maker) -> Call:
    shape, scales, zeros = per_token(m)
    return (
        quantized_op("dequantize_per_token"),
        [m.tensor(shape, torch.int8, 0), scales, zeros, -128, 127, torch.int8, torch.float32],
        {},
    )


def quantized_embedding(name: str, bits: int, with_dtype: bool) -> Callable[[Maker], Call]:
    def make(m: Maker) -> Call:
        rows, width = m.rng.randint(1, 9), m.rng.choice([4, 8, 16])
        low, high = {8: (-128, 127), 4: (-8, 7), 2: (-2, 1)}[bits]
        dtype = torch.int8 if bits == 8 else torch.uint8
        info = torch.iinfo(dtype)
        values = [m.rng.randint(info.min, info.max) for _ in range(rows * width)]
        weight = torch.tensor(values, dtype=dtype).reshape(rows, width)
        groups = m.rng.choice([1, 2, 4])
        shape = [rows] if groups == 1 and m.chance(0.5) else [rows, groups]
        scales = torch.rand(shape) + 0.05
        zeros = m.floats(shape, torch.float32).round() if m.chance(0.5) else None
        args = [weight, scales, zeros, low, high, m.indices(m.shape(0, 2), rows)]
        if with_dtype:
            return quantized_op(name + ".dtype"), args, {"dtype": torch.float32}
        return quantized_op(name), args, {}

    return make


# ExecuTorch's operators for language models.


def attention(m: Maker, with_cache: bool) -> Call:
    batch, heads = m.rng.randint(1, 2), m.rng.randint(1, 2)
    queries, start, width = m.rng.randint(1, 3), m.rng.randint(0, 4), m.rng.choice([4, 8])
    keys = start + queries + m.rng.randint(0, 3)
    query = m.floats([batch, queries, heads * m.rng.randint(1, 2), width], torch.float32)
    cache = [m.floats([batch, keys, heads, width], torch.float32) for _ in range(2)]
    causal = m.chance(0.6)
    mask = None
    if not causal and m.chance(0.5):
        mask = m.floats([queries, keys if not with_cache else start + queries], torch.float32)
        if with_cache:
            mask = None
    scale = m.rng.choice([None, 0.5])
    if with_cache:
        new = [m.floats([batch, queries, heads, width], torch.float32) for _ in range(2)]
        return (
            torch.ops.llama.sdpa_with_kv_cache.default,
            [query, *new, *cache, start, queries, mask, 0.0, causal, scale],
            {},
        )
    return torch.ops.llama.custom_sdpa.default, [query, *cache, start, mask, 0.0, causal, scale], {}


def update_cache(m: Maker) -> Call:
    batch, heads, width = m.rng.randint(1, 2), m.rng.randint(1, 3), m.rng.randint(1, 4)
    n, start = m.rng.randint(1, 3), m.rng.randint(0, 3)
    value = m.floats([batch, n, heads, width], torch.float32)
    cache = m.floats([batch, start + n + m.rng.randint(0, 2), heads, width], torch.float32)
    return torch.ops.llama.update_cache.default, [value, cache, start], {}


def update_cache_with_indices(m: Maker) -> Call:
    _, (value, cache, _), _ = update_cache(m)
    rows = [m.rng.sample(range(cache.shape[1]), value.shape[1]) for _ in range(value.shape[0])]
    return (
        torch.ops.llama.update_cache_with_indices.default,
        [value, cache, 0, torch.tensor(rows)],
        {},
    )


def hadamard(m: Maker) -> Call:
    n = m.rng.choice([1, 2, 4, 8, 32, 28, 56, 112])
    lead = [m.rng.randint(1, 3) for _ in range(m.rng.randint(0, 2))]
    return (
        torch.ops.llama.fast_hadamard_transform.default,
        [m.floats([*lead, n], torch.float32)],
        {},
    )


def expand(m: Maker) -> Call:
    shape = m.shape()
    own = m.broadcast(shape)
    wanted = [
        -1 if m.chance(0.2) and i >= len(shape) - len(own) else n for i, n in enumerate(shape)
    ]
    return None, [m.tensor(own, m.dtype()), wanted], {}


def permute(m: Maker) -> Call:
    shape = m.shape()
    dims = list(range(len(shape)))
    m.rng.shuffle(dims)
    return None, [m.tensor(shape, m.dtype()), dims], {}


def view(m: Maker) -> Call:
    shape = m.shape()
    factors = [n for n in shape if m.chance(0.7)] or [1]
    rest = math.prod(shape) // max(math.prod(factors), 1)
    wanted = [*factors, rest]
    m.rng.shuffle(wanted)
    if math.prod(shape) and m.chance(0.4):
        wanted[m.rng.randrange(len(wanted))] = -1
    return None, [m.tensor(shape, m.dtype()), wanted], {}


def with_dim(m: Maker) -> Call:
    shape = m.shape(1)
    return None, [m.tensor(shape, m.dtype()), m.dim(len(shape))], {}


def unsqueeze(m: Maker) -> Call:
    shape = m.shape()
    return None, [m.tensor(shape, m.dtype()), m.dim(len(shape) + 1)], {}


def select(m: Maker) -> Call:
    shape = m.shape(1, 4, 0)
    dim = m.dim(len(shape))
    return None, [m.tensor(shape, m.dtype()), dim, m.rng.randrange(-shape[dim], shape[dim])], {}


def select_scatter(m: Maker) -> Call:
    _, (tensor, dim, place), _ = select(m)
    part = tensor.select(dim, place)
    return None, [tensor, m.tensor(list(part.shape), tensor.dtype), dim, place], {}


def several_dims(m: Maker) -> Call:
    shape = m.shape()
    return None, [m.tensor(shape, m.dtype()), m.dims(len(shape))], {}


def copy(m: Maker) -> Call:
    shape = m.shape()
    dtype = m.dtype()
    source = m.dtype([dtype, dtype, torch.int32, torch.bool])
    return None, [m.tensor(shape, dtype), m.tensor(m.broadcast(shape), source, 0)], {}


def mean_all(m: Maker) -> Call:
    return None, [m.tensor(m.shape(), m.dtype(FLOATS), 0.1)], {}


def split_sizes(m: Maker) -> Call:
    shape = m.shape(1)
    dim = m.rng.randrange(len(shape))
    cuts = sorted(m.rng.randint(0, shape[dim]) for _ in range(m.rng.randint(0, 3)))
    edges = [0, *cuts, shape[dim]]
    sizes = [b - a for a, b in itertools.pairwise(edges)]
    return None, [m.tensor(shape, m.dtype()), sizes, dim], {}


def transpose(m: Maker) -> Call:
    shape = m.shape(1)
    return None, [m.tensor(shape, m.dtype()), m.dim(len(shape)), m.dim(len(shape))], {}


def unfold(m: Maker) -> Call:
    shape = m.shape(1, 3, 0)
    dim = m.dim(len(shape))
    size = m.rng.randint(0 if m.chance(0.1) else 1, shape[dim])
    return None, [m.tensor(shape, m.dtype()), dim, size, m.rng.randint(1, 3)], {}


def narrow(m: Maker) -> Call:
    shape = m.shape(1)
    dim = m.dim(len(shape))
    start = m.rng.randint(0, shape[dim])
    return None, [m.tensor(shape, m.dtype()), dim, start, m.rng.randint(0, shape[dim] - start)], {}


def split(m: Maker) -> Call:
    shape = m.shape(1)
    return None, [m.tensor(shape, m.dtype()), m.rng.randint(1, 4), m.dim(len(shape))], {}


def t(m: Maker) -> Call:
    return None, [m.tensor(m.shape(0, 2), m.dtype())], {}


GENERATORS: dict[str, Callable[[Maker], Call]] = {
    **{f"aten::{name}.out": unary for name in UNARY},
    **{f"aten::{name}.out": unary_real for name in UNARY_REAL},
    **{f"aten::{name}.Tensor_out": binary for name in BINARY},
    **{f"aten::{name}.out": binary for name in BINARY},
    **{f"aten::{name}.Scalar_out": with_scalar for name in BINARY},
    "aten::pow.Tensor_Tensor_out": binary,
    "aten::pow.Tensor_Scalar_out": with_scalar,
    "aten::pow.Scalar_out": pow_scalar_tensor,
    "aten::bitwise_left_shift.Tensor_out": shift,
    "aten::bitwise_right_shift.Tensor_out": shift,
    "aten::bitwise_left_shift.Tensor_Scalar_out": shift_scalar,
    "aten::bitwise_right_shift.Tensor_Scalar_out": shift_scalar,
    "aten::__lshift__.Scalar_out": shift_scalar,
    "aten::__rshift__.Scalar_out": shift_scalar,
    "aten::add.out": with_alpha,
    "aten::sub.out": with_alpha,
    "aten::add.Scalar_out": scalar_with_alpha,
    "aten::sub.Scalar_out": scalar_with_alpha,
    "aten::rsub.Scalar_out": scalar_with_alpha,
    "aten::where.self_out": where,
    "aten::clamp.out": clamp,
    "aten::clamp.Tensor_out": clamp_tensor,
    "aten::div.out_mode": div_mode,
    "aten::div.Scalar_mode_out": div_scalar_mode,
    "aten::elu.out": elu,
    "aten::gelu.out": gelu,
    "aten::leaky_relu.out": to_real_scalar,
    "aten::round.decimals_out": round_decimals,
    "aten::hardtanh.out": hardtanh,
    "aten::logit.out": logit,
    "aten::glu.out": glu,
    "aten::sum.IntList_out": sum_dims,
    "aten::mean.out": mean_dims,
    "aten::amax.out": extreme_dims,
    "aten::amin.out": extreme_dims,
    "aten::argmax.out": extreme_index,
    "aten::argmin.out": extreme_index,
    "aten::max.dim_max": extreme_dim,
    "aten::min.dim_min": extreme_dim,
    "aten::median.dim_values": extreme_dim,
    "aten::max.unary_out": unary,
    "aten::min.unary_out": unary,
    "aten::median.out": unary,
    "aten::topk.values": topk,
    "aten::all.out": truth_dim,
    "aten::any.out": truth_dim,
    "aten::any.dims_out": truth_dims,
    "aten::all.all_out": unary,
    "aten::any.all_out": unary,
    "aten::prod.int_out": prod_dim,
    "aten::prod.out": prod_all,
    "aten::cumsum.out": cumsum,
    "aten::var.correction_out": variance,
    "aten::var_mean.correction_out": variance,
    "aten::var.out": variance_unbiased,
    "aten::_softmax.out": softmax,
    "aten::_log_softmax.out": softmax,
    "aten::native_layer_norm.out": layer_norm,
    "aten::native_group_norm.out": group_norm,
    "aten::_native_batch_norm_legit_no_training.out": batch_norm_inference,
    "aten::_native_batch_norm_legit.out": batch_norm,
    "aten::_native_batch_norm_legit.no_stats_out": batch_norm_without_statistics,
    "aten::convolution.out": convolution,
    "aten::convolution_backward.out": convolution_backward,
    "aten::max_pool2d_with_indices.out": max_pool(2),
    "aten::max_pool3d_with_indices.out": max_pool(3),
    "aten::max_pool2d_with_indices_backward.grad_input": max_pool_backward,
    "aten::avg_pool2d.out": avg_pool(2),
    "aten::avg_pool3d.out": avg_pool(3),
    "aten::_adaptive_avg_pool2d.out": adaptive(2, False),
    "aten::_adaptive_avg_pool3d.out": adaptive(3, False),
    "aten::adaptive_max_pool2d.out": adaptive(2, True),
    "aten::adaptive_max_pool3d.out": adaptive(3, True),
    **{f"aten::reflection_pad{d}d.out": reflection(d, False) for d in (1, 2, 3)},
    **{f"aten::replication_pad{d}d.out": reflection(d, True) for d in (1, 2, 3)},
    "aten::upsample_bilinear2d.vec_out": upsample(True),
    "aten::upsample_nearest2d.vec_out": upsample(False),
    "aten::_upsample_bilinear2d_aa.out": upsample_smooth,
    "aten::grid_sampler_2d.out": grid_sampler,
    "aten::mm.out": mm,
    "aten::bmm.out": bmm,
    "aten::addmm.out": addmm,
    "aten::linear.out": linear,
    "aten::_cdist_forward.out": cdist,
    "aten::_pdist_forward.out": pdist,
    "aten::embedding.out": embedding,
    "aten::_embedding_bag.out": embedding_bag,
    "aten::masked_fill.Scalar_out": masked_fill,
    "aten::masked_select.out": masked_select,
    "aten::masked_scatter.out": masked_scatter,
    "aten::nonzero.out": nonzero,
    "aten::scatter.src_out": scatter,
    "aten::scatter.value_out": scatter_value,
    "aten::scatter_add.out": lambda m: scatter(m, True),
    "aten::gather.out": gather,
    "aten::index_select.out": index_select,
    "aten::index.Tensor_out": index,
    "aten::index_put.out": index_put,
    "aten::index_put_": index_put,
    "aten::cat.out": cat,
    "aten::stack.out": stack,
    "aten::constant_pad_nd.out": constant_pad,
    "aten::slice_copy.Tensor_out": slice_copy,
    "aten::slice_scatter.out": slice_scatter,
    "aten::_to_copy.out": to_copy,
    "aten::repeat.out": repeat,
    "aten::roll.out": roll,
    "aten::as_strided_copy.out": as_strided,
    "aten::tril.out": tril,
    "aten::diagonal_copy.out": diagonal,
    "aten::pixel_shuffle.out": pixel_shuffle,
    "aten::pixel_unshuffle.out": pixel_unshuffle,
    "aten::repeat_interleave.Tensor_out": repeat_interleave,
    "aten::arange.start_out": arange,
    "aten::full.out": full,
    "aten::full_like.out": full_like,
    "aten::fill.Tensor_out": fill_tensor,
    "aten::fill.Scalar_out": with_scalar,
    "aten::arange.out": arange_to,
    "aten::ones.out": sizes_only,
    "aten::zeros.out": sizes_only,
    "aten::scalar_tensor.out": number_only,
    "aten::_fft_r2c.out": fft_real,
    "aten::_fft_c2r.out": fft_back,
    "aten::_fft_c2c.out": fft_complex,
    "aten::view_as_real_copy.out": view_as_real,
    **{f"aten::{name}_copy.out": unary for name in ("alias", "detach", "lift_fresh")},
    "aten::clone.out": unary,
    "aten::copy.out": copy,
    "aten::expand_copy.out": expand,
    "aten::permute_copy.out": permute,
    "aten::view_copy.out": view,
    "aten::squeeze_copy.dim_out": with_dim,
    "aten::squeeze_copy.dims_out": several_dims,
    "aten::flip.out": several_dims,
    "aten::unbind_copy.int_out": with_dim,
    "aten::unsqueeze_copy.out": unsqueeze,
    "aten::select_copy.int_out": select,
    "aten::select_scatter.out": select_scatter,
    "aten::mean.dtype_out": mean_all,
    "aten::split_with_sizes_copy.out": split_sizes,
    "aten::split_copy.Tensor_out": split,
    "aten::transpose_copy.int_out": transpose,
    "aten::unfold_copy.out": unfold,
    "aten::narrow_copy.out": narrow,
    "aten::t_copy.out": t,
    "quantized_decomposed::quantize_per_tensor.out": quantize_per_tensor,
    "quantized_decomposed::quantize_per_tensor.Tensor_out": lambda m: quantize_per_tensor(m, True),
    "quantized_decomposed::dequantize_per_tensor.out": dequantize_per_tensor,
    "quantized_decomposed::dequantize_per_tensor.Tensor_out": lambda m: dequantize_per_tensor(
        m, True
    ),
    "quantized_decomposed::quantize_per_channel.out": quantize_per_channel,
    "quantized_decomposed::dequantize_per_channel.out": dequantize_per_channel,
    "quantized_decomposed::choose_qparams.Tensor_out": choose_for_tensor,
    "quantized_decomposed::choose_qparams_per_token_asymmetric.out": choose_per_token,
    "quantized_decomposed::quantize_per_token.out": quantize_per_token,
    "quantized_decomposed::dequantize_per_token.out": dequantize_per_token,
    **{
        f"quantized_decomposed::{name}.{suffix}out": quantized_embedding(name, bits, bool(suffix))
        for name, bits in (("embedding_byte", 8), ("embedding_4bit", 4), ("embedding_2bit", 2))
        for suffix in ("", "dtype_")
    },
    "llama::sdpa_with_kv_cache.out": lambda m: attention(m, True),
    "llama::custom_sdpa.out": lambda m: attention(m, False),
    "llama::update_cache.out": update_cache,
    "llama::update_cache_with_indices.out": update_cache_with_indices,
    "llama::fast_hadamard_transform.out": hadamard,
}


# Operators over windows, which PyTorch refuses where too little is left for one.
WINDOWED = [
    "aten::convolution.out",
    "aten::constant_pad_nd.out",
    "aten::pixel_shuffle.out",
    "aten::pixel_unshuffle.out",
    "aten::unfold_copy.out",
    *(f"aten::{kind}_pad{n}d.out" for kind in ("reflection", "replication") for n in (1, 2, 3)),
    *(f"aten::avg_pool{n}d.out" for n in (2, 3)),
    *(f"aten::max_pool{n}d_with_indices.out" for n in (2, 3)),
    *(f"aten::_adaptive_avg_pool{n}d.out" for n in (2, 3)),
    *(f"aten::adaptive_max_pool{n}d.out" for n in (2, 3)),
]


def spoiled(m: Maker, args: list[Any]) -> list[Any]:
    """The arguments with a smaller input, or with other numbers."""
    args = list(args)
    for _ in range(m.rng.randint(1, 3)):
        i = 0 if m.chance(0.5) else m.rng.randrange(len(args))
        value = args[i]
        if isinstance(value, torch.Tensor) and value.dim() > 0:
            dim = m.rng.randrange(value.dim())
            args[i] = value.narrow(dim, 0, m.rng.randint(0, min(2, value.shape[dim]))).clone()
        elif isinstance(value, list) and value:
            value = list(value)
            value[m.rng.randrange(len(value))] = m.rng.randint(-2, 9)
            args[i] = value
        elif isinstance(value, int) and not isinstance(value, bool):
            args[i] = m.rng.randint(-2, 9)
    return args


def is_prim(name: str) -> bool:
    """Operators on numbers, tested in prim_test."""
    return name.startswith("executorch_prim::")


def generator(name: str) -> Callable[[Maker], Call] | None:
    return GENERATORS.get(name)


def is_undefined(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether PyTorch's result depends on more than the arguments."""
    if not args and not kwargs:
        return True
    if name == "aten::median.out" and not args[0].is_floating_point():
        return bool(args[0].numel() == 0)
    if name == "aten::upsample_nearest2d.vec_out" and args[2] is not None:
        # Where the output is twice as long, and the scale not 2, PyTorch takes other pixels for
        # channels-last than for contiguous pictures.
        sizes = zip(args[0].shape[2:], args[2], strict=True)
        return any(int(n * s) in (n, 2 * n) and s not in (1, 2) for n, s in sizes)
    return False
