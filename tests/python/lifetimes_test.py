#!/usr/bin/env python3
"""What is closed, dropped or still in use lives as long as it should and no longer.

usage: lifetimes_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import gc
import threading
import time
import tracemalloc
import unittest
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from unittest import mock

import numpy as np
import pteron
from package_case import GOLDEN, LSTM, MODELS, PackageTestCase, Tensor, resident_kb
from pteron import _method
from pteron._errors import call
from pteron.runtime import Runtime


class Closing(PackageTestCase):
    def test_closing_frees_and_says_so_afterwards(self) -> None:
        with pteron.load(LSTM) as program:
            method = program.method()
            program(self.x)
        for use in (program, lambda _: program.method(), lambda _: program.info):
            with self.raises(pteron.ClosedError, "the program was closed"):
                use(self.x)
        self.assertIn("closed", repr(program))
        np.testing.assert_allclose(method(self.x), self.y, atol=1e-5)
        with method:
            pass
        uses: list[Callable[[], object]] = [
            lambda: method(self.x),
            method.reset_state,
            lambda: method.execution,
            lambda: method.state,
        ]
        for ask in uses:
            with self.raises(ValueError, 'method "forward" was closed'):
                ask()
        self.assertIn("closed", repr(method))
        method.cancel()
        method.close()
        program.close()

    def test_specs_are_there_after_closing(self) -> None:
        with pteron.load(LSTM).method() as method:
            pass
        self.assertEqual(str(method.inputs[0]), "input0: int64 [2, 6]")

    def test_a_closed_method_frees_its_memory_at_once(self) -> None:
        method = pteron.load(LSTM).method()
        method(self.x)
        handle = weakref.ref(method._open())
        method.close()
        self.assertIsNone(handle())

    def test_a_borrowed_output_outlives_its_closed_method(self) -> None:
        program = pteron.load(LSTM)
        method = program.method()
        view = method(self.x, borrow=True)
        handle = weakref.ref(method._open())
        method.close()
        program.close()
        del method, program
        # Memory that was freed would be given out again.
        others = [pteron.load(LSTM).method() for _ in range(8)]
        for other in others:
            other(np.zeros_like(self.x))
        np.testing.assert_allclose(view, self.y, atol=1e-5)
        self.assertIsNotNone(handle())
        del view
        self.assertIsNone(handle())

    def test_a_run_in_another_thread_ends_well_when_its_method_is_closed(self) -> None:
        method = pteron.load(MODELS / "pnet_portable.pte").method()
        picture = np.zeros(method.inputs[0].shape or (), "float32")
        want = method(picture)
        got: list[object] = []

        def work() -> None:
            while True:
                try:
                    outputs = method(picture)
                except Exception as error:
                    got.append(error)
                    return
                if not all(map(np.array_equal, outputs, want)):
                    got.append("numbers differ")

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.1)
        method.close()
        thread.join(30)
        self.assertFalse(thread.is_alive())
        self.assertEqual([type(end) for end in got], [pteron.ClosedError])

    def test_cancelling_while_closing_is_safe(self) -> None:
        for _ in range(200):
            method = pteron.load(LSTM).method()
            threads = [threading.Thread(target=f) for f in (method.cancel, method.close)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def test_shared_state_outlives_the_method_that_had_it_first(self) -> None:
        program = pteron.load(GOLDEN / "models__ModuleSharedState/model.pte")
        first = program.method("set_state")
        second = program.method("get_state", shares_state_with=first)
        first(np.full(1, 7, "float32"))
        first.close()
        del first
        others = [program.method("set_state") for _ in range(8)]
        for other in others:
            other(np.zeros(1, "float32"))
        np.testing.assert_array_equal(second(), [7])


class Going(PackageTestCase):
    """Without the help of the garbage collector: memory of the library's does not count there."""

    def setUp(self) -> None:
        super().setUp()
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)

    def test_what_is_no_longer_used_goes(self) -> None:
        program = pteron.load(LSTM)
        method = program.method()
        program(self.x)
        method(self.x)
        method(self.x, out=np.empty_like(self.y))
        method(Tensor(self.x))
        with suppress(ValueError):
            method(self.x[:1])
        seen = [weakref.ref(o) for o in (program, program._open(), method, method._open())]
        del program, method
        self.assertEqual([ref() for ref in seen], [None] * 4)

    def test_a_program_whose_runs_were_awaited_goes(self) -> None:
        import asyncio

        program = pteron.load(LSTM)
        asyncio.run(program.run_async(self.x))
        seen = weakref.ref(program._open())
        del program
        for _ in range(100):
            if seen() is None:
                break
            time.sleep(0.05)
        self.assertIsNone(seen())

    def test_a_program_of_the_runtime_goes(self) -> None:
        program = Runtime.get().load_program(LSTM)
        method = program.load_method("forward")
        assert method is not None
        method.execute([self.x])
        seen = [weakref.ref(o) for o in (program, program._program, method)]
        del program, method
        self.assertEqual([ref() for ref in seen], [None] * 3)

    def test_inputs_go_after_the_run(self) -> None:
        method = pteron.load(LSTM).method()
        for make in (np.array, np.asfortranarray, Tensor):
            x = make(self.x)
            method(x)
            seen = weakref.ref(x)
            del x
            self.assertIsNone(seen())

    def test_inputs_live_until_the_outputs_are_fetched(self) -> None:
        method = pteron.load(LSTM).method()
        fetch, alive = method._fetch, []

        class Lends:
            def __array__(self, *_: Any, **__: Any) -> Any:
                self.made = weakref.ref(made := test.x.copy())
                return made

        test, lent = self, Lends()

        def watch(*arguments: Any) -> Any:
            alive.append(lent.made() is not None)
            return fetch(*arguments)

        with mock.patch.object(method, "_fetch", watch):
            method(lent)
        self.assertEqual((alive, lent.made()), ([True], None))

    def test_targets_live_until_the_run_is_over(self) -> None:
        made: list[weakref.ref[np.ndarray]] = []
        method = pteron.load(MODELS / "pnet_portable.pte").method()
        shapes = [spec.shape or () for spec in method.outputs]

        class Makes(Sequence[Any]):
            """Makes its arrays when it is asked for them, and keeps none."""

            def __len__(self) -> int:
                return len(shapes)

            def __getitem__(self, index: Any) -> Any:
                if index >= len(shapes):
                    raise IndexError
                array = np.zeros(shapes[index], "float32")
                made.append(weakref.ref(array))
                return array

        x = np.ones(method.inputs[0].shape or (), "float32")
        want = method(x)
        alive: list[bool] = []

        def watch(name: str, *arguments: Any) -> None:
            if name == "pteron_method_run":
                alive.extend(ref() is not None for ref in made)
            call(name, *arguments)

        with mock.patch.object(_method, "call", watch):
            outputs = method(x, out=Makes())
        self.assertEqual(alive, [True] * len(shapes))
        for y, wanted in zip(outputs, want, strict=True):
            np.testing.assert_array_equal(y, wanted)

    def test_a_capsule_is_given_back_after_the_run(self) -> None:
        given: list[weakref.ref[object]] = []

        class Lends:
            """Lends NumPy's own capsule: its array goes with it."""

            def __init__(self, array: np.ndarray) -> None:
                self.array = array

            def __dlpack_device__(self) -> tuple[int, int]:
                return (1, 0)

            def __dlpack__(self) -> object:
                copy = self.array.copy()
                given.append(weakref.ref(copy))
                return copy.__dlpack__()

        method = pteron.load(LSTM).method()
        np.testing.assert_allclose(method(Lends(self.x)), self.y, atol=1e-5)
        with self.raises(TypeError, "float32"):
            method(Lends(self.x.astype("float32")))
        with self.raises(ValueError, "shape"):
            method(Lends(self.x[:1]))
        self.assertEqual([ref() for ref in given], [None] * 3)


