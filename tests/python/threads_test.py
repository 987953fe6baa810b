#!/usr/bin/env python3
"""Threads and coroutines share programs and methods.

usage: threads_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import asyncio
import contextlib
import gc
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pteron
from package_case import GOLDEN, LSTM, MODELS, PackageTestCase, resident_kb
from pteron._pool import cores


class Sharing(PackageTestCase):
    def test_a_method_in_use_is_busy_and_a_program_takes_another(self) -> None:
        method = pteron.load(LSTM).method()
        test = self

        class Uses:
            """An input that is made while the call goes on."""

            def __array__(self, *_: Any, **__: Any) -> Any:
                with test.raises(pteron.BusyError, "load one method a thread"):
                    method(test.x)
                with test.raises(RuntimeError, "in use"):
                    method.reset_state()
                return test.x

        np.testing.assert_allclose(method(Uses()), self.y, atol=1e-5)
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)

    def test_an_input_that_calls_its_program_waits_for_nothing_that_it_has_itself(self) -> None:
        program = pteron.load(MODELS.parent / "peer/counter.pte")
        x = np.ones((2, 2), "float32")

        class Calls:
            def __array__(self, *_: Any, **__: Any) -> Any:
                program(x)
                return x

        with self.raises(pteron.BusyError, "called by an input of its own"):
            program(Calls())
        np.testing.assert_array_equal(program(x), x + 1)

    def test_sixteen_threads_get_their_own_results(self) -> None:
        program = pteron.load(LSTM, threads=1)
        inputs = [np.full((2, 6), k % 12) for k in range(16)]
        want = [program.method()(x) for x in inputs]
        errors: list[str] = []

        def work(k: int) -> None:
            for _ in range(625):
                if not np.array_equal(program(inputs[k]), want[k]):
                    errors.append(f"thread {k} got another's result")

        with ThreadPoolExecutor(16) as threads:
            list(threads.map(work, range(16)))
        self.assertEqual(errors, [])
        self.assertLessEqual(len(program._pool._methods), cores())

    def test_ten_thousand_calls_do_not_grow(self) -> None:
        program = pteron.load(GOLDEN / "extra__mlp/model.pte", threads=1)
        x = np.load(GOLDEN / "extra__mlp/io_0.npz")["in_0"]

        def calls(count: int) -> None:
            for _ in range(count):
                program(x)
                with contextlib.suppress(ValueError):
                    program(x[:0])

        calls(500)
        gc.collect()
        before = resident_kb()
        calls(10000)
        gc.collect()
        self.assertLess(resident_kb() - before, 2048)

    def test_errors_in_threads_leave_no_method_behind(self) -> None:
        program = pteron.load(LSTM)
        for _ in range(50):
            with self.raises(ValueError):
                program(self.x[:1])
        self.assertEqual(len(program._pool._methods), 1)
        np.testing.assert_allclose(program(self.x), self.y, atol=1e-5)

    def test_runs_are_awaited(self) -> None:
        program = pteron.load(LSTM)

        async def all_of_them() -> list[Any]:
            return await asyncio.gather(*(program.run_async(self.x) for _ in range(20)))

        for y in asyncio.run(all_of_them()):
            np.testing.assert_allclose(y, self.y, atol=1e-5)
        with self.raises(ValueError, "shape"):
            asyncio.run(program.run_async(self.x[:1]))
        program.close()
        with self.raises(pteron.ClosedError):
            asyncio.run(program.run_async(self.x))

    def test_the_interpreter_goes_on_while_a_method_runs(self) -> None:
        method = pteron.load(MODELS / "crepe_portable.pte", threads=1).method()
        x = np.zeros(method.inputs[0].shape or (), "float32")
        method(x)
        done = threading.Event()
        count = 0

        def work() -> None:
            for _ in range(20):
                method(x)
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            count += 1
            time.sleep(0)
        thread.join()
        self.assertGreater(count, 50)

    def test_a_run_is_cancelled_from_another_thread(self) -> None:
        method = pteron.load(MODELS / "crepe_portable.pte", threads=1).method()
        sound = np.zeros(method.inputs[0].shape or (), "float32")
        want = method(sound)
        ends: list[BaseException] = []

        def work() -> None:
            try:
                while True:
                    method(sound)
            except pteron.Error as error:
                ends.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        until = time.monotonic() + 30
        while thread.is_alive() and time.monotonic() < until:
            time.sleep(0.005)
            method.cancel()
        if thread.is_alive():
            method.close()
        thread.join()
        self.assertEqual([type(error) for error in ends], [pteron.CancelledError])
        np.testing.assert_array_equal(method(sound), want)


if __name__ == "__main__":
    unittest.main()
