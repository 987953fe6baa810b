#!/usr/bin/env python3
"""An interrupt, such as Ctrl-C, ends a call at any point: nothing stays bound, busy or lent.

usage: interrupts_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import _thread
import random
import signal
import sys
import threading
import time
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pteron
from package_case import LSTM, MODELS, PackageTestCase
from pteron import _method, _pool
from pteron._errors import call

COUNTER = MODELS.parent / "peer/counter.pte"


class Interrupt(Exception):
    pass


class InterruptTestCase(PackageTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.square = np.ones((2, 2), "float32")

    def interrupt_often(self, action: Callable[[], object]) -> None:
        """Calls it for a second, with interrupts at random points."""

        def interrupt(*_: object) -> None:
            raise Interrupt

        if sys.platform == "win32":
            self.interrupt_from_a_thread(action, interrupt)
            return
        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        chance = random.Random(3)
        until = time.monotonic() + 1
        count = 0
        while time.monotonic() < until:
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 2e-4))
                for _ in range(20):
                    action()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupt:
                count += 1
        self.assertGreater(count, 50)

    def interrupt_from_a_thread(
        self, action: Callable[[], object], interrupt: Callable[..., None]
    ) -> None:
        """Windows has no timer's signal: the interrupt is Ctrl-C's, from another thread."""
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, interrupt))
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-5)
        chance = random.Random(3)
        wanted, over = threading.Event(), threading.Event()

        def send() -> None:
            while not over.is_set():
                if wanted.wait(0.1):
                    wanted.clear()
                    until = time.perf_counter() + chance.uniform(1e-5, 2e-3)
                    while time.perf_counter() < until:
                        time.sleep(0)
                    _thread.interrupt_main(signal.SIGINT)

        thread = self.in_thread(send)
        until = time.monotonic() + 2
        count = 0
        while time.monotonic() < until:
            try:
                wanted.set()
                give_up = time.monotonic() + 0.5  # One that comes in a destructor is lost.
                while time.monotonic() < give_up:
                    action()
            except Interrupt:
                count += 1
        over.set()
        try:
            thread.join(20)
            time.sleep(0.01)
        except Interrupt:
            pass  # The last one.
        self.check_ends(thread)
        self.assertGreater(count, 50)

    def in_thread(self, action: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=action, daemon=True)
        thread.start()
        return thread

    def check_ends(self, thread: threading.Thread) -> None:
        thread.join(20)
        self.assertFalse(thread.is_alive())


class InterruptedMethods(InterruptTestCase):
    def test_a_target_is_written_to_by_no_later_call(self) -> None:
        method = pteron.load(LSTM).method()
        out = np.full_like(self.y, 7)

        def interrupted(name: str, *arguments: Any) -> None:
            call(name, *arguments)
            if name == "pteron_method_bind_output":
                raise Interrupt

        with mock.patch.object(_method, "call", interrupted), self.assertRaises(Interrupt):
            method(self.x, out=out)
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)
        self.assertTrue((out == 7).all())

    def test_a_target_lives_until_it_is_unbound_though_that_is_interrupted(self) -> None:
        method = pteron.load(LSTM).method()
        out = np.full_like(self.y, 7)
        unbind = method._unbind
        ended = mock.patch.object(method, "_unbind", side_effect=Interrupt)
        with ended, self.assertRaises(Interrupt):
            method(self.x, out=out)
        out[:] = 7
        alive: list[bool] = []

        def watch(handle: Any) -> None:
            alive.append(method._bound is not None and method._bound[0] is out)
            unbind(handle)

        with mock.patch.object(method, "_unbind", watch):
            np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)
        self.assertEqual((alive, method._bound), ([True], None))
        self.assertTrue((out == 7).all())

    def test_none_is_busy_or_bound_after_many(self) -> None:
        method = pteron.load(LSTM).method()
        targets: list[np.ndarray] = []

        def call() -> None:
            targets[:] = [np.zeros_like(self.y)]
            method(self.x, out=targets[0])

        self.interrupt_often(call)
        out = targets.pop()
        out[:] = 7
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)
        self.assertTrue((out == 7).all())
        self.assertEqual(method._users, {})
        method.reset_state()


class InterruptedPrograms(InterruptTestCase):
    def test_none_lacks_its_method_after_many(self) -> None:
        program = pteron.load(COUNTER)
        program(self.square)
        self.interrupt_often(lambda: program(self.square))
        self.check_ends(self.in_thread(lambda: program(self.square)))
        self.assertEqual((len(program._pool._methods), program._pool._lent), (1, {}))

    def test_a_load_that_is_interrupted_is_made_up_for(self) -> None:
        program = pteron.load(COUNTER)
        ended = mock.patch.object(program, "method", side_effect=Interrupt)
        with ended, self.assertRaises(Interrupt):
            program(self.square)
        self.check_ends(self.in_thread(lambda: program(self.square)))

    def test_the_wake_of_one_who_is_interrupted_goes_to_the_next(self) -> None:
        program = pteron.load(COUNTER)
        program(self.square)
        pool = program._pool
        began, go_on = threading.Event(), threading.Event()

        def hold(_: object) -> None:
            began.set()
            go_on.wait(20)

        holder = self.in_thread(lambda: pool.use(pool.lend(), program.method, hold))
        began.wait(20)
        claim, first = pool._claim, threading.Event()

        def interrupted(lent: _pool.Lent) -> bool:
            """The first to wait is interrupted as soon as it was woken."""
            if threading.current_thread().name != "first" or not first.is_set():
                first.set()
                return claim(lent)
            if go_on.is_set():
                raise Interrupt
            return claim(lent)

        ends: list[str] = []

        def wait() -> None:
            try:
                program(self.square)
                ends.append("ran")
            except Interrupt:
                ends.append("interrupted")

        with mock.patch.object(pool, "_claim", interrupted):
            waiters = []
            for name in ("first", "second"):
                waiters.append(threading.Thread(target=wait, name=name, daemon=True))
                waiters[-1].start()
                while len(pool._waiting) < len(waiters):
                    time.sleep(0.001)
            go_on.set()
            for thread in (holder, *waiters):
                self.check_ends(thread)
        self.assertEqual(sorted(ends), ["interrupted", "ran"])


if __name__ == "__main__":
    unittest.main()
