"""Options of Python as the C interface's struct."""

from __future__ import annotations

import ctypes
import numbers
import operator
import os
from collections.abc import Iterable, Mapping
from ctypes import c_char_p
from typing import Any, NamedTuple

from ._errors import ArgumentError, ArgumentTypeError
from ._library import ACCELERATE, HINTS, PRECISIONS, CProgramOptions


class Options(NamedTuple):
    """The options of `pteron.load`, checked."""

    device: str | None = None
    precision: str = "program"
    threads: int = 0
    weights: tuple[str, ...] = ()
    config: tuple[tuple[str, str], ...] = ()
    hint: str = "latency"
    accelerate: str = "auto"
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
        raw.device = None if self.device is None else text(self.device, "device")
        raw.openvino = None if self.openvino is None else text(self.openvino, "openvino")
        raw.cache_dir = None if self.cache_dir is None else text(self.cache_dir, "cache_dir")
        raw.config_keys = _texts((key for key, _ in self.config), "config")
        raw.config_values = _texts((value for _, value in self.config), "config")
        raw.config_count = len(self.config)
        raw.weights = _texts(self.weights, "weights")
        raw.weights_count = len(self.weights)
        raw.precision = PRECISIONS[self.precision]
        raw.hint = HINTS[self.hint]
        raw.accelerate = ACCELERATE[self.accelerate]
        raw.threads = self.threads
        raw.copy_file = self.copy_file
        raw.profile = self.profile
        raw.memory_limit = self.memory_limit
        raw.time_limit = self.time_limit
        return raw


def make_options(**given: Any) -> Options:
    """Options as a caller gives them."""
    raw: Any = Options(**given)
    one = isinstance(raw.weights, (str, bytes, os.PathLike))
    weights = (raw.weights,) if one else raw.weights
    if not isinstance(weights, Iterable):
        raise ArgumentTypeError("weights is no list of paths of .ptd files")
    config = {} if raw.config is None or raw.config == () else raw.config
    if not isinstance(config, Mapping):
        raise ArgumentTypeError('config is no dict of properties, such as {"NUM_STREAMS": 2}')
    checked: Options = raw._replace(
        precision=_one_of(PRECISIONS, raw.precision, "precision"),
        hint=_one_of(HINTS, raw.hint, "hint"),
        accelerate=_one_of(ACCELERATE, raw.accelerate, "accelerate"),
        device=None if raw.device is None else _string(raw.device, "device"),
        threads=whole_number(raw.threads, "threads", 2**31),
        # Absolute, so that a pickled program finds them from another folder.
        weights=tuple(_absolute(path_text(path, "weights")) for path in weights),
        config=tuple((_property(key), _property(value)) for key, value in config.items()),
        openvino=None if raw.openvino is None else _library(path_text(raw.openvino, "openvino")),
        cache_dir=None
        if raw.cache_dir is None
        else _absolute(path_text(raw.cache_dir, "cache_dir")),
        copy_file=flag(raw.copy_file, "copy_file"),
        profile=flag(raw.profile, "profile"),
        memory_limit=whole_number(raw.memory_limit, "memory_limit"),
        time_limit=_seconds(raw.time_limit, "time_limit"),
        seed=whole_number(raw.seed, "seed"),
    )
    return checked


def whole_number(value: Any, name: str, end: int = 2**64) -> int:
    """An option that is a number from 0 to below `end`, as C takes it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} is {value!r}, but a whole number is wanted") from None
    if not 0 <= number < end:
        raise ArgumentError(f"{name} is {number}, but a number from 0 to {end - 1} is wanted")
    return number


def text(value: Any, name: str) -> bytes:
    """A text as C takes it."""
    string = _string(value, name)
    if "\0" in string:
        raise ArgumentError(f"{name} is {string!r}, which holds a NUL character")
    try:
        return string.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ArgumentError(f"{name} is {string!r}, which UTF-8 cannot tell") from None


def flag(value: Any, name: str) -> bool:
    """An option that is on or off."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{name} is {value!r}, but True or False is wanted") from None


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} is {value!r}, but a string is wanted")
    return str.__str__(value)  # A subclass, such as an enumeration, may tell something else.


def _one_of(names: Mapping[str, int], value: Any, option: str) -> str:
    string = _string(value, option)
    if string not in names:
        raise ArgumentError(f'{option} "{string}" is none of {", ".join(names)}')
    return string


def path_text(value: Any, name: str) -> str:
    """A path as a plain string."""
    try:
        return str.__str__(os.fsdecode(value))
    except TypeError:
        raise ArgumentTypeError(f"{name} is {value!r}, but a path is wanted") from None


def _absolute(path: str) -> str:
    return os.path.abspath(path) if path else path


def _library(path: str) -> str:
    # A bare name is searched for by the system.
    return _absolute(path) if os.path.dirname(path) or os.path.isdir(path) else path


def _seconds(value: Any, name: str) -> float:
    if not isinstance(value, numbers.Real):  # Which NumPy's numbers are too.
        raise ArgumentTypeError(f"{name} is {value!r}, but seconds are wanted")
    try:
        return float(value)
    except OverflowError:
        raise ArgumentError(f"{name} is a number too large for a float") from None


def _property(value: object) -> str:
    if isinstance(value, bool):
        return "YES" if value else "NO"
    return str.__str__(value) if isinstance(value, str) else str(value)


def _texts(values: Iterable[str], name: str) -> Any:
    texts = [text(value, name) for value in values]
    return (c_char_p * len(texts))(*texts) if texts else None
