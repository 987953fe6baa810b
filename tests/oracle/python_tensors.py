#!/usr/bin/env python3
# environment: oracle
"""Tensors of PyTorch, OpenVINO and ml_dtypes through the Python package, beside ExecuTorch's own
runtime and eager PyTorch.

usage: python_tensors.py BUILD     the folder of the build, with the golden programs unpacked in it

Each part runs in a process of its own: who loads OpenVINO first matters, and ExecuTorch's runtime
may end its process.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BUILD = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(BUILD / "tests/python/site"))
GOLDEN = BUILD / "golden/portable"
MODELS = Path(__file__).parent.parent / "data/models"
PEER = Path(__file__).parent.parent / "data/peer"
LSTM = MODELS / "lstm_openvino.pte"
warnings.filterwarnings("ignore")

failures = 0
count = 0


def expect(passed: bool, what: str) -> None:
    global failures, count
    count += 1
    if not passed:
        failures += 1
    print(("ok      " if passed else "FAILED  ") + what, flush=True)


def refused(call: Callable[[], object], kind: type[Exception], part: str, what: str) -> None:
    try:
        call()
    except kind as error:
        expect(part in str(error), f"{what} is refused: {str(error).splitlines()[0]}")
    else:
        expect(False, f"{what} is taken")


# ---- PyTorch


def tensors() -> None:
    """Every kind of tensor, against eager PyTorch, by pteron and by pteron.runtime."""
    import torch

    mlp = "extra__mlp"
    x = given(torch, mlp, 0)
    halves = given(torch, "models__ModuleAddHalf", 0)
    brain = given(torch, "extra__bf16_add", 0)
    wide = torch.zeros(x.shape[0] * 2, x.shape[1] * 3)
    wide[1::2, ::3] = x
    takes: list[tuple[str, str, Any]] = [
        ("contiguous", mlp, x),
        ("transposed", mlp, x.t().contiguous().t()),
        ("every second row and third column", mlp, wide[1::2, ::3]),
        ("a row, expanded", mlp, x[:1].expand(x.shape)),
        ("one that requires a gradient", mlp, x.clone().requires_grad_()),
        ("a result with a gradient", mlp, x.clone().requires_grad_() * 1),
        ("a parameter", mlp, torch.nn.Parameter(x.clone())),
        ("of inference mode", mlp, inference(torch, x)),
        ("float16", "models__ModuleAddHalf", halves),
        ("bfloat16", "extra__bf16_add", brain),
        ("bfloat16, transposed", "extra__bf16_add", brain.t().contiguous().t()),
        ("bool", "extra__bool_logic", given(torch, "extra__bool_logic", 0)),
        ("of no dimensions", "extra__zero_dim_in", given(torch, "extra__zero_dim_in", 0)),
        ("int8", "extra__i8_ops", given(torch, "extra__i8_ops", 0)),
        ("uint8", "extra__u8_ops", given(torch, "extra__u8_ops", 0)),
    ]
    for what, case, tensor in takes:
        compare_with_rows(torch, what, case, tensor)
    picture(torch)
    empty(torch)
    refusals(torch, x)
    zero_copy(torch, x)


def given(torch: Any, case: str, index: int) -> Any:
    """An input of a golden program's first run."""
    told = json.loads((GOLDEN / case / "case.json").read_text())["runs"][0]["inputs"][index]
    if told["kind"] != "tensor":
        return told["value"]
    with np.load(GOLDEN / case / "io_0.npz") as io:
        tensor = torch.from_numpy(io[f"in_{index}"])
    return tensor.view(torch.bfloat16) if told["dtype"] == "bfloat16" else tensor


def inference(torch: Any, x: Any) -> Any:
    with torch.inference_mode():
        return x.clone()


