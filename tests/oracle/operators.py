#!/usr/bin/env python3
# environment: oracle
"""Makes random calls of every operator with PyTorch's results, for tests/kernels/operators_test.

With a build folder as its argument it makes 20,000 cases that the repository does not keep, with
the seed given (--seed, else always the same), and replays them; with --write it makes the cases
that the repository keeps (tests/data/operators.bin.gz). With --refused the cases are calls of
operators over windows that PyTorch refuses, and the kernels must too
(tests/data/refused_calls.bin.gz).

A case is an operator's name, its arguments in the order of its schema, and PyTorch's outputs. Two
sources: what PyTorch's own operator samples (op_db) call when they run, and the generators below.
Tensors keep a random memory order: a program's tensors have one, and no other strides.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import random
import re
import struct
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import operator_generators
import torch
from torch.utils._python_dispatch import TorchDispatchMode

ROOT = Path(__file__).resolve().parents[2]
DTYPES = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float16: 5,
    torch.float32: 6,
    torch.float64: 7,
    torch.complex64: 9,
    torch.complex128: 10,
    torch.bool: 11,
    torch.bfloat16: 15,
    torch.uint16: 27,
    torch.uint32: 28,
    torch.uint64: 29,
}
MOST_ELEMENTS = 600  # Of one tensor.
MOST_BYTES = 12000  # Of one case.


def table_names() -> list[str]:
    """The operators of the kernel tables, read from the sources."""
    names: set[str] = set()
    for file in sorted((ROOT / "src" / "kernels").glob("*.cpp")):
        names |= set(re.findall(r'\{"([a-z_]+::[^"]+)"', file.read_text(encoding="utf-8")))
    return sorted(names)


class Unfit(Exception):
    """The call is not one that a program can make, or too large."""


# ---- Which functional operator stands for which out-variant ---------------------------------


def overload(name: str) -> Any:
    """torch.ops.NAMESPACE.NAME.OVERLOAD, or None."""
    namespace, rest = name.split("::")
    packet_name, _, overload_name = rest.partition(".")
    try:
        packet = getattr(getattr(torch.ops, namespace), packet_name)
        return getattr(packet, overload_name or "default")
    except (AttributeError, RuntimeError):
        return None


def inputs_of(schema: Any) -> list[tuple[str, str]]:
    """Without what only says where the output is made: an out-variant is given it."""
    made = ("dtype", "layout", "device", "pin_memory")
    return [(a.name, str(a.type)) for a in schema.arguments if not a.is_out and a.name not in made]


def functional_of(name: str) -> Any:
    """The operator without outputs that takes the same arguments as out-variant `name`."""
    own = overload(name)
    if own is None:
        return None
    if not any(a.is_out for a in own._schema.arguments):
        return own
    namespace, rest = name.split("::")
    packet = getattr(getattr(torch.ops, namespace), rest.partition(".")[0])
    for overload_name in packet.overloads():
        other = getattr(packet, overload_name)
        if any(a.is_out for a in other._schema.arguments):
            continue
        if inputs_of(other._schema) == inputs_of(own._schema):
            return other
    return None


def load_custom_operators() -> None:
    """ExecuTorch's own: quantized_decomposed and llama."""
    import torch.ao.quantization.fx._decomposed  # noqa: F401
    from executorch.exir.passes import _quant_patterns_and_replacements  # noqa: F401
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
    from executorch.kernels import quantized  # noqa: F401


def functionals() -> dict[str, Any]:
    return {name: op for name in table_names() if (op := functional_of(name)) is not None}


def recorded_names(table: dict[str, Any]) -> dict[Any, str]:
    """From a functional operator, or the view that it copies, to the out-variant's name."""
    result = {op: name for name, op in table.items()}
    for name, op in table.items():
        namespace, rest = name.split("::")
        packet_name = rest.partition(".")[0]
        if not packet_name.endswith("_copy") or namespace != "aten":
            continue
        view = getattr(torch.ops.aten, packet_name.removesuffix("_copy"), None)
        if view is None:
            continue
        for overload_name in view.overloads():
            other = getattr(view, overload_name)
            if inputs_of(other._schema) == inputs_of(op._schema):
                result.setdefault(other, name)
    return result


# ---- Writing a case -------------------------------------------------------------------------


class Never(random.Random):
    def random(self) -> float:
        return 1.0


KEEP = Never()


def memory_order(rng: random.Random, tensor: torch.Tensor) -> list[int]:
    """Outermost dimension first."""
    rank = tensor.dim()
    order = list(range(rank))
    if rank >= 3 and rng.random() < 0.2:
        return [0, *range(2, rank), 1]
    if rank >= 2 and rng.random() < 0.1:
        rng.shuffle(order)
    return order


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """The elements in row-major order."""
    dense = torch.empty(tensor.numel(), dtype=tensor.dtype)
    dense.copy_(tensor.detach().resolve_conj().resolve_neg().reshape(-1))
    return bytes(dense.view(torch.uint8).numpy()) if tensor.numel() else b""


