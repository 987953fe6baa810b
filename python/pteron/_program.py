"""A program: its methods, and running it from any number of threads."""

from __future__ import annotations

import ctypes
import html
import json
import os
import threading
from ctypes import c_void_p
from typing import TYPE_CHECKING, Any

from . import _openvino
from ._errors import (
    ArgumentTypeError,
    ClosedError,
    FileError,
    FileMissingError,
    call,
    call_for_text,
)
from ._library import library
from ._method import Method
from ._options import Options, make_options
from ._specs import Spec
from ._values import describe

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


def load(
    source: Any,
    *,
    device: str | None = None,
    precision: str = "program",
    threads: int = 0,
    weights: Any = (),
    config: dict[str, Any] | None = None,
    hint: str = "latency",
    openvino: Any = None,
    cache_dir: Any = None,
    copy_file: bool = False,
    profile: bool = False,
    memory_limit: int = 0,
    time_limit: float = 0.0,
    seed: int = 0,
) -> Program:
    """Opens a program.

    source: the path of a .pte file, or its bytes (bytes, bytearray, memoryview: copied), or a
        file object that is open for reading in binary mode.
    device: "CPU", "GPU.1", "NPU", "none" for no OpenVINO at all; None: what the program says.
    precision: "program" computes as the program says; "fast" as the device likes best; or "f32",
        "f16", "bf16".
    threads: how many a method computes with; 0: the cores that this process may use.
    weights: paths of .ptd files.
    config: OpenVINO's properties for the device: {"NUM_STREAMS": 2}.
    hint: "latency" or "throughput".
    openvino: OpenVINO's C library, or a folder that has it; None: it is searched for.
    cache_dir: the folder of OpenVINO's model cache.
    copy_file: reads the file into memory instead of mapping it, so that it may change on disk.
    profile: lets `Method.profile` tell times.
    memory_limit: the most bytes that a method plans, 0: 8 GiB. time_limit: the most seconds of a
        run, 0: none. seed: of random operators.

    Raises FileMissingError (a FileNotFoundError), FileError (an OSError), MalformedError (a
    ValueError), MissingError for weights that were not given. OpenVINO is needed when a method is
    loaded, not before.

    >>> program = load("tests/data/models/lstm_portable.pte")
    >>> program.method_names
    ('forward',)
    """
    options = make_options(
        device=device,
        precision=precision,
        threads=threads,
        weights=weights,
        config=config,
        hint=hint,
        openvino=openvino,
        cache_dir=cache_dir,
        copy_file=copy_file,
        profile=profile,
        memory_limit=memory_limit,
        time_limit=time_limit,
        seed=seed,
    )
    return Program(source, options)


