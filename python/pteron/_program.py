"""A program: its methods, and running it from any number of threads."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import _openvino
from ._errors import (
    ArgumentTypeError,
    FileError,
    FileMissingError,
    call,
    call_for_json,
)
from ._handle import Closable, ProgramHandle
from ._library import library
from ._method import Method
from ._options import Options, make_options, path_text, text
from ._pool import Pool
from ._specs import Spec, counted, shape_text
from ._values import describe


def load(
    source: Any,
    *,
    device: str | None = None,
    precision: str = "program",
    threads: int = 0,
    weights: Any = (),
    config: dict[str, Any] | None = None,
    hint: str = "latency",
    accelerate: str = "auto",
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
    accelerate: whether the program's own operators are compiled for OpenVINO: "auto" where it
        repays the time that compiling takes, "on" wherever possible, or "off".
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
        accelerate=accelerate,
        openvino=openvino,
        cache_dir=cache_dir,
        copy_file=copy_file,
        profile=profile,
        memory_limit=memory_limit,
        time_limit=time_limit,
        seed=seed,
    )
    return Program(source, options)


class Program(Closable):
    """An ExecuTorch program. Any thread may use it; `load` makes it.

    Calling it runs its method "forward", or its only one. Threads that call it at the same time get
    a method each, at most as many as this process has cores; a program that keeps state has one,
    and its callers take turns.

    >>> import numpy
    >>> with load("tests/data/models/lstm_portable.pte", threads=1) as program:
    ...     program(numpy.zeros((2, 6), "int64")).dtype
    dtype('float32')
    """

    def __init__(self, source: Any, options: Options | None = None) -> None:
        _openvino.tell_library()
        self._what = "the program"
        if options is None:
            options = Options()
        self._options = options
        self._path: str | None = None
        handle = ProgramHandle()
        raw = options.to_c()
        if isinstance(source, (str, os.PathLike)):
            path = path_text(source, "a program")
            _open(
                "pteron_program_open",
                (text(path, "a path"),),
                raw,
                handle,
                (path, *options.weights),
            )
            # Absolute, so that a pickled program is found from another folder.
            self._path = os.path.abspath(path)
        else:
            data = _bytes_of(source)
            # Not kept here, so the library copies what it needs.
            raw.copy_file = 1
            _open("pteron_program_open_memory", (data, len(data)), raw, handle, options.weights)
        self._handle = handle
        self.method_names: tuple[str, ...] = tuple(
            library.pteron_program_method_name(handle, i).decode("utf-8", "replace")
            for i in range(library.pteron_program_method_count(handle))
        )
        self._pool = Pool()

    # ---- Running

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Runs "forward", or the only method, from any thread. Arguments as of Method."""
        pool = self._pool
        return pool.use(pool.lend(), self.method, lambda method: method(*inputs, **named))

    async def run_async(self, *inputs: Any, **named: Any) -> Any:
        """The same, while the event loop goes on. The inputs must stay as they are until then.

        Cancelling the task that waits ends the run too, or it never begins.
        """
        # Not imported before it is needed: it takes as long as all else here.
        import asyncio

        pool = self._pool
        lent = pool.lend()

        def run() -> Any:
            return pool.use(lent, self.method, lambda method: method(*inputs, **named))

        try:
            return await asyncio.get_running_loop().run_in_executor(pool.executor(), run)
        except asyncio.CancelledError:
            pool.cancel(lent)
            raise

    def method(
        self,
        name: str | None = None,
        *,
        shares_state_with: Method | None = None,
        seed: int | None = None,
    ) -> Method:
        """Loads a method; None: "forward", or the only one. Compiled models and weights are the
        program's, so that a second one costs its own memory only.

        shares_state_with: a method of this program. Those of its mutable buffers that the program
            was exported to share (in memory of id 2 and up) are used by both; others are not.
        seed: of random operators.

        Raises MissingError naming all operators and delegates that are missing, and where OpenVINO
        is needed and not there.
        """
        return Method(self, name, shares_state_with, self._options.seed if seed is None else seed)

    @property
    def inputs(self) -> tuple[Spec, ...]:
        """What calling the program takes."""
        return self._pool.use(self._pool.lend(), self.method, lambda method: method.inputs)

    @property
    def outputs(self) -> tuple[Spec, ...]:
        """What calling the program gives."""
        return self._pool.use(self._pool.lend(), self.method, lambda method: method.outputs)

    @property
    def info(self) -> dict[str, Any]:
        """What the program holds and what would run where (docs/json.md)."""
        return call_for_json("pteron_program_info", self._open())

    # ---- Its end

    def close(self) -> None:
        """Frees the program and the methods it called itself, after the runs that are awaited;
        those from `method` live on. Using it afterwards raises ClosedError."""
        self._pool.close()
        super().close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._path is None:
            raise ArgumentTypeError(
                "a program that was loaded from bytes cannot be pickled; load it from a path"
            )
        return (Program, (self._path, self._options))

    def __repr__(self) -> str:
        where = self._path or "bytes"
        if self._handle is None:
            return f"<pteron.Program {where}, closed>"
        return f"<pteron.Program {where}: {', '.join(self.method_names)}>"

    def _repr_html_(self) -> str:
        import html  # Here, since notebooks alone need it.

        if self._handle is None:
            return html.escape(repr(self))
        rows = []
        for method in self.info["methods"]:
            calls: dict[str, int] = {}  # Of each kind.
            for part in method["runs"]["parts"]:
                kind = f"of {part['part']} by {part['ran_by'] or 'nobody'}"
                calls[kind] = calls.get(kind, 0) + part["calls"]
            parts = ", ".join(f"{counted(count, 'call')} {kind}" for kind, count in calls.items())
            cells = (method["name"], _list(method["inputs"]), _list(method["outputs"]), parts)
            rows.append("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>")
        heads = "".join(f"<th>{head}</th>" for head in ("method", "inputs", "outputs", "parts"))
        title = html.escape(self._path or "bytes")
        return f"<table><caption>{title}</caption><tr>{heads}</tr>{''.join(rows)}</table>"


def _open(
    function: str, source: tuple[Any, ...], raw: Any, handle: ProgramHandle, files: tuple[str, ...]
) -> None:
    """Opens a program that is read from `files`."""
    try:
        call(function, *source, ctypes.byref(raw), ctypes.byref(handle))
    except FileError as error:
        if not all(map(os.path.exists, files)):
            raise FileMissingError(*error.args) from None
        raise


def _bytes_of(source: Any) -> bytes:
    if hasattr(source, "read"):
        source = source.read()
        if isinstance(source, str):
            raise ArgumentTypeError(
                "a program is loaded from a path, bytes or a binary file, but got a file of text; "
                'open it with "rb"'
            )
    if isinstance(source, bytes):
        return source
    try:
        return memoryview(source).tobytes()
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"a program is loaded from a path, bytes or a binary file, but got {describe(source)}"
        ) from None


def _list(specs: list[dict[str, Any]]) -> str:
    texts = []
    for spec in specs:
        what = spec["kind"]
        if "shape" in spec:
            what = f"{spec['dtype']} {shape_text(spec['shape'], spec['dynamic'])}"
        texts.append(f"{spec['name']}: {what}")
    return ", ".join(texts)