def compare_with_rows(torch: Any, what: str, case: str, first: Any) -> None:
    """The tensor gives what a dense copy of it gives in ExecuTorch's runtime."""
    import executorch.runtime
    import pteron
    import pteron.runtime

    path = GOLDEN / case / "model.pte"
    others = [given(torch, case, i) for i in range(1, len(pteron.load(path).inputs))]
    dense = first.detach().clone(memory_format=torch.contiguous_format)
    theirs = executorch.runtime.Runtime.get().load_program(path).load_method("forward")
    wanted = theirs.execute([dense, *others])
    ours = pteron.runtime.Runtime.get().load_program(path).load_method("forward")
    assert ours is not None
    results = ours.execute([first, *others])
    same = len(results) == len(wanted) and all(
        isinstance(got, torch.Tensor)
        and (got.dtype, got.shape) == (want.dtype, want.shape)
        and torch.allclose(got.double(), want.double(), rtol=1e-5, atol=1e-5, equal_nan=True)
        for got, want in zip(results, wanted, strict=True)
    )
    expect(same, f"pteron.runtime, a tensor {what}: {[str(r.dtype) for r in results]}")
    arrays = pteron.load(path)(first, *others)
    arrays = arrays if isinstance(arrays, tuple) else (arrays,)
    same = all(
        isinstance(got, np.ndarray)
        and got.shape == tuple(want.shape)
        and np.allclose(got.astype("float64"), want.double().numpy(), atol=1e-5, equal_nan=True)
        for got, want in zip(arrays, wanted, strict=True)
    )
    expect(same, f"pteron, a tensor {what}: {[str(a.dtype) for a in arrays]}")


def picture(torch: Any) -> None:
    import executorch.runtime
    import pteron
    import pteron.runtime

    rows = torch.arange(24, dtype=torch.float32).reshape(1, 2, 3, 4)
    last = rows.to(memory_format=torch.channels_last)
    want = torch.nn.functional.interpolate(rows, scale_factor=2)
    for name in ("channels_last", "channels_last_to_rows"):
        path = PEER / f"{name}.pte"
        theirs = executorch.runtime.Runtime.get().load_program(path).load_method("forward")
        expect(torch.equal(theirs.execute([last])[0], want), f"ExecuTorch, {name}")
        ours = pteron.runtime.Runtime.get().load_program(path).load_method("forward")
        assert ours is not None
        for what, x in (("rows", rows), ("channels-last", last)):
            got = ours.execute([x])[0]
            expect(torch.equal(got, want), f"pteron.runtime, {name} from a tensor of {what}")
            expect(np.array_equal(pteron.load(path)(x), want), f"pteron, {name} from {what}")


def empty(torch: Any) -> None:
    import pteron
    import pteron.runtime

    path = MODELS / "crepe_dynamic_portable.pte"
    program = pteron.load(path)
    shape = program.inputs[0].shape or ()
    none = torch.zeros((0, *shape[1:]))
    ours = pteron.runtime.Runtime.get().load_program(path).load_method("forward")
    assert ours is not None
    try:
        array, tensor = program(none), ours.execute([none])[0]
    except (pteron.ArgumentError, pteron.runtime.Error) as error:
        expect("shape" in str(error), f"an empty tensor is refused for its shape: {error}")
        return
    same = tuple(tensor.shape) == array.shape == program(none.numpy()).shape
    expect(same and array.shape[0] == 0, f"an empty tensor gives an empty one: {array.shape}")


def refusals(torch: Any, x: Any) -> None:
    import pteron
    import pteron.runtime

    path = GOLDEN / "extra__mlp/model.pte"
    method = pteron.load(path).method()
    ours = pteron.runtime.Runtime.get().load_program(path).load_method("forward")
    assert ours is not None
    for what, wrong, part in (
        ("a tensor on no device", x.to("meta"), "cannot be read"),
        ("a sparse tensor", x.to_sparse(), "cannot be read"),
        ("a tensor of float64", x.double(), "float64, but the method takes float32 [4, 16]"),
        ("a complex tensor", x.to(torch.complex64), "complex64"),
        ("a conjugate", x.to(torch.complex64).conj(), "cannot be read"),
        ("a tensor of another shape", x[:2], "shape [2, 16]"),
        ("a list of tensors", [x], "is a list"),
    ):
        kind = ValueError if "shape [" in part else TypeError
        refused(lambda v=wrong: method(v), kind, part, f"pteron: {what}")  # type: ignore[misc]
        run = lambda v=wrong: ours.execute([v])  # noqa: E731
        refused(run, RuntimeError, part, f"pteron.runtime: {what}")
    expect(bool(np.isfinite(method(x)).all()), "the method works after that")