def tensor_bytes(rng: random.Random, tensor: torch.Tensor) -> bytes:
    if tensor.dtype not in DTYPES or tensor.numel() > MOST_ELEMENTS or tensor.dim() > 8:
        raise Unfit
    order = memory_order(rng, tensor)
    raw = raw_bytes(tensor.permute(order))
    head = struct.pack("<BB", DTYPES[tensor.dtype], tensor.dim())
    return head + struct.pack(f"<{tensor.dim()}i{tensor.dim()}B", *tensor.shape, *order) + raw


def argument_bytes(rng: random.Random, kind: str, value: Any) -> bytes:
    """`kind` is the schema's type; see operators_test.cpp for the letters."""
    if value is None:
        return b"n"
    if kind in ("Tensor", "Optional[Tensor]"):
        if not isinstance(value, torch.Tensor):
            raise Unfit
        return b"T" + tensor_bytes(rng, value)
    if kind in ("List[Tensor]", "List[Optional[Tensor]]"):
        letter = b"V" if kind == "List[Tensor]" else b"v"
        items = b"".join(argument_bytes(rng, "Optional[Tensor]", item) for item in value)
        return letter + struct.pack("<B", len(value)) + items
    if isinstance(value, torch.dtype):
        return b"i" + struct.pack("<q", DTYPES[value])
    if isinstance(value, torch.memory_format):
        return b"n"
    if isinstance(value, str):
        return b"g" + struct.pack("<B", len(value)) + value.encode()
    if isinstance(value, bool):
        return b"b" + struct.pack("<B", value)
    if isinstance(value, int):
        return b"i" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"d" + struct.pack("<d", value)
    if isinstance(value, (list, tuple)) and len(value) < 256:
        if "bool" in kind:
            return b"Q" + struct.pack(f"<B{len(value)}B", len(value), *value)
        if "float" in kind:
            return b"F" + struct.pack(f"<B{len(value)}d", len(value), *value)
        return b"L" + struct.pack(f"<B{len(value)}q", len(value), *value)
    raise Unfit


def case_bytes(
    rng: random.Random,
    name: str,
    arguments: list[tuple[str, Any]],
    outputs: list[Any],
    changed: dict[int, torch.Tensor],
) -> bytes:
    """changed: the final contents of the arguments that the operator changes in place."""
    parts = [struct.pack("<B", len(name)) + name.encode()]
    parts.append(struct.pack("<BB", len(arguments), len(outputs)))
    for i, (kind, value) in enumerate(arguments):
        if i in changed:
            order = list(range(value.dim()))
            rank = struct.pack("<BB", DTYPES[value.dtype], value.dim())
            shape = struct.pack(f"<{len(order)}i{len(order)}B", *value.shape, *order)
            parts.append(b"M" + rank + shape + raw_bytes(value) + raw_bytes(changed[i]))
        else:
            # as_strided counts in memory: it is as PyTorch had it.
            keeps = name == "aten::as_strided_copy.out"
            parts.append(argument_bytes(KEEP if keeps else rng, kind, value))
    for output in outputs:
        kind = "List[Tensor]" if isinstance(output, (list, tuple)) else "Tensor"
        parts.append(argument_bytes(rng, kind, output))
    data = b"".join(parts)
    if len(data) > MOST_BYTES:
        raise Unfit
    return data


def is_random_or_aliased(values: Iterable[Any]) -> bool:
    return any(isinstance(v, torch.Tensor) and (v.is_sparse or v.is_quantized) for v in values)


