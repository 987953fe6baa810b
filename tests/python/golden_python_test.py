#!/usr/bin/env python3
"""Every golden program through the Python package, against eager PyTorch.

usage: golden_python_test.py [Class.test]...   with PTERON_GOLDEN and PTERON_OPENVINO, as ctest
sets them
"""

import json
import os
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pteron

GOLDEN = Path(os.environ["PTERON_GOLDEN"])
OPENVINO = os.environ.get("PTERON_OPENVINO") or None
EXCEPTIONS = Path(__file__).parent.parent / "golden/exceptions.txt"


def exceptions() -> set[str]:
    lines = [line.split() for line in EXCEPTIONS.read_text().splitlines()]
    return {words[0] for words in lines if words and not words[0].startswith(("#", "operator:"))}


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def largest_error(got: np.ndarray, eager: np.ndarray) -> float:
    """Relative, floor 1; infinite where one is not a number and the other is."""
    a, b = wide(got), wide(eager)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(a - b) / np.maximum(1, np.abs(b))
    error = np.where(same, 0, np.where(np.isfinite(error), error, np.inf))
    return float(error.max(initial=0))


class Golden(unittest.TestCase):
    def check_flow(self, flow: str) -> None:
        apart = exceptions()
        ran = 0
        for folder in sorted((GOLDEN / flow).iterdir()):
            if f"{flow}/{folder.name}" in apart:
                continue
            with self.subTest(folder.name):
                self.check_case(folder, 1e-5 if flow == "portable" else 1e-4)
            ran += 1
        self.assertGreater(ran, 300)

    def check_case(self, folder: Path, tolerance: float) -> None:
        if folder.name.startswith("quant__"):
            tolerance = 5e-3
        case = json.loads((folder / "case.json").read_text())
        weights = [folder / case["ptd"]] if case["ptd"] else []
        program = pteron.load(folder / "model.pte", weights=weights, openvino=OPENVINO)
        methods: dict[str, pteron.Method] = {}
        for k, run in enumerate(case["runs"]):
            arrays = np.load(folder / f"io_{k}.npz")
            name = run["method"]
            first = next(iter(methods.values()), None)
            if name not in methods:
                methods[name] = program.method(name, shares_state_with=first)
            method = methods[name]
            inputs = []
            for i, (spec, wanted) in enumerate(zip(method.inputs, run["inputs"], strict=True)):
                array = arrays.get(f"in_{i}")
                if wanted["kind"] != "tensor":
                    inputs.append(wanted["value"] if "value" in wanted else array.item())
                elif spec.dtype == "bfloat16":
                    inputs.append(Bfloat16(array))
                else:
                    inputs.append(array)
            outputs = method(*inputs)
            if not isinstance(outputs, tuple):
                outputs = (outputs,)
            for i, (spec, wanted) in enumerate(zip(method.outputs, run["outputs"], strict=False)):
                # What PyTorch gave nothing for: an output that only the program has.
                if wanted["kind"] != "tensor" or f"eager_{i}" not in arrays:
                    continue
                eager = arrays[f"eager_{i}"]
                if spec.dtype == "bfloat16":
                    eager = bfloat16(eager)
                self.assertEqual(outputs[i].shape, eager.shape)
                # bfloat16 without ml_dtypes comes out as float32.
                self.assertEqual(outputs[i].dtype, spec.numpy_dtype or eager.dtype)
                if eager.dtype.kind in "iub":
                    np.testing.assert_array_equal(outputs[i], eager)
                    continue
                bound = {"float16": 2e-3, "bfloat16": 1.6e-2}.get(spec.dtype or "", tolerance)
                self.assertLessEqual(largest_error(outputs[i], eager), bound)

    def test_programs_without_delegates_agree_with_pytorch(self) -> None:
        self.check_flow("portable")

    def test_programs_delegated_to_openvino_agree_with_pytorch(self) -> None:
        if OPENVINO is None:
            self.skipTest("OpenVINO 2025.4.1 is not installed for tests")
        self.check_flow("openvino")


class Bfloat16:
    """bfloat16 by DLPack, as PyTorch's tensors come; NumPy has none."""

    def __init__(self, bits: np.ndarray) -> None:
        self.bits = np.ascontiguousarray(bits)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self) -> Any:
        from dlpack_capsule import capsule

        return capsule(self.bits, code=4, bits=16)


if __name__ == "__main__":
    unittest.main()