def zero_copy(torch: Any, x: Any) -> None:
    """Where the library reads: at the tensor's own address."""
    from pteron._dlpack import borrow

    for what, tensor in (("dense", x), ("transposed", x.t()), ("an offset view", x[1:, 2:])):
        lent = borrow(tensor, "input 0")
        here = lent.address == tensor.data_ptr()
        strides = tuple(s * tensor.element_size() for s in tensor.stride())
        expect(here and lent.strides == strides, f"a {what} tensor is read where it lies")
        array = tensor.numpy()
        tensor[0, 0] += 1
        expect(array[0, 0] == tensor[0, 0].item(), "and NumPy sees the same memory")


# ---- OpenVINO's and ml_dtypes' arrays


def others() -> None:
    import pteron
    import pteron.runtime

    import openvino

    path = GOLDEN / "extra__mlp/model.pte"
    method = pteron.load(path).method()
    with np.load(GOLDEN / "extra__mlp/io_0.npz") as io:
        x = io["in_0"]
    want = method(x)
    expect(np.array_equal(method(openvino.Tensor(x)), want), "pteron, an openvino.Tensor")
    shared = openvino.Tensor(x, shared_memory=True)
    expect(np.array_equal(method(shared), want), "pteron, an openvino.Tensor of shared memory")
    ours = pteron.runtime.Runtime.get().load_program(path).load_method("forward")
    assert ours is not None
    got = ours.execute([openvino.Tensor(x)])[0]
    expect(np.array_equal(got, want), "pteron.runtime, an openvino.Tensor")
    half = openvino.Tensor(openvino.Type.bf16, openvino.Shape(list(x.shape)))
    refused(lambda: method(half), TypeError, "dtype bfloat16", "an openvino.Tensor of bfloat16")
    bits = openvino.Tensor(openvino.Type.u4, openvino.Shape(list(x.shape)))
    refused(lambda: method(bits), TypeError, "has u4", "an openvino.Tensor of 4 bits")

    case = GOLDEN / "extra__bf16_add"
    add = pteron.load(case / "model.pte").method()
    with np.load(case / "io_0.npz") as io:
        given = [io["in_0"], io["in_1"]]
        eager = (io["eager_0"].astype("uint32") << 16).view("float32")
    lent = []
    for array in given:
        tensor = openvino.Tensor(openvino.Type.bf16, openvino.Shape(list(array.shape)))
        tensor.data[:] = array.view("float16")
        lent.append(tensor)
    got = add(*lent).astype("float32")
    expect(np.array_equal(got, eager), "pteron, openvino.Tensors of bfloat16")
    try:
        import ml_dtypes
    except ImportError:
        print("skipped  ml_dtypes' arrays: the environment has no ml_dtypes", flush=True)
        return
    got = add(*(array.view(ml_dtypes.bfloat16) for array in given))
    same = got.dtype == ml_dtypes.bfloat16 and np.array_equal(got.astype("float32"), eager)
    expect(same, "pteron, arrays of ml_dtypes.bfloat16")


# ---- ExecuTorch's runtime beside it