def call_in_single(op: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Calls `op` on float32 in place of float16 and bfloat16, and rounds once at the end."""
    short: set[torch.dtype] = set()

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16):
            short.add(value.dtype)
            return value.float()
        return [widen(v) for v in value] if isinstance(value, list) else value

    def narrow(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
            return value.to(next(iter(short)))
        return value

    wide = [widen(a) for a in args]
    result = op(*wide, **{k: widen(v) for k, v in kwargs.items()})
    if not short:
        return result
    return narrow(result) if isinstance(result, torch.Tensor) else [narrow(r) for r in result]


def make_case(rng: random.Random, name: str, op: Any, args: Any, kwargs: Any) -> bytes:
    """Calls `op` with these arguments and writes them and its results as a case of `name`."""
    schema = op._schema
    arguments: list[tuple[str, Any]] = []
    kwargs = dict(kwargs)
    for i, a in enumerate(schema.arguments):
        if i < len(args) and not a.kwarg_only:
            value = args[i]
        elif a.name in kwargs:
            value = kwargs.pop(a.name)
        elif a.has_default_value():
            value = a.default_value
        else:
            raise Unfit
        arguments.append((str(a.type), value))
    out = overload(name)
    known = {a.name for a in out._schema.arguments} if out is not None else None
    kept = [
        (kind, value)
        for (kind, value), a in zip(arguments, schema.arguments, strict=True)
        if known is None or a.name in known
    ]
    if is_random_or_aliased(value for _, value in kept):
        raise Unfit
    writes = {
        i: a.alias_info is not None and a.alias_info.is_write
        for i, a in enumerate(schema.arguments)
    }
    before = {i: arguments[i][1].clone() for i, is_written in writes.items() if is_written}
    positional = [
        value for (_, value), a in zip(arguments, schema.arguments, strict=True) if not a.kwarg_only
    ]
    named = {
        a.name: value
        for (_, value), a in zip(arguments, schema.arguments, strict=True)
        if a.kwarg_only
    }
    try:
        if operator_generators.rounds_within(name):
            result = call_in_single(op, positional, named)
        else:
            result = op(*positional, **named)
    except (
        AssertionError,
        IndexError,
        NotImplementedError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        raise Unfit from error
    changed = {}
    for i, tensor in before.items():
        changed[i] = arguments[i][1]
        kept[i] = (kept[i][0], tensor)
    if (changed and out is None) or (changed and not any(a.is_out for a in out._schema.arguments)):
        outputs: list[Any] = []
    elif isinstance(result, torch.Tensor):
        outputs = [result]
    elif out is not None and any(a.is_out and "List" in str(a.type) for a in out._schema.arguments):
        outputs = [list(result)]
    else:
        outputs = list(result)
    if any(not isinstance(o, (torch.Tensor, list)) for o in outputs):
        raise Unfit
    return case_bytes(rng, name, kept, outputs, changed)


def make_refusal(name: str, op: Any, args: list[Any]) -> bytes:
    """A case of a call that PyTorch refuses for its shapes or numbers."""
    schema = op._schema
    try:
        op(*args)
    except NotImplementedError as error:
        raise Unfit from error
    except (IndexError, RuntimeError, ValueError) as error:
        if "not implemented" in str(error) or "without overflow" in str(error):
            raise Unfit from error
    else:
        raise Unfit
    first = args[0]
    arguments = [(str(a.type), value) for a, value in zip(schema.arguments, args, strict=True)]
    parts = [struct.pack("<B", len(name)) + name.encode()]
    parts.append(struct.pack("<BB", len(arguments), len(schema.returns)))
    parts += [argument_bytes(KEEP, kind, value) for kind, value in arguments]
    # Each operator here gives values and then, where it has two outputs, indices.
    for dtype in [first.dtype, torch.int64][: len(schema.returns)]:
        parts.append(b"x" + struct.pack("<BB", DTYPES[dtype], first.dim()))
    return b"".join(parts)


def refusals(seed: int, count: int, only: str | None) -> list[bytes]:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    maker = operator_generators.Maker(rng)
    table = functionals()
    names = [n for n in operator_generators.WINDOWED if not only or re.search(only, n)]
    cases: list[bytes] = []
    for i in itertools.cycle(range(len(names))):
        if len(cases) >= count:
            break
        _, args, _ = operator_generators.GENERATORS[names[i]](maker)
        try:
            changed = operator_generators.spoiled(maker, list(args))
            cases.append(make_refusal(names[i], table[names[i]], changed))
        except Unfit:
            continue
    print(f"{len(cases)} refused calls of {len(names)} operators, seed {seed}")
    return cases


# ---- PyTorch's own samples ------------------------------------------------------------------


def has_complex(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return bool(value.is_complex())
    if isinstance(value, torch.dtype):
        return bool(value.is_complex)
    if isinstance(value, dict):
        return has_complex(list(value.values()))
    return isinstance(value, (list, tuple)) and any(has_complex(v) for v in value)


def copy_arguments(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone(memory_format=torch.contiguous_format)
    if isinstance(value, (list, tuple)):
        return type(value)(copy_arguments(v) for v in value)
    return value


class Recorder(TorchDispatchMode):
    """Keeps the calls that a table names, with copies of their arguments."""

    def __init__(self, names: dict[Any, str]) -> None:
        super().__init__()
        self.names = names
        self.calls: list[tuple[str, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = self.names.get(func)
        if name is not None and len(self.calls) < 40:
            try:
                copied = {k: copy_arguments(v) for k, v in kwargs.items()}
                self.calls.append((name, copy_arguments(args), copied))
            except (RuntimeError, TypeError):
                pass
        return func(*args, **kwargs)


def samples(
    rng: random.Random, names: dict[Any, str], every: float
) -> Iterator[tuple[str, Any, Any]]:
    """The calls that PyTorch's operator samples make, a random part of them."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        dtypes = [d for d in info.supported_dtypes("cpu") if d in DTYPES]
        rng.shuffle(dtypes)
        for dtype in dtypes[:3]:
            if rng.random() > every:
                continue
            recorder = Recorder(names)
            try:
                for sample in itertools.islice(
                    info.sample_inputs("cpu", dtype, requires_grad=False), rng.randrange(10, 40)
                ):
                    if rng.random() < 0.5:
                        continue
                    with recorder:
                        info.op(sample.input, *sample.args, **sample.kwargs)
                    if len(recorder.calls) >= 40:
                        break
            except Exception:  # A sample may fail in any way; what ran before it counts.
                pass
            yield from recorder.calls


# ---- The whole ------------------------------------------------------------------------------


def collect(seed: int, count: int, only: str | None, every: float) -> list[bytes]:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    load_custom_operators()
    table = functionals()
    names = recorded_names(table)
    skipped = operator_generators.NOT_COMPARABLE
    wanted = [
        name
        for name in table_names()
        if name not in skipped
        and not operator_generators.is_prim(name)
        and (not only or re.search(only, name))
    ]
    pools: dict[str, list[bytes]] = {name: [] for name in wanted}
    seen: dict[str, int] = dict.fromkeys(wanted, 0)
    quota = -(-count // max(len(wanted), 1))

    def offer(name: str, op: Any, args: Any, kwargs: Any) -> None:
        if name not in pools or operator_generators.is_undefined(name, args, kwargs):
            return
        if name in operator_generators.OWN_CASES_ONLY or (
            name not in operator_generators.COMPLEX and has_complex([args, kwargs])
        ):
            return
        # Reservoir sampling, so that an operator with many samples gets some of each.
        seen[name] += 1
        pool = pools[name]
        place = len(pool) if len(pool) < quota else rng.randrange(seen[name])
        if place >= quota:
            return
        try:
            data = make_case(rng, name, op, args, kwargs)
        except Unfit:
            return
        if place == len(pool):
            pool.append(data)
        elif place < len(pool):
            pool[place] = data

    if every > 0:
        for name, args, kwargs in samples(rng, names, every):
            offer(name, table[name], args, kwargs)
    from_samples = {name: len(pool) for name, pool in pools.items()}
    missing = []
    for name in wanted:
        generator = operator_generators.generator(name)
        if generator is None:
            if not pools[name]:
                missing.append(name)
            continue
        half = max(quota // 2, quota - from_samples[name])
        rng.shuffle(pools[name])
        del pools[name][max(quota - half, 0) :]
        tries = 0
        while len(pools[name]) < quota and tries < 20 * quota:
            tries += 1
            made = generator(operator_generators.Maker(rng))
            if operator_generators.is_undefined(name, made[1], made[2]):
                continue
            op, args, kwargs = made
            try:
                data = make_case(rng, name, op or table[name], args, kwargs)
            except Unfit:
                continue
            pools[name].append(data)
        if not pools[name]:
            missing.append(name)
    if missing:
        print("no cases for: " + " ".join(missing))
    cases = [case for name in wanted for case in pools[name]]
    print(
        f"{len(cases)} cases of {len(wanted)} operators, "
        f"{sum(len(p) for p in pools.values())} kept, seed {seed}"
    )
    return cases


def write(path: Path, cases: list[bytes]) -> None:
    data = (
        b"PTOPS1\0\0"
        + struct.pack("<I", len(cases))
        + b"".join(struct.pack("<I", len(case)) + case for case in cases)
    )
    # No time stamp, so that the same cases give the same file.
    with open(path, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as f:
        f.write(data)
    print(f"{path.name}: {path.stat().st_size} bytes, {len(data)} unpacked")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", nargs="?", type=Path, help="build folder, to make and replay")
    parser.add_argument("--write", type=Path, help="only make cases, into this file")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--only", help="only operators that match this regular expression")
    parser.add_argument("--refused", action="store_true", help="only calls that PyTorch refuses")
    parser.add_argument("--samples", type=float, default=1.0, help="the part of op_db that is run")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    seed = options.seed if options.seed is not None else 1
    if options.refused:
        cases = refusals(seed, options.count, options.only)
    else:
        cases = collect(seed, options.count, options.only, options.samples)
    if options.write:
        write(options.write, cases)
        return 0
    if not options.build:
        parser.error("a build folder or --write is wanted")
    fresh = options.build / "tests" / "kernels" / "fresh_operators.bin.gz"
    write(fresh, cases)
    test = options.build / "tests" / "kernels" / "operators_test"
    return subprocess.run([str(test), f"--cases={fresh}"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
