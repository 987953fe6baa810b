"""The names and the behaviour of `executorch.runtime`, on Pteron.

`from pteron.runtime import Runtime` for `from executorch.runtime import Runtime` moves a script
over. What comes out is NumPy's, or PyTorch's where a tensor of PyTorch came in; PyTorch need not be
installed. Failures are RuntimeErrors, as there, and also `pteron.Error`s that say what to do.
docs/from_executorch.md tells what differs.

>>> runtime = Runtime.get()
>>> program = runtime.load_program("tests/data/models/lstm_portable.pte")
>>> program.metadata("forward").input_tensor_meta(0)
TensorInfo(sizes=[2, 6], dtype=Long, is_memory_planned=True, nbytes=96)
"""

from __future__ import annotations

import contextlib
import enum
import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from .. import _errors
from .._machine import registered
from .._method import Method as _Method
from .._numpy import np
from .._program import Program as _Program
from .._program import load as _load
from .._values import describe
from ._meta import MethodMeta, TensorInfo

__all__ = [
    "BackendRegistry",
    "Error",
    "Method",
    "MethodMeta",
    "OperatorRegistry",
    "Program",
    "Runtime",
    "TensorInfo",
    "Verification",
]


class Error(_errors.Error, RuntimeError):
    """Any failure of this module: ExecuTorch's is a RuntimeError."""


@contextlib.contextmanager
def _as_runtime_error() -> Iterator[None]:
    try:
        yield
    except _errors.Error as error:
        raise Error(*error.args) from error


class Verification(enum.Enum):
    """How much of a file is verified; Pteron verifies all of it, always."""

    Minimal = 0
    InternalConsistency = 1


class Method:
    """A method that was loaded from a program."""

    def __init__(self, method: _Method, metadata: MethodMeta) -> None:
        self._method = method
        self._metadata = metadata

    def execute(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Runs the method on its inputs, or on its only one; gives a list of its outputs."""
        if hasattr(inputs, "__dlpack__"):
            inputs = (inputs,)
        if not isinstance(inputs, Sequence) or isinstance(inputs, (str, bytes)):
            raise _errors.ArgumentTypeError(
                f"execute takes a list of inputs, but got {describe(inputs)}"
            )
        with _as_runtime_error():
            outputs = self._method(*inputs)
        results = list(outputs) if isinstance(outputs, tuple) else [outputs]
        torch = sys.modules.get("torch")
        if torch is not None and any(isinstance(value, torch.Tensor) for value in inputs):
            pairs = zip(results, self._method.outputs, strict=True)
            return [_to_torch(torch, value, spec.dtype) for value, spec in pairs]
        return results

    @property
    def metadata(self) -> MethodMeta:
        """What the method takes and gives."""
        return self._metadata


class Program:
    """A program that was loaded."""

    def __init__(self, program: _Program) -> None:
        self._program = program
        self._methods: dict[str, Method | None] = dict.fromkeys(program.method_names)

    @property
    def method_names(self) -> set[str]:
        """The names of its methods."""
        return set(self._methods)

    def load_method(self, name: str) -> Method | None:
        """Loads a method, once; raises KeyError for a name that is not there."""
        if self._methods[name] is None:
            with _as_runtime_error():
                self._methods[name] = Method(self._program.method(name), self.metadata(name))
        return self._methods[name]

    def metadata(self, method_name: str) -> MethodMeta:
        """What a method takes and gives, without loading it."""
        for method in self._program.info["methods"]:
            if method["name"] == method_name:
                return MethodMeta(method)
        raise Error(f'the program has no method "{method_name}"; it has {", ".join(self._methods)}')

    def write_etdump_result_to_file(self, etdump_path: str, debug_buffer_path: str) -> None:
        """ExecuTorch's event dump, which Pteron does not write."""
        raise NotImplementedError(
            "Pteron writes no ETDump; pteron.load(path, profile=True) and Method.profile tell "
            "times, and so does the command `pteron profile`"
        )


class BackendRegistry:
    """The delegates that programs may call."""

    @property
    def registered_backend_names(self) -> list[str]:
        """Their ids."""
        return list(registered()["delegates"])

    def is_available(self, backend_name: str) -> bool:
        """Whether a delegate is there and what it needs is found: OpenVINO for OpenvinoBackend."""
        from .. import doctor

        if backend_name not in self.registered_backend_names:
            return False
        return backend_name != "OpenvinoBackend" or bool(doctor()["ok"])


class OperatorRegistry:
    """The operators that there are kernels for."""

    @property
    def operator_names(self) -> set[str]:
        """Their names: aten::add.out."""
        return set(registered()["operators"])


class Runtime:
    """The one runtime of this process: `Runtime.get()`."""

    @staticmethod
    @functools.lru_cache(maxsize=1)
    def get() -> Runtime:
        """The runtime."""
        return Runtime()

    def __init__(self) -> None:
        self.backend_registry = BackendRegistry()
        self.operator_registry = OperatorRegistry()

    def load_program(
        self,
        data: bytes | bytearray | BinaryIO | Path | str,
        *,
        verification: Verification = Verification.InternalConsistency,
        enable_etdump: bool = False,
        debug_buffer_size: int = 0,
        data_path: Path | str | None = None,
    ) -> Program:
        """Loads a program from a path, bytes, or a binary file.

        verification: any value; the whole file is verified always.
        enable_etdump, debug_buffer_size: must be left alone: Pteron writes no ETDump.
        data_path: of a .ptd file with weights that are not in the program.
        """
        if not isinstance(verification, Verification):
            raise _errors.ArgumentTypeError(
                f"verification is {verification!r}, but a Verification is wanted"
            )
        if enable_etdump or debug_buffer_size:
            raise NotImplementedError(
                "Pteron writes no ETDump; use pteron.load(path, profile=True) and Method.profile"
            )
        if not isinstance(data, (str, Path, bytes, bytearray)) and not hasattr(data, "read"):
            raise _errors.ArgumentTypeError(
                "a program is loaded from bytes, bytearray, a path or a binary file, but got "
                f"{describe(data)}"
            )
        with _as_runtime_error():
            return Program(_load(data, weights=() if data_path is None else data_path))


def _to_torch(torch: Any, value: Any, dtype: str | None) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if dtype == "bfloat16":
        # As float32, or ml_dtypes' own, which PyTorch does not take; float32 holds each value.
        return torch.from_numpy(value.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(value)
