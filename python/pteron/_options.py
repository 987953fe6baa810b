"""Options of Python as the C interface's struct."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from ctypes import c_char_p
from dataclasses import dataclass
from typing import Any

from ._errors import ArgumentError, ArgumentTypeError
from ._library import HINTS, PRECISIONS, CProgramOptions


@dataclass(frozen=True)
class Options:
    """The options of `pteron.load`, checked."""

    device: str | None = None
    precision: str = "program"
    threads: int = 0
    weights: tuple[str, ...] = ()
    config: tuple[tuple[str, str], ...] = ()
    hint: str = "latency"
    openvino: str | None = None
    cache_dir: str | None = None
    copy_file: bool = False
    profile: bool = False
    memory_limit: int = 0
    time_limit: float = 0.0
    seed: int = 0

    def to_c(self) -> CProgramOptions:
        """The struct; it keeps what it points at."""
        raw = CProgramOptions(struct_size=ctypes.sizeof(CProgramOptions))
        raw.device = _text(self.device)
        raw.openvino = _text(self.openvino)
        raw.cache_dir = _text(self.cache_dir)
        raw.config_keys = _texts(key for key, _ in self.config)
        raw.config_values = _texts(value for _, value in self.config)
        raw.config_count = len(self.config)
        raw.weights = _texts(self.weights)
        raw.weights_count = len(self.weights)
        raw.precision = PRECISIONS[self.precision]
        raw.hint = HINTS[self.hint]
        raw.threads = self.threads
        raw.copy_file = self.copy_file
        raw.profile = self.profile
        raw.memory_limit = self.memory_limit
        raw.time_limit = self.time_limit
        return raw


def make_options(
    *,
    weights: Any = (),
    config: Mapping[str, object] | None = None,
    precision: str = "program",
    hint: str = "latency",
    threads: int = 0,
    openvino: Any = None,
    cache_dir: Any = None,
    **others: Any,
) -> Options:
    """Options as a caller gives them."""
    if precision not in PRECISIONS:
        raise ArgumentError(f'precision "{precision}" is none of {", ".join(PRECISIONS)}')
    if hint not in HINTS:
        raise ArgumentError(f'hint "{hint}" is none of {", ".join(HINTS)}')
    if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads < 2**31:
        raise ArgumentError(f"threads is {threads!r}, but a number from 0 is wanted (0: all cores)")
    if isinstance(weights, (str, bytes, os.PathLike)):
        weights = (weights,)
    if not isinstance(weights, Iterable):
        raise ArgumentTypeError("weights is no list of paths of .ptd files")
    return Options(
        weights=tuple(os.fsdecode(path) for path in weights),
        config=tuple((str(key), _property(value)) for key, value in (config or {}).items()),
        precision=precision,
        hint=hint,
        threads=threads,
        openvino=None if openvino is None else os.fsdecode(openvino),
        cache_dir=None if cache_dir is None else os.fsdecode(cache_dir),
        **others,
    )


def _property(value: object) -> str:
    if isinstance(value, bool):
        return "YES" if value else "NO"
    return str(value)


def _text(value: str | None) -> bytes | None:
    if value is None:
        return None
    if "\0" in value:
        raise ArgumentError(f"{value!r} holds a NUL character")
    return value.encode("utf-8", "surrogateescape")


def _texts(values: Iterable[str]) -> Any:
    texts = [_text(value) for value in values]
    return (c_char_p * len(texts))(*texts) if texts else None
