#!/usr/bin/env python3
"""Runs that are awaited, by many tasks, and cancelled.

usage: coroutines_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import asyncio
import threading
import time
import unittest
from typing import Any
from unittest import mock

import numpy as np
import pteron
from package_case import LSTM, MODELS, PackageTestCase
from pteron import _method


class Awaiting(PackageTestCase):
    def test_many_tasks_get_their_own_results(self) -> None:
        program = pteron.load(LSTM, threads=1)
        inputs = [np.full((2, 6), k % 12) for k in range(12)]
        want = [program(x) for x in inputs]

        async def all_of_them() -> list[Any]:
            return await asyncio.gather(*(program.run_async(inputs[k % 12]) for k in range(600)))

        for k, y in enumerate(asyncio.run(all_of_them())):
            np.testing.assert_array_equal(y, want[k % 12])

    def test_options_of_a_call_go_along(self) -> None:
        program = pteron.load(LSTM)
        out = np.zeros_like(self.y)
        self.assertIs(asyncio.run(program.run_async(input0=self.x, out=out)), out)
        np.testing.assert_allclose(out, self.y, atol=1e-5)

    def test_errors_come_to_the_one_who_waits(self) -> None:
        program = pteron.load(LSTM)

        async def some() -> list[Any]:
            runs = (program.run_async(x) for x in (self.x, self.x[:1], None, self.x))
            return await asyncio.gather(*runs, return_exceptions=True)

        first, shape, kind, last = asyncio.run(some())
        np.testing.assert_array_equal(first, last)
        self.assertIn("shape", str(shape))
        self.assertIsInstance(kind, pteron.ArgumentTypeError)

    def test_several_loops_share_a_program(self) -> None:
        program = pteron.load(LSTM)
        ends: list[Any] = []

        def work() -> None:
            ends.append(asyncio.run(program.run_async(self.x)))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(len(ends), 8)
        for y in ends:
            np.testing.assert_allclose(y, self.y, atol=1e-5)

    def test_closing_waits_for_what_is_awaited(self) -> None:
        program = pteron.load(LSTM)

        async def close() -> list[Any]:
            tasks = [asyncio.ensure_future(program.run_async(self.x)) for _ in range(20)]
            await asyncio.sleep(0)
            program.close()
            return await asyncio.gather(*tasks)

        for y in asyncio.run(close()):
            np.testing.assert_allclose(y, self.y, atol=1e-5)
        with self.raises(pteron.ClosedError):
            asyncio.run(program.run_async(self.x))
        self.assertIsNone(program._pool._executor)

    def test_the_loop_goes_on_while_the_first_method_loads(self) -> None:
        program = pteron.load(LSTM)
        load, go_on = program.method, threading.Event()

        def slow() -> pteron.Method:
            go_on.wait(20)
            return load()

        async def both() -> None:
            first = asyncio.ensure_future(program.run_async(self.x))
            await asyncio.sleep(0.05)
            second = asyncio.ensure_future(program.run_async(self.x))
            await asyncio.sleep(0.05)
            second.cancel()
            await asyncio.sleep(0.05)
            go_on.set()
            np.testing.assert_allclose(await first, self.y, atol=1e-5)

        with mock.patch.object(program, "method", slow):
            start = time.monotonic()
            asyncio.run(both())
        self.assertLess(time.monotonic() - start, 10)

    def test_closing_on_a_thread_of_the_programs_own_waits_for_nothing(self) -> None:
        program = pteron.load(LSTM)
        test = self

        class Closes:
            def __array__(self, *_: Any, **__: Any) -> Any:
                program.close()
                return test.x

        y = asyncio.run(program.run_async(Closes()))
        np.testing.assert_allclose(y, self.y, atol=1e-5)
        with self.raises(pteron.ClosedError):
            program(self.x)


class Cancelling(PackageTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.program = pteron.load(MODELS / "crepe_portable.pte", threads=1)
        self.sound = np.zeros(self.program.inputs[0].shape or (), "float32")
        self.program(self.sound)

    def seconds(self) -> float:
        start = time.perf_counter()
        self.program(self.sound)
        return time.perf_counter() - start

    def test_what_has_not_begun_never_does(self) -> None:
        count = 200
        enough = self.seconds() * count / 4

        async def cancel() -> float:
            tasks = [
                asyncio.ensure_future(self.program.run_async(self.sound)) for _ in range(count)
            ]
            await asyncio.sleep(0)
            start = time.perf_counter()
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(end, asyncio.CancelledError) for end in ends)
            await self.program.run_async(self.sound)  # Waits behind all that was not dropped.
            return time.perf_counter() - start

        self.assertLess(asyncio.run(cancel()), enough)

    def test_a_run_whose_inputs_are_still_read_never_begins(self) -> None:
        program = pteron.load(MODELS.parent / "peer/counter.pte")
        x = np.ones((2, 2), "float32")
        began, go_on = threading.Event(), threading.Event()

        class Slow:
            def __array__(self, *_: Any, **__: Any) -> Any:
                began.set()
                go_on.wait(20)
                return x

        async def cancel() -> None:
            task = asyncio.ensure_future(program.run_async(Slow()))
            while not began.is_set():
                await asyncio.sleep(0.001)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            go_on.set()
            # The counter's first run that there was.
            np.testing.assert_array_equal(await program.run_async(x), x + 1)

        asyncio.run(cancel())

    def test_a_cancellation_just_before_the_run_begins_ends_it(self) -> None:
        program = pteron.load(MODELS.parent / "peer/counter.pte")
        x = np.ones((2, 2), "float32")
        pool, run = program._pool, _method._run

        def cancelled_first(handle: Any, *rest: Any) -> Any:
            (lent,) = pool._lent
            pool.cancel(lent)
            return run(handle, *rest)

        for _ in range(3):
            with (
                mock.patch.object(_method, "_run", cancelled_first),
                self.raises(pteron.CancelledError, "the run was cancelled"),
            ):
                program(x)
        # The counter's first run that there was, and none is ended by what is over.
        np.testing.assert_array_equal(program(x), x + 1)
        np.testing.assert_array_equal(program(x), x + 2)

    def test_the_run_that_goes_on_is_ended_and_no_other(self) -> None:
        ends: list[str] = []
        method = self.program.method()
        began = threading.Event()

        class Slow:
            """A method whose run lasts until it is cancelled."""

            def __init__(self) -> None:
                self.cancelled = threading.Event()

            def cancel(self) -> None:
                self.cancelled.set()

            def __call__(self, *_: Any) -> None:
                began.set()
                ends.append("cancelled" if self.cancelled.wait(30) else "not cancelled")

        slow = Slow()
        self.program._pool._methods[:] = [slow]  # type: ignore[list-item]

        async def cancel() -> None:
            task = asyncio.ensure_future(self.program.run_async(self.sound))
            while not began.is_set():
                await asyncio.sleep(0.001)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(cancel())
        self.program.close()
        self.assertEqual(ends, ["cancelled"])
        method(self.sound)


if __name__ == "__main__":
    unittest.main()
