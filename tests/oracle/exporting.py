"""What the tests here share: export a model, run it with the pteron command, compare.

Not a test itself.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.backend.backend_details import CompileSpec

warnings.filterwarnings("ignore")
torch.set_grad_enabled(False)


@dataclass
class Suite:
    """Collects what failed; `pteron` starts the command, `openvino` is its libraries' folder."""

    pteron: list[str]
    openvino: str
    folder: Path
    failures: list[str] = field(default_factory=list)
    count: int = 0

    def expect(self, passed: bool, what: str) -> None:
        self.count += 1
        print(("ok      " if passed else "FAILED  ") + what, flush=True)
        if not passed:
            self.failures.append(what)

    def run(self, *arguments: str, openvino: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.pteron, *arguments, "--openvino", openvino or self.openvino],
            capture_output=True,
            text=True,
            check=False,
        )

    def compare(
        self,
        name: str,
        program: bytes,
        inputs: tuple[torch.Tensor, ...],
        eager: torch.Tensor | tuple[torch.Tensor, ...],
        bound: float,
    ) -> None:
        """Expects the program's outputs to agree: the same shapes and dtypes, and values to `bound`
        relative to the greatest one (at least 1)."""
        wanted = [o.numpy() for o in (eager if isinstance(eager, tuple) else (eager,))]
        pte, given, got = (self.folder / f"{name}{end}" for end in (".pte", ".npz", ".out.npz"))
        pte.write_bytes(program)
        arrays = {f"in{i}": tensor.numpy() for i, tensor in enumerate(inputs)}
        np.savez(given, **arrays)  # type: ignore[arg-type, unused-ignore]
        done = self.run("run", str(pte), "-i", str(given), "-o", str(got))
        if done.returncode != 0:
            self.expect(False, f"{name}: status {done.returncode}: {done.stderr.strip()}")
            return
        with np.load(got) as outputs:
            results = [outputs[f"out{i}"] for i in range(len(wanted))]
        for i, (result, want) in enumerate(zip(results, wanted, strict=True)):
            same = (result.shape, result.dtype) == (want.shape, want.dtype)
            what = f"{name} output {i}: {result.dtype} {list(result.shape)}"
            if not same:
                self.expect(False, f"{what}, wanted {want.dtype} {list(want.shape)}")
                continue
            difference = np.abs(result.astype(np.float64) - want.astype(np.float64))
            scale = max(1.0, float(np.abs(want).max(initial=0)))
            error = float(difference.max(initial=0)) / scale
            self.expect(error <= bound, f"{what}, error {error:.1e}, at most {bound:.0e}")


def export(
    model: torch.nn.Module,
    inputs: tuple[torch.Tensor, ...],
    dynamic_shapes: object = None,
    check_operators: bool = True,
) -> bytes:
    """A program with the model delegated to OpenVINO."""
    lowered = to_edge_transform_and_lower(
        torch.export.export(model, inputs, dynamic_shapes=dynamic_shapes),
        partitioner=[OpenvinoPartitioner([CompileSpec("device", b"CPU")])],
        compile_config=EdgeCompileConfig(_check_ir_validity=check_operators),
    )
    return bytes(lowered.to_executorch().buffer)


def openvino_folder(version: str) -> str:
    variable = "PTERON_TEST_OPENVINO_" + version.replace(".", "_")
    if variable not in os.environ:
        sys.exit(f"{variable} is not set; scripts/test sets it")
    return os.environ[variable]


def run_suite(version: str, test: Callable[[Suite], None]) -> None:
    """Calls test(suite) and ends the process: 1 if anything failed."""
    with tempfile.TemporaryDirectory() as folder:
        build = Path(sys.argv[1])
        pteron = [str(build / "tools" / "pteron")]
        if (windows := build / "bin" / "pteron.exe").exists():
            emulator = Path(__file__).resolve().parent.parent / "windows" / "wine_run"
            pteron = [str(emulator), str(windows)]
        suite = Suite(pteron, openvino_folder(version), Path(folder))
        test(suite)
        print(f"{suite.count} checks, {len(suite.failures)} failed")
        sys.exit(1 if suite.failures or suite.count == 0 else 0)
