"""A loaded method: arrays in, arrays out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_void_p
from typing import TYPE_CHECKING, Any, TypeVar

from ._dtypes import code_of
from ._errors import (
    ArgumentError,
    ArgumentTypeError,
    BusyError,
    CancelledError,
    call,
    call_for_json,
    take_error,
)
from ._handle import Closable, Handle, MethodHandle
from ._library import TENSOR, CMethodOptions, CValue, library
from ._numpy import imported_meanwhile, np
from ._options import Options, flag, text, whole_number
from ._specs import Spec, counted, position, read_specs
from ._values import (
    TensorSlot,
    check_rank,
    describe,
    load_value,
    plain_array,
    store_scalar,
    store_tensor,
    wrong_dtype,
)

if TYPE_CHECKING:
    from ._pool import Lent
    from ._program import Program

T = TypeVar("T")

_announce = library.pteron_method_announce
_run = library.pteron_method_run
_get_output = library.pteron_method_get_output


class Method(Closable):
    """A method of a program, with memory of its own.

    Call it with its inputs: NumPy arrays, tensors of PyTorch, JAX or OpenVINO on the CPU, whatever
    has `__dlpack__` or the buffer protocol, of any strides. Their dtypes must be the method's.

    One thread at a time may use it: another finds it busy. Methods of one program run in parallel.

    >>> import numpy, pteron
    >>> method = pteron.load("tests/data/models/lstm_portable.pte").method("forward")
    >>> method
    <pteron.Method forward(input0: int64 [2, 6]) -> output0: float32 [2, 6, 7]>
    >>> out = numpy.empty((2, 6, 7), "float32")
    >>> method(input0=numpy.zeros((2, 6), "int64"), out=out) is out
    True
    """

    def __init__(
        self, program: Program, name: str | None, shares_state_with: Method | None, seed: int
    ) -> None:
        self._users: dict[object, None] = {}  # The first has the method, the others find it busy.
        self._bound: tuple[Any, ...] | None = None  # What outputs may be bound to.
        self.lent: Lent | None = None  # The call for which a pool lent it last.
        options = CMethodOptions(struct_size=ctypes.sizeof(CMethodOptions))
        options.seed = whole_number(seed, "seed")
        # What a pickled method is loaded from: not the program itself, which would never go then.
        self._source = (program._path, program._options, options.seed)
        # State that is shared lives in the other method's memory too.
        self._shares: Handle | None = None
        if shares_state_with is not None:
            if not isinstance(shares_state_with, Method):
                raise ArgumentTypeError(
                    f"shares_state_with is {describe(shares_state_with)}, "
                    "but a method of the same program is wanted"
                )
            self._shares = shares_state_with._open()
            options.shares_state_with = self._shares.value
        wanted = None if name is None else text(name, "a method's name")
        handle = MethodHandle()
        with imported_meanwhile():
            call(
                "pteron_method_load",
                program._open(),
                wanted,
                ctypes.byref(options),
                ctypes.byref(handle),
            )
        self._handle = handle
        if name is None:
            name = "forward" if "forward" in program.method_names else program.method_names[0]
        self.name = name
        self._what = f'method "{name}"'
        self._read(handle)

    def _read(self, handle: MethodHandle) -> None:
        count = library.pteron_method_input_count(handle)
        self._inputs = read_specs("pteron_method_input_spec", handle, count)
        self._outputs = read_specs(
            "pteron_method_output_spec", handle, library.pteron_method_output_count(handle)
        )
        self._values = (CValue * count)()
        self._slots = [
            TensorSlot(self._values[i]) if spec.kind == "tensor" else None
            for i, spec in enumerate(self._inputs)
        ]
        # What the usual input looks like: then its address is all that is stored.
        self._usual: list[tuple[Any, Any, Any]] = []
        for spec, slot in zip(self._inputs, self._slots, strict=True):
            if slot is None or spec.dynamic or spec.numpy_dtype is None:
                self._usual.append((None, None, None))
                continue
            self._usual.append((spec.numpy_dtype, spec.shape, slot))
        self._settled = [False] * count
        self._order = [spec.name for spec in self._inputs]
        self._output = CValue()
        self._views: list[tuple[int, Any]] = [(0, None)] * len(self._outputs)
        # Outputs whose memory seldom moves, and is read as it is: then a view serves again.
        self._steady = [not spec.dynamic and spec.numpy_dtype is not None for spec in self._outputs]

    # ---- Running

    def __call__(
        self,
        *inputs: Any,
        out: Any = None,
        borrow: bool = False,
        **named: Any,
    ) -> Any:
        """Runs the method once; gives its output, or a tuple of them if it has several.

        inputs, named: by position or by the names in `inputs`; a single dict does as well.
        out: an array, or a sequence of one for each output (None for those left to the method),
            that the outputs are written to: row-major, of their dtype and shape.
        borrow: gives read-only views of the method's own memory instead of copies; they hold until
            the method runs again, and keep that memory when it is closed.

        Raises ArgumentTypeError (a TypeError) for a wrong dtype or what is no array, ArgumentError
        (a ValueError) for a wrong shape or count, ExecutionError where a part of it fails.
        """
        # As _alone, and faster.
        users, me = self._users, object()
        try:
            users[me] = None
            if len(users) > 1:
                self._check_first(me)
            return self._call(inputs, named, out, borrow)
        finally:
            users.pop(me, None)

    def _alone(self, action: Callable[[Handle], T]) -> T:
        """What `action` gives for the handle, while nothing else uses the method.

        An interrupt, which is an exception of a signal's, may come after any call. So coming and
        going are one step each, inside the `try`: else the method could stay busy for ever.
        """
        users, me = self._users, object()
        try:
            users[me] = None
            self._check_first(me)
            return action(self._open())
        finally:
            users.pop(me, None)

    def _check_first(self, me: object) -> None:
        users = list(self._users)
        if users[0] is not me:
            raise BusyError(
                f"{self._what} is in use by another thread; load one method a thread, "
                "or call the program, which does"
            )

    def _call(self, inputs: tuple[Any, ...], named: dict[str, Any], out: Any, borrow: bool) -> Any:
        handle = self._open()
        if self._bound is not None:
            self._unbind(handle)  # An interrupt came before the last call had.
        if borrow is not False:
            borrow = flag(borrow, "borrow")
        if named or (len(inputs) == 1 and isinstance(inputs[0], dict)):
            inputs = self._by_name(inputs, named)
        if len(inputs) != len(self._slots):
            raise self._wrong_count(len(inputs))
        kept: list[object] = []  # Until the outputs are fetched: one may be an input.
        settled = self._settled
        for i, value in enumerate(inputs):
            dtype, shape, slot = self._usual[i]
            if (
                type(value) is np.ndarray
                and value.dtype is dtype
                and value.shape == shape
                and value.flags.c_contiguous
            ):
                if settled[i]:
                    slot.address.value = value.__array_interface__["data"][0]
                else:
                    slot.set_array(value, self._inputs[i].code)
                    slot.tensor.strides = None
                    settled[i] = True
            else:
                settled[i] = False
                kept.append(self._store(i, value))
        if self.lent is not None:
            # A cancellation that the next line misses ends the run when it begins.
            _announce(handle, None)
            if self.lent.is_cancelled:
                raise CancelledError("the run was cancelled before it began")
        if out is not None:
            return self._run_into(handle, out)
        error = c_void_p()
        status = _run(handle, self._values, len(inputs), ctypes.byref(error))
        if status:
            raise take_error(status, error)
        if len(self._outputs) == 1:
            return self._fetch(handle, 0, borrow)
        return tuple(self._fetch(handle, i, borrow) for i in range(len(self._outputs)))

    def _store(self, index: int, value: Any) -> object:
        spec, slot = self._inputs[index], self._slots[index]
        name = position("input", index, spec)
        if slot is not None:
            return store_tensor(slot, value, spec, name)
        return store_scalar(self._values[index], value, spec, name)

    def _fetch(self, handle: c_void_p, index: int, borrow: bool) -> Any:
        value = self._output
        error = c_void_p()
        status = _get_output(handle, index, value, error)
        if status:
            raise take_error(status, error)
        if value.kind == TENSOR and self._steady[index]:
            address, view = self._views[index]
            if view is None or address != value.any.tensor.data:
                address, view = value.any.tensor.data, load_value(value, None, False)
                if view.base is not None:
                    self._views[index] = (address, view)
            if not borrow:
                return view.copy()
        return load_value(value, handle, not borrow)

    def _run_into(self, handle: c_void_p, out: Any) -> Any:
        one = len(self._outputs) == 1 and not isinstance(out, (list, tuple))
        # A tuple of our own, since the caller's sequence may change meanwhile.
        targets = (out,) if one else tuple(out) if isinstance(out, Sequence) else ()
        if len(targets) != len(self._outputs):
            raise ArgumentError(
                f"out: {self._what} has {counted(len(self._outputs), 'output')}, got "
                f"{counted(len(targets), 'array')}: give an array, or None, for each of "
                f"{', '.join(spec.name for spec in self._outputs)}"
            )
        slots = [
            None if target is None else self._output_value(index, target)
            for index, target in enumerate(targets)
        ]
        self._bound = targets
        try:
            for index, slot in enumerate(slots):
                if slot is not None:
                    call("pteron_method_bind_output", handle, index, ctypes.byref(slot.value))
            call("pteron_method_run", handle, self._values, len(self._slots))
            results = [
                self._fetch_bound(handle, index, target) for index, target in enumerate(targets)
            ]
        finally:
            self._unbind(handle)
        return results[0] if len(results) == 1 else tuple(results)

    def _unbind(self, handle: c_void_p) -> None:
        """Gives all outputs memory of the method's again. Where an interrupt ends it, the next call
        begins with it, and until then `_bound` keeps what the method would write to."""
        for index in range(len(self._outputs)):
            library.pteron_method_bind_output(handle, index, None, None)
            self._views[index] = (0, None)
        self._bound = None

    def _output_value(self, index: int, target: Any) -> TensorSlot:
        spec = self._outputs[index]
        name = position("out", index, spec)
        if spec.kind != "tensor":
            raise ArgumentTypeError(f"{name} is {spec.kind}, which no array takes; give None")
        if not isinstance(target, np.ndarray):
            raise ArgumentTypeError(f"{name} is {describe(target)}, but a numpy.ndarray is wanted")
        target = plain_array(target, name)
        if code_of(target.dtype) != spec.code:
            raise wrong_dtype(target, spec, name, is_output=True)
        if not target.flags.writeable or not target.flags.c_contiguous:
            raise ArgumentError(f"{name} must be writeable and row-major (C-contiguous)")
        check_rank(target.shape, name)
        slot = TensorSlot(CValue())
        slot.set_array(target, spec.code)
        slot.tensor.strides = None
        return slot

    def _fetch_bound(self, handle: c_void_p, index: int, target: Any) -> Any:
        value = CValue()
        call("pteron_method_get_output", handle, index, ctypes.byref(value))
        if target is None:
            return load_value(value, None, True)
        tensor = value.any.tensor
        shape = tuple(tensor.shape[: tensor.rank]) if tensor.rank else ()
        # What a dynamic output fills is less than what it may.
        return (
            target if shape == target.shape else target.reshape(-1)[: _count(shape)].reshape(shape)
        )

    def _by_name(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        if len(inputs) == 1 and isinstance(inputs[0], dict):
            named = {**inputs[0], **named}
            inputs = ()
        values = dict(zip(self._order, inputs, strict=False))
        if len(inputs) > len(self._order):
            raise self._wrong_count(len(inputs) + len(named))
        for name, value in named.items():
            if name not in self._order:
                raise ArgumentError(f'{self._what} has no input "{name}"; it takes {self._takes()}')
            if name in values:
                raise ArgumentError(f'input "{name}" is given twice')
            values[name] = value
        if len(values) != len(self._order):
            raise self._wrong_count(len(values))
        return tuple(values[name] for name in self._order)

    def _takes(self) -> str:
        return ", ".join(str(spec) for spec in self._inputs) or "no inputs"

    def _wrong_count(self, got: int) -> ArgumentError:
        return ArgumentError(
            f"{self._what} takes {counted(len(self._inputs), 'input')}, got {got}: {self._takes()}"
        )

    def cancel(self) -> None:
        """Ends the run that goes on in another thread, if any: it raises CancelledError."""
        handle = self._handle
        if handle is not None:
            library.pteron_method_cancel(handle)

    # ---- What it takes, gives and keeps

    @property
    def inputs(self) -> tuple[Spec, ...]:
        """What the method takes."""
        return self._inputs

    @property
    def outputs(self) -> tuple[Spec, ...]:
        """What the method gives."""
        return self._outputs

    @property
    def state(self) -> State:
        """The buffers that the method keeps from one run to the next, by name."""
        return State(self)

    def reset_state(self) -> None:
        """Puts every buffer back to its initial value."""
        self._alone(lambda handle: call("pteron_method_reset_state", handle))

    @property
    def execution(self) -> dict[str, Any]:
        """What runs each part, on which device, at which precision in force (docs/json.md)."""
        return self._alone(lambda handle: call_for_json("pteron_method_execution", handle))

    @property
    def profile(self) -> dict[str, Any]:
        """Times of the last run by instruction and by OpenVINO's operators (docs/json.md). The
        program must have been loaded with profile=True."""
        return self._alone(lambda handle: call_for_json("pteron_method_profile", handle))

    # ---- Elsewhere

    def __reduce__(self) -> tuple[Any, ...]:
        path, options, seed = self._source
        if path is None:
            raise ArgumentTypeError(
                f"{self._what} cannot be pickled: its program was loaded from bytes; "
                "load it from a path"
            )
        if self._shares is not None:
            raise ArgumentTypeError(
                f"{self._what} cannot be pickled: it shares its state with another; pickle the "
                "program, and take its methods where it is unpickled"
            )
        return (_load_again, (path, options, self.name, seed), dict(self.state))

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, array in state.items():
            self.state[name] = array

    def __repr__(self) -> str:
        if self._handle is None:
            return f"<pteron.Method {self.name}, closed>"
        gives = ", ".join(str(spec) for spec in self._outputs)
        return f"<pteron.Method {self.name}({self._takes()}) -> {gives or 'nothing'}>"


def _load_again(path: str, options: Options, name: str, seed: int) -> Method:
    """A method that was pickled, of a program of its own."""
    from ._program import Program  # Which imports this module.

    return Program(path, options).method(name, seed=seed)


class State(Mapping[str, Any]):
    """A method's state by name: reading gives a copy, assigning copies into the buffer.

    >>> import numpy, pteron
    >>> method = pteron.load("tests/data/peer/counter.pte").method()
    >>> _ = method(numpy.zeros((2, 2), "float32"))
    >>> dict(method.state)
    {'runs': array([[1., 1.],
           [1., 1.]], dtype=float32)}
    >>> method.state["runs"] = numpy.full((2, 2), 5, "float32")
    """

    def __init__(self, method: Method) -> None:
        self._method = method
        handle = method._open()
        count = library.pteron_method_state_count(handle)
        self.specs = read_specs("pteron_method_state_spec", handle, count)
        self._names = [spec.name for spec in self.specs]

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise KeyError(f'no state "{name}"; there is {", ".join(self._names) or "none"}')
        return self._names.index(name)

    def __getitem__(self, name: str) -> Any:
        index = self._index(name)

        def read(handle: Handle) -> Any:
            value = CValue()
            call("pteron_method_get_state", handle, index, ctypes.byref(value))
            return load_value(value, None, True)

        return self._method._alone(read)

    def __setitem__(self, name: str, array: Any) -> None:
        index = self._index(name)
        slot = TensorSlot(CValue())
        kept = store_tensor(slot, array, self.specs[index], f'state "{name}"')
        self._method._alone(
            lambda handle: call("pteron_method_set_state", handle, index, ctypes.byref(slot.value))
        )
        del kept

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<state {', '.join(str(spec) for spec in self.specs) or 'none'}>"


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
