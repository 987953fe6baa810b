"""What those who call a program share: methods for threads, and threads for coroutines."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from ._errors import CancelledError, ClosedError
from ._method import Method

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Load = Callable[[], Method]


class Pool:
    """Methods of one program: made when one is wanted and none is idle.

    It does not know its program, which owns it: so a program goes as soon as nobody uses it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._idle: list[Method] = []
        self._made = 0
        self._limit = 0
        self._closed = False
        self._executor: ThreadPoolExecutor | None = None
        _pools.add(self)

    def lend(self, load: Load) -> Lent:
        """A method for the time of a `with`; `load` makes one."""
        return Lent(self, load)

    def take(self, load: Load) -> Method:
        with self._changed:
            while True:
                self._check_open()
                if self._idle:
                    return self._idle.pop()
                if self._made == 0:
                    # The first tells whether there is state, so it is made alone.
                    method = load()
                    self._made = 1
                    self._limit = 1 if len(method.state) else cores()
                    return method
                if self._made < self._limit:
                    self._made += 1
                    break
                self._changed.wait()
        try:
            return load()
        except BaseException:
            with self._changed:
                self._made -= 1
                self._changed.notify()
            raise

    def give_back(self, lent: Lent) -> None:
        with self._changed:
            method, lent.method = lent.method, None
            if method is not None and not self._closed:
                self._idle.append(method)
                self._changed.notify()

    def cancel(self, lent: Lent) -> None:
        """Ends the run for which a method is lent, or is wanted, and no later one."""
        with self._changed:
            lent.is_cancelled = True
            if lent.method is not None:
                lent.method.cancel()

    def executor(self) -> ThreadPoolExecutor:
        """Threads to run methods on."""
        # Not imported before it is needed: it takes as long as all else here.
        from concurrent.futures import ThreadPoolExecutor

        with self._changed:
            self._check_open()
            if self._executor is None:
                self._executor = ThreadPoolExecutor(cores(), "pteron")
            return self._executor

    def close(self) -> None:
        """Waits for what the threads were given, and drops the methods."""
        with self._changed:
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()
        with self._changed:
            self._closed = True
            self._idle.clear()
            self._changed.notify_all()

    def after_fork(self) -> None:
        """In the child of a fork, the threads that had methods, or this lock, are not there: their
        methods are given up, with their state."""
        self._changed = threading.Condition()
        self._made = len(self._idle)
        self._executor = None

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the program was closed")


class Lent:
    """A method of a pool, for as long as a call takes."""

    __slots__ = ("_load", "_pool", "is_cancelled", "method")

    def __init__(self, pool: Pool, load: Load) -> None:
        self._pool = pool
        self._load = load
        self.method: Method | None = None
        self.is_cancelled = False

    def __enter__(self) -> Method:
        method = self.method = self._pool.take(self._load)
        if self.is_cancelled:
            self._pool.give_back(self)
            raise CancelledError("the run was cancelled before it began")
        return method

    def __exit__(self, *_: object) -> None:
        self._pool.give_back(self)

    def cancel(self) -> None:
        self._pool.cancel(self)


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
