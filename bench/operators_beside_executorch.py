#!/usr/bin/env python3
"""Times each operator in Pteron and in ExecuTorch, call by call in turn, in one process.

usage: operators_beside_executorch.py LIBRARY [--threads N] [--rounds N] [--only RE] [--json FILE]
LIBRARY is libpteron.so; run it in the environment `oracle`. bench/operators builds that and calls
this.

A program of one instruction is made for each call and given to both, with the same inputs. Each
round times both, the second one first in every other round, as often as takes some milliseconds.
A time is the median over the rounds less that of a call of one element, which is what binding and
Python cost; a ratio is the median of the rounds' own. Above 1, Pteron is faster.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import operator_calls
import operators
import torch
from executorch.extension.pybindings import portable_lib

ROUND = 0.004  # Seconds that a round lasts at least, of one side.
MOST = 3.0  # Seconds that a call may take in all.


class TensorView(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("rank", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
    )


class Value(ctypes.Structure):
    """pteron_value, of which only tensors are needed."""

    _fields_ = (("kind", ctypes.c_int32), ("reserved", ctypes.c_int32), ("tensor", TensorView))


class Options(ctypes.Structure):
    """pteron_program_options up to `threads`: struct_size says that there is no more."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("strings", ctypes.c_void_p * 5),
        ("config_count", ctypes.c_size_t),
        ("weights", ctypes.c_void_p),
        ("weights_count", ctypes.c_size_t),
        ("precision", ctypes.c_int32),
        ("hint", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("copy_file", ctypes.c_int32),
    )


class Pteron:
    def __init__(self, library: str, threads: int) -> None:
        self.library = ctypes.CDLL(library)
        self.library.pteron_error_message.restype = ctypes.c_char_p
        self.options = Options(struct_size=ctypes.sizeof(Options), threads=threads, copy_file=1)

    def check(self, status: int, error: ctypes.c_void_p) -> None:
        if status != 0:
            raise RuntimeError(self.library.pteron_error_message(error).decode())

    def load(self, data: bytes, inputs: list[torch.Tensor]) -> tuple[Callable[[], None], Any]:
        """A function that runs the program, and the method."""
        program, method, error = (ctypes.c_void_p() for _ in range(3))
        where = ctypes.byref(error)
        self.check(
            self.library.pteron_program_open_memory(
                data, ctypes.c_size_t(len(data)), ctypes.byref(self.options),
                ctypes.byref(program), where,
            ),
            error,
        )  # fmt: skip
        status = self.library.pteron_method_load(program, None, None, ctypes.byref(method), where)
        self.library.pteron_program_free(program)
        self.check(status, error)
        for i, tensor in enumerate(inputs):
            shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
            view = TensorView(
                tensor.data_ptr(), ctypes.addressof(shape), None, tensor.dim(),
                operators.DTYPES[tensor.dtype],
            )  # fmt: skip
            value = Value(1, 0, view)
            bind = self.library.pteron_method_bind_input
            self.check(bind(method, ctypes.c_size_t(i), ctypes.byref(value), where), error)
        execute = self.library.pteron_method_execute

        def run() -> None:
            if execute(method, where) != 0:
                self.check(1, error)

        return run, method

    def free(self, method: Any) -> None:
        self.library.pteron_method_free(method)


def load_executorch(data: bytes, inputs: list[torch.Tensor]) -> Callable[[], None]:
    module = portable_lib._load_for_executorch_from_buffer(data)
    run = module.run_method

    def call(_program: bytes = data) -> None:  # Which it reads where it lies.
        run("forward", inputs, False)

    return call


# For so long OpenMP's threads, which ExecuTorch's matrix products use, go on spinning after a call
# and keep a core from whatever comes next. Each side warms up until then.
OTHERS_SPIN = 0.21  # seconds


class Clock:
    """Wall time, or the process's own."""

    now = time.perf_counter


def seconds(call: Callable[[], None], times: int) -> float:
    start = Clock.now()
    for _ in range(times):
        call()
    return (Clock.now() - start) / times


Call = Callable[[], None]
EMPTY_CALLS = 500