def metadata() -> None:
    """What it says of every golden program, in ExecuTorch's own words."""
    import executorch.runtime
    import pteron.runtime

    ours, theirs = pteron.runtime.Runtime.get(), executorch.runtime.Runtime.get()
    different = []
    programs = [*sorted(GOLDEN.glob("*/model.pte")), *sorted(PEER.glob("*.pte"))]
    for path in programs:
        a, b = ours.load_program(path), theirs.load_program(path)
        if a.method_names != b.method_names:
            different.append(f"{path}: {a.method_names} {b.method_names}")
            continue
        for name in a.method_names:
            ma, mb = told(a.metadata(name)), told(b.metadata(name))
            if ma != mb:
                different.append(f"{path.parent.name}/{path.name} {name}: {ma} but there {mb}")
    for line in different[:5]:
        print(line)
    expect(
        not different and len(programs) > 340,
        f"metadata of {len(programs)} programs, {len(different)} different",
    )


def told(meta: Any) -> list[str]:
    """All that it tells, and the kinds of errors."""
    lines = [meta.name(), str(meta.num_inputs()), str(meta.num_outputs())]
    for what in ("input", "output", "attribute"):
        number = getattr(meta, f"num_{what}s")()
        lines.append(f"{number} {what}s")
        for i in range(number + 1):
            try:
                info = getattr(meta, f"{what}_tensor_meta")(i)
            except Exception as error:
                lines.append(type(error).__mro__[-4].__name__ if i == number else "no tensor")
                continue
            lines += [str((info.sizes(), info.dtype(), info.nbytes()))]
            # Of several weights in a .ptd, ExecuTorch says of all but the first that they are
            # planned: it takes their index for that of a constant.
            if what != "attribute":
                lines.append(str(info))
    return lines


def behaviour() -> None:
    """The same calls on both runtimes end alike: a result, or an error of the same kind."""
    import executorch.runtime
    import pteron.runtime
    import torch

    path = GOLDEN / "extra__mlp/model.pte"
    x = given(torch, "extra__mlp", 0)
    calls: dict[str, Callable[[Any], Any]] = {
        "a path": lambda r: r.load_program(path).method_names,
        "a path as text": lambda r: r.load_program(str(path)).method_names,
        "bytes": lambda r: r.load_program(path.read_bytes()).method_names,
        "a bytearray": lambda r: r.load_program(bytearray(path.read_bytes())).method_names,
        "a missing file": lambda r: r.load_program("no/such.pte"),
        "a folder": lambda r: r.load_program(str(path.parent)),
        "bytes of no program": lambda r: r.load_program(b"x" * 200),
        "no source": lambda r: r.load_program(None),
        "a number for a source": lambda r: r.load_program(3),
        "another method": lambda r: r.load_program(path).load_method("zz"),
        "metadata of another method": lambda r: r.load_program(path).metadata("zz"),
        "metadata past the end": lambda r: (
            r.load_program(path).metadata("forward").input_tensor_meta(1)
        ),
        "no inputs": lambda r: forward(r).execute([]),
        "two inputs": lambda r: forward(r).execute((x, x)),
        "None for an input": lambda r: forward(r).execute([None]),
        "a list for an input": lambda r: forward(r).execute([[x]]),
        "None for the inputs": lambda r: forward(r).execute(None),
        "a number for the inputs": lambda r: forward(r).execute(3),
        "a tensor for the inputs": lambda r: forward(r).execute(x)[0],
        "a tuple": lambda r: forward(r).execute((x,))[0],
        "another dtype": lambda r: forward(r).execute([x.double()]),
        "another shape": lambda r: forward(r).execute([x[:2]]),
        "a gradient": lambda r: forward(r).execute([x.clone().requires_grad_()])[0],
        "the list of outputs": lambda r: type(forward(r).execute([x])),
        "backends": lambda r: r.backend_registry.is_available("NonExistBackend"),
        "OpenvinoBackend": lambda r: (
            "OpenvinoBackend" in r.backend_registry.registered_backend_names
        ),
        "operators": lambda r: "aten::add.out" in r.operator_registry.operator_names,
    }

    def forward(runtime: Any) -> Any:
        return runtime.load_program(path).load_method("forward")

    def end(runtime: Any, call: Callable[[Any], Any]) -> Any:
        try:
            return call(runtime)
        except (KeyError, IndexError, TypeError, RuntimeError) as error:
            kinds = (RuntimeError, TypeError, KeyError, IndexError)
            return next(kind for kind in kinds if isinstance(error, kind))

    for what, call in calls.items():
        ours = end(pteron.runtime.Runtime.get(), call)
        theirs = end(executorch.runtime.Runtime.get(), call)
        if isinstance(theirs, torch.Tensor):
            same = isinstance(ours, torch.Tensor) and torch.allclose(ours, theirs, atol=1e-5)
            expect(same and not ours.requires_grad, f"{what}: the same numbers")
        else:
            expect(ours == theirs, f"{what}: {ours}, there {theirs}")