class Growing(PackageTestCase):
    def check_growth(self, action: Callable[[], object], count: int, kb: int = 1024) -> None:
        """`action` neither grows the process nor leaves Python objects behind."""
        for _ in range(max(count // 5, 20)):
            action()
        gc.collect()
        before = resident_kb()
        for _ in range(count):
            action()
        gc.collect()
        self.assertLess(resident_kb() - before, kb)
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        growths = []
        # What grows once, such as a table of types, is no leak.
        for _ in range(4):
            gc.collect()
            start = tracemalloc.get_traced_memory()[0]
            for _ in range(200):
                action()
            gc.collect()
            growths.append(tracemalloc.get_traced_memory()[0] - start)
        # The least of objects has 16 bytes.
        self.assertLess(min(growths), 200 * 16, growths)

    def test_loading_does_not(self) -> None:
        def load() -> None:
            program = pteron.load(LSTM)
            program(self.x)
            program.method().close()

        self.check_growth(load, 300)

    def test_loading_from_bytes_does_not(self) -> None:
        data = LSTM.read_bytes()
        self.check_growth(lambda: pteron.load(data).method(), 300)

    def test_what_cannot_be_loaded_does_not(self) -> None:
        data = LSTM.read_bytes()[:9000]

        def load() -> None:
            with suppress(pteron.MalformedError):
                pteron.load(data)
            with suppress(FileNotFoundError):
                pteron.load("no/such.pte")
            with suppress(ValueError):
                pteron.load(LSTM).method("backward")

        self.check_growth(load, 300)

    def test_wrong_use_does_not(self) -> None:
        method = pteron.load(LSTM).method()
        wrong = (
            None,
            [1],
            self.x[:1],
            self.x.astype("float32"),
            Tensor(self.x, device=2),
            object(),
        )

        def call() -> None:
            for value in wrong:
                with suppress(ValueError):
                    method(value)
            with suppress(ValueError):
                method(self.x, out=self.x)

        self.check_growth(call, 1000)

    def test_borrowing_does_not(self) -> None:
        method = pteron.load(LSTM).method()
        self.check_growth(lambda: method(self.x[::-1], borrow=True), 2000)


if __name__ == "__main__":
    unittest.main()