class Program:
    """An ExecuTorch program. Any thread may use it; `load` makes it.

    Calling it runs its method "forward", or its only one. Threads that call it at the same time get
    a method each, at most as many as this process has cores; a program that keeps state has one,
    and its callers take turns.
    """

    def __init__(self, source: Any, options: Options) -> None:
        self._handle = c_void_p()
        _openvino.tell_library()
        self._options = options
        self._path: str | None = None
        self._gate = threading.Lock()
        handle = c_void_p()
        raw = options.to_c()
        if isinstance(source, (str, os.PathLike)):
            # Absolute, so that a pickled program is found from another folder.
            self._path = os.path.abspath(os.fspath(source))
            self._open_file(os.fspath(source), raw, handle)
        else:
            data = _bytes_of(source)
            raw.copy_file = 1
            call(
                "pteron_program_open_memory",
                data,
                len(data),
                ctypes.byref(raw),
                ctypes.byref(handle),
            )
        self._handle = handle
        self.method_names: tuple[str, ...] = tuple(
            library.pteron_program_method_name(handle, i).decode("utf-8", "replace")
            for i in range(library.pteron_program_method_count(handle))
        )
        self._pool = _Pool(self)
        self._executor: ThreadPoolExecutor | None = None

    def _open_file(self, path: str, raw: Any, handle: c_void_p) -> None:
        try:
            call(
                "pteron_program_open",
                os.fsencode(path),
                ctypes.byref(raw),
                ctypes.byref(handle),
            )
        except FileError as error:
            if not os.path.exists(path):
                raise FileMissingError(*error.args) from None
            raise

    # ---- Running

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Runs "forward", or the only method, from any thread. Arguments as of Method."""
        with self._pool.method() as method:
            return method(*inputs, **named)

    async def run_async(self, *inputs: Any, **named: Any) -> Any:
        """The same, while the event loop goes on. The inputs must stay as they are until then."""
        # Not imported before they are needed: they take as long as all else here.
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        with self._gate:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(_cores(), "pteron")
            executor = self._executor
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(executor, lambda: self(*inputs, **named))

    def method(
        self,
        name: str | None = None,
        *,
        shares_state_with: Method | None = None,
        seed: int | None = None,
    ) -> Method:
        """Loads a method; None: "forward", or the only one. Compiled models and weights are the
        program's, so that a second one costs its own memory only.

        shares_state_with: a method of this program whose mutable buffers this one uses too.
        seed: of random operators.

        Raises MissingError naming all operators and delegates that are missing, and where OpenVINO
        is needed and not there.
        """
        return Method(self, name, shares_state_with, self._options.seed if seed is None else seed)

    @property
    def inputs(self) -> tuple[Spec, ...]:
        """What calling the program takes."""
        with self._pool.method() as method:
            return method.inputs

    @property
    def outputs(self) -> tuple[Spec, ...]:
        """What calling the program gives."""
        with self._pool.method() as method:
            return method.outputs

    @property
    def info(self) -> dict[str, Any]:
        """What the program holds and what would run where (docs/json.md)."""
        with self._opened() as handle:
            found: dict[str, Any] = json.loads(call_for_text("pteron_program_info", handle))
            return found

    # ---- Its end

    def close(self) -> None:
        """Frees the program and the methods it called itself; those from `method` live on."""
        with self._gate:
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()
        self._pool.close()
        with self._gate:
            handle, self._handle = self._handle, c_void_p()
        if handle:
            library.pteron_program_free(handle)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            self._handle = c_void_p()
            library.pteron_program_free(handle)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._path is None:
            raise ArgumentTypeError(
                "a program that was loaded from bytes cannot be pickled; load it from a path"
            )
        return (Program, (self._path, self._options))

    def __repr__(self) -> str:
        where = self._path or "bytes"
        if not self._handle:
            return f"<pteron.Program {where}, closed>"
        return f"<pteron.Program {where}: {', '.join(self.method_names)}>"

    def _repr_html_(self) -> str:
        rows = []
        for method in self.info["methods"]:
            parts = ", ".join(
                f"{part['calls']} calls of {part['part']} by {part['ran_by'] or 'nobody'}"
                for part in method["runs"]["parts"]
            )
            cells = (method["name"], _list(method["inputs"]), _list(method["outputs"]), parts)
            rows.append("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>")
        heads = "".join(f"<th>{head}</th>" for head in ("method", "inputs", "outputs", "parts"))
        title = html.escape(self._path or "bytes")
        return f"<table><caption>{title}</caption><tr>{heads}</tr>{''.join(rows)}</table>"

    def _opened(self) -> _Opened:
        return _Opened(self)


class _Opened:
    """The program's handle, which stays open meanwhile."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def __enter__(self) -> c_void_p:
        program = self._program
        program._gate.acquire()
        if not program._handle:
            program._gate.release()
            raise ClosedError("the program was closed")
        return program._handle

    def __exit__(self, *_: object) -> None:
        self._program._gate.release()


class _Pool:
    """Methods for the threads that call a program: made when one is wanted and none is idle."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._wanted = threading.Condition()
        self._idle: list[Method] = []
        self._made = 0
        self._limit = 0
        self._closed = False

    def method(self) -> _Lent:
        return _Lent(self)

    def take(self) -> Method:
        with self._wanted:
            while True:
                if self._closed:
                    raise ClosedError("the program was closed")
                if self._idle:
                    return self._idle.pop()
                if self._limit == 0 or self._made < self._limit:
                    break
                self._wanted.wait()
            # The first tells whether there is state, so it is made alone.
            first = self._made == 0
            if not first:
                self._made += 1
            else:
                method = self._program.method()
                self._made = 1
                self._limit = 1 if len(method.state) else _cores()
                return method
        try:
            return self._program.method()
        except BaseException:
            with self._wanted:
                self._made -= 1
                self._wanted.notify()
            raise

    def give_back(self, method: Method) -> None:
        with self._wanted:
            if not self._closed:
                self._idle.append(method)
                self._wanted.notify()
                return
        method.close()

    def close(self) -> None:
        with self._wanted:
            self._closed = True
            idle, self._idle = self._idle, []
            self._wanted.notify_all()
        for method in idle:
            method.close()


class _Lent:
    """A method of a pool, for as long as a call takes."""

    __slots__ = ("_method", "_pool")

    def __init__(self, pool: _Pool) -> None:
        self._pool = pool

    def __enter__(self) -> Method:
        self._method = self._pool.take()
        return self._method

    def __exit__(self, *_: object) -> None:
        self._pool.give_back(self._method)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _bytes_of(source: Any) -> bytes:
    if hasattr(source, "read"):
        source = source.read()
    if isinstance(source, bytes):
        return source
    try:
        return bytes(memoryview(source).cast("B"))
    except TypeError:
        raise ArgumentTypeError(
            f"a program is loaded from a path, bytes or a binary file, but got {describe(source)}"
        ) from None


def _list(specs: list[dict[str, Any]]) -> str:
    texts = []
    for spec in specs:
        what = spec["kind"]
        if "shape" in spec:
            bound = "≤" if spec.get("dynamic") else ""
            what = f"{spec['dtype']} [{', '.join(f'{bound}{size}' for size in spec['shape'])}]"
        texts.append(f"{spec['name']}: {what}")
    return ", ".join(texts)
