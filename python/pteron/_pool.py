"""What those who call a program share: methods for threads, and threads for coroutines."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ._errors import BusyError, CancelledError, ClosedError
from ._method import Method

if TYPE_CHECKING:
    from _thread import LockType
    from concurrent.futures import ThreadPoolExecutor

Load = Callable[[], Method]
T = TypeVar("T")


class Lent:
    """A call that has a method of a pool, or wants one."""

    __slots__ = ("is_cancelled", "thread")

    def __init__(self) -> None:
        self.is_cancelled = False
        self.thread = 0  # That makes the call, once it has begun.


class Pool:
    """Methods of one program: made when one is wanted and none is idle.

    It does not know its program, which owns it: so a program goes as soon as nobody uses it.

    An interrupt may come after any step of Python's. So there is one record of who has a method,
    `_lent`, whose entries come and go in one step each; and the locks are the plain ones, which
    `with` takes and gives back in one step.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # Of what follows; held for a moment only.
        self._methods: list[Method] = []
        self._lent: dict[Lent, Method | None] = {}  # None: it is being made.
        self._limit = 1  # The first tells whether there is state, so it is made alone.
        self._closed = False
        self._is_over = False  # Nobody is waited for any more.
        self._waiting: dict[LockType, None] = {}  # Each is released to wake the one who waits.
        self._executor_lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._workers: set[int] = set()  # The executor's threads.
        _pools.add(self)

    def lend(self) -> Lent:
        """The right to one call, which close() waits for if it is the executor's."""
        if self._closed:
            raise ClosedError("the program was closed")
        return Lent()

    def use(self, lent: Lent, load: Load, action: Callable[[Method], T]) -> T:
        """What `action` gives for a method that it has for itself; `load` makes one."""
        if lent.is_cancelled:
            raise CancelledError("the run was cancelled before it began")
        try:
            return action(self._take(lent, load))
        finally:
            self._lent.pop(lent, None)
            if self._waiting:
                self._wake()

    def _take(self, lent: Lent, load: Load) -> Method:
        lent.thread = threading.get_ident()
        if not self._claim(lent):
            self._wait(lent)
        method = self._lent[lent]
        if method is None:
            method = load()
            limit = 1 if len(method.state) else cores()
            with self._lock:
                self._lent[lent] = method
                self._limit = limit
                if not self._is_over:
                    self._methods.append(method)
            while self._waiting:  # There may be room for several more.
                self._wake()
        method.lent = lent
        return method

    def _claim(self, lent: Lent) -> bool:
        """Enters an idle method for `lent`, or that one is being made; or it has to wait."""
        with self._lock:
            taken = list(self._lent.values())
            method = None
            for made in self._methods:
                if made not in taken:
                    method = made
                    break
            if method is None and len(self._methods) + taken.count(None) >= self._limit:
                if any(other.thread == lent.thread for other in list(self._lent)):
                    raise BusyError(
                        "the program is called by an input of its own, and has no other method"
                    )
                return False
            self._lent[lent] = method
            return True

    def _wait(self, lent: Lent) -> None:
        while True:
            bell = threading.Lock()
            bell.acquire()
            try:
                self._waiting[bell] = None
                if self._claim(lent):
                    return
                # Not for ever: an interrupt may come between giving back and waking.
                bell.acquire(timeout=0.1)
            finally:
                self._waiting.pop(bell, None)

    def _wake(self) -> None:
        for bell in list(self._waiting):
            if self._waiting.pop(bell, self) is None:
                bell.release()
                return

    def cancel(self, lent: Lent) -> None:
        """Ends the run for which a method is lent, or is wanted, and no later one."""
        lent.is_cancelled = True
        with self._lock:  # So that nobody else has the method meanwhile.
            method = self._lent.get(lent)
            if method is not None:
                method.cancel()

    def executor(self) -> ThreadPoolExecutor:
        """Threads to run methods on."""
        # Not imported before it is needed: it takes as long as all else here.
        from concurrent.futures import ThreadPoolExecutor

        with self._executor_lock:
            if self._executor is None:
                # The threads know the set and not the pool, which they would keep.
                self._executor = ThreadPoolExecutor(
                    cores(),
                    "pteron",
                    lambda workers: workers.add(threading.get_ident()),
                    (self._workers,),
                )
            return self._executor

    def close(self) -> None:
        """Waits for what the threads were given, and drops the methods. On one of those threads it
        waits for nothing."""
        self._closed = True
        with self._executor_lock:
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=threading.get_ident() not in self._workers)
        with self._lock:
            self._is_over = True
            self._methods.clear()
        while self._waiting:
            self._wake()

    def after_fork(self) -> None:
        """In the child of a fork the threads that had methods, or these locks, are not there: their
        methods are given up, with their state."""
        me = threading.get_ident()
        lost = [method for lent, method in self._lent.items() if lent.thread != me]
        self._methods = [method for method in self._methods if method not in lost]
        self._lent = {lent: method for lent, method in self._lent.items() if lent.thread == me}
        self._lock, self._executor_lock = threading.Lock(), threading.Lock()
        self._waiting = {}
        self._executor = None
        self._workers = set()


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


def _after_fork() -> None:
    for pool in list(_pools):
        pool.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