# ---- One OpenVINO in the process


def run_delegated() -> bool:
    import pteron

    with np.load(MODELS / "lstm.npz") as data:
        return bool(np.allclose(pteron.load(LSTM)(data["in0"]), data["out0"], atol=1e-5))


def run_openvino() -> bool:
    """A model of OpenVINO's own, compiled and run by its Python package."""
    import openvino
    from openvino import opset13 as ops

    x = ops.parameter([2], np.float32)
    model = openvino.Model([ops.add(x, x)], [x])
    compiled = openvino.Core().compile_model(model, "CPU")
    result = compiled(np.array([1, 2], "float32"))[0]
    return bool(np.array_equal(result, [2, 4]))


def copies() -> set[str]:
    with open("/proc/self/maps", encoding="utf-8") as maps:
        lines = maps.read().splitlines()
    # libopenvino.so.2541, and not its plugins and frontends.
    return {line.split()[-1] for line in lines if "/libopenvino.so" in line}


def openvino_first() -> None:
    expect(run_openvino(), "openvino runs a model")
    expect(run_delegated(), "then pteron runs a delegated program")
    expect(run_openvino(), "and openvino another model")
    expect(len(copies()) == 1, f"one libopenvino: {copies()}")


def pteron_first() -> None:
    expect(run_delegated(), "pteron runs a delegated program")
    expect("openvino" not in sys.modules, "without importing openvino")
    expect(run_openvino(), "then openvino is imported and runs a model")
    expect(run_delegated(), "and pteron a delegated program again")
    expect(len(copies()) == 1, f"one libopenvino: {copies()}")


def pytorch_and_all() -> None:
    import executorch.runtime

    theirs = executorch.runtime.Runtime.get()
    expect(run_delegated(), "pteron runs a delegated program beside ExecuTorch")
    import torch

    # Not the LSTM: there ExecuTorch's delegate is 0.67 off, with or without Pteron.
    with np.load(MODELS / "pnet.npz") as data:
        x, want = torch.from_numpy(data["in0"]), data["out0"]
    method = theirs.load_program(MODELS / "pnet_openvino.pte").load_method("forward")
    error = float(np.abs(method.execute([x])[0].numpy() - want).max())
    expect(error < 0.1, f"and ExecuTorch another, in a precision of its own: {error:.1e} off")
    expect(run_delegated(), "and pteron again")
    expect(len(copies()) == 1, f"one libopenvino: {copies()}")


PARTS = [
    tensors,
    others,
    metadata,
    behaviour,
    openvino_first,
    pteron_first,
    pytorch_and_all,
]


def main() -> None:
    if len(sys.argv) > 2:
        next(part for part in PARTS if part.__name__ == sys.argv[2])()
        print(f"{count} checks, {failures} failed", flush=True)
        sys.exit(1 if failures or count == 0 else 0)
    failed = []
    environment = {k: v for k, v in os.environ.items() if k != "OPENVINO_LIB_PATH"}
    for part in PARTS:
        print(f"-- {part.__name__}", flush=True)
        done = subprocess.run(
            [sys.executable, __file__, str(BUILD), part.__name__],
            check=False,
            timeout=300,
            env=environment,
        )
        if done.returncode != 0:
            failed.append(f"{part.__name__} (status {done.returncode})")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