def measure(
    calls: tuple[Call, Call], empty: tuple[Call, Call], rounds: int
) -> list[tuple[float, float, float, float]]:
    """Seconds a call of ours and of theirs, then of the empty ones beside them, round by round."""
    first = [max(seconds(call, 1), 1e-7) for call in calls]
    times = [max(1, min(2000, int(ROUND / t))) for t in first]
    for call, n in zip(calls, times, strict=True):
        seconds(call, max(1, n // 4))
    rounds = max(3, min(rounds, int(MOST / sum(max(t, ROUND) for t in first))))
    results = []
    for i in range(rounds):
        pair = [0.0, 0.0]
        nothing = [0.0, 0.0]
        for side in (0, 1) if i % 2 == 0 else (1, 0):
            end = time.perf_counter() + OTHERS_SPIN
            while time.perf_counter() < end:
                calls[side]()
            pair[side] = seconds(calls[side], times[side])
            nothing[side] = seconds(empty[side], EMPTY_CALLS)
        results.append((pair[0], pair[1], nothing[0], nothing[1]))
    return results


def empty_calls(pteron: Pteron) -> tuple[Call, Call]:
    """Calls that do next to nothing: what they take is taken off the others."""
    one = torch.ones(1)
    data, inputs = operator_calls.make_program("aten::add.out", [one, one.clone(), 1], [one])
    run, _ = pteron.load(data, inputs)
    return run, load_executorch(data, inputs)


def differ(pteron_method: Any, pteron: Pteron, wanted: list[torch.Tensor]) -> bool:
    """Whether an output is not ExecuTorch's, so that the two did not do the same work."""
    for i, tensor in enumerate(wanted):
        value = Value()
        error = ctypes.c_void_p()
        pteron.check(
            pteron.library.pteron_method_get_output(
                pteron_method, ctypes.c_size_t(i), ctypes.byref(value), ctypes.byref(error)
            ),
            error,
        )
        if tensor.numel() == 0 or tensor.is_complex() or value.tensor.strides:
            continue
        size = tensor.numel() * tensor.element_size()
        raw = bytearray(ctypes.string_at(value.tensor.data, size))
        got = torch.frombuffer(raw, dtype=tensor.dtype).reshape(tensor.shape)
        if not torch.allclose(got.double(), tensor.double(), 1e-2, 1e-2, equal_nan=True):
            return True
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("--threads", type=int, default=portable_lib._threadpool_get_thread_count())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="only operators that match this regular expression")
    parser.add_argument("--slower", type=float, help="print only what is slower than that ratio")
    parser.add_argument("--json", type=Path, help="also write the rows there")
    parser.add_argument("--check", action="store_true", help="fail unless the goals are met")
    parser.add_argument(
        "--cpu-time", action="store_true", help="the process's own time, on a machine that is busy"
    )
    options = parser.parse_args()
    if options.cpu_time:
        Clock.now = time.process_time
    warnings.simplefilter("ignore")
    portable_lib._unsafe_reset_threadpool(options.threads)
    calls = operator_calls.all_calls()
    known = set(portable_lib._get_operator_names())
    pteron = Pteron(options.library, options.threads)
    empty = empty_calls(pteron)
    nothing: list[tuple[float, float]] = []
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for label, name, make, outputs in calls.rows:
        if options.only and not re.search(options.only, label):
            continue
        if name not in known:
            notes.append(f"{label}: ExecuTorch has no such kernel")
            continue
        print(label, file=sys.stderr)  # ExecuTorch aborts on what it finds wrong.
        args = make()
        results = outputs() if outputs else operator_calls.outputs_of(name, args)
        data, inputs = operator_calls.make_program(name, args, results)
        run, method = pteron.load(data, inputs)
        run()
        try:
            theirs = load_executorch(data, inputs)
            theirs()
        except RuntimeError as error:
            notes.append(f"{label}: ExecuTorch refuses it: {str(error).splitlines()[0][:80]}")
            pteron.free(method)
            continue
        wanted = portable_lib._load_for_executorch_from_buffer(data).run_method("forward", inputs)
        if not re.search("rand|dropout|empty|sdpa", name) and differ(method, pteron, wanted):
            notes.append(f"{label}: the results differ")
        measured = measure((run, theirs), empty, options.rounds)
        pteron.free(method)
        net = [(max(a - c, 1e-7), max(b - d, 1e-7)) for a, b, c, d in measured]
        nothing += [(c, d) for _, _, c, d in measured]
        rows.append(
            {
                "operator": label,
                "elements": operator_calls.elements(inputs or results),
                "pteron_us": statistics.median(a for a, _ in net) * 1e6,
                "executorch_us": statistics.median(b for _, b in net) * 1e6,
                "ratio": statistics.median(b / a for a, b in net),
            }
        )
    tried = {name for _, name, _, _ in calls.rows}
    if not options.only:
        for name in operators.table_names():
            if name not in tried:
                why = operator_calls.reason(name) or "no call of it is in the table"
                notes.append(f"{name}: not measured: {why}")
    report(rows, notes, options)
    slow = [row for row in rows if row["ratio"] < 1 / 1.2]
    geometric = math.exp(statistics.mean(math.log(row["ratio"]) for row in rows))
    print(
        f"\n{len(rows)} calls of {len({r['operator'].split(' ')[0] for r in rows})} operators, "
        f"{options.threads} threads: geometric mean {geometric:.2f}, worst "
        f"{min(r['ratio'] for r in rows):.2f}, {len(slow)} slower than ExecuTorch by more than 1.2"
    )
    ours_empty, theirs_empty = (statistics.median(side) for side in zip(*nothing, strict=True))
    print(f"taken off each call: {ours_empty * 1e6:.1f} us, {theirs_empty * 1e6:.1f} us")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "notes": notes}, indent=1) + "\n")
    return 1 if options.check and (slow or geometric < 2) else 0


def report(rows: list[dict[str, Any]], notes: list[str], options: argparse.Namespace) -> None:
    print(f"{'operator':72} {'elements':>9} {'pteron us':>10} {'ExecuTorch us':>13} {'ratio':>7}")
    for row in sorted(rows, key=lambda r: float(r["ratio"])):
        if options.slower and row["ratio"] >= options.slower:
            continue
        print(
            f"{row['operator']:72} {row['elements']:9} {row['pteron_us']:10.1f} "
            f"{row['executorch_us']:13.1f} {row['ratio']:7.2f}"
        )
    for note in notes:
        print(note)


if __name__ == "__main__":
    sys.exit(main())
