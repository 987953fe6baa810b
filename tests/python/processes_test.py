#!/usr/bin/env python3
"""A process imports the package, forks, and ends.

usage: processes_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import shutil
import sys
import textwrap
import unittest
from pathlib import Path

import pteron
from package_case import LSTM, MODELS, OPENVINO, PackageTestCase
from pteron._library import library_file

# What each process here begins with. An alarm ends one that hangs; on Windows package_case does.
BEGIN = f"""
import asyncio, os, signal, sys, threading, time, warnings
import numpy as np, pteron
if sys.platform != "win32":
    signal.alarm(60)
warnings.simplefilter("ignore", DeprecationWarning)  # Of os.fork() in a process with threads.
path, delegated_path, openvino = {str(LSTM)!r}, {str(MODELS / "lstm_openvino.pte")!r}, {OPENVINO!r}
program = pteron.load(path)
x = np.zeros((2, 6), "int64")
want = program(x)

def same(y):
    assert np.array_equal(y, want)

def child(action):
    '''How a fork that does this ends: 0 if it raised nothing.'''
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        try:
            action()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1]
"""

# For another interpreter of the same process.
SECOND = """
import warnings
warnings.simplefilter("ignore")  # NumPy's, before Python 3.12.
try:
    import numpy
except ImportError as error:
    refused = str(error)
else:
    refused = None
try:
    import pteron
    method = pteron.load(PATH).method()
    print("ran", method(numpy.zeros((2, 6), "int64")).shape, flush=True)
except ImportError as error:
    print("NumPy is refused" if str(error) == refused else str(error), flush=True)
"""


class ProcessTestCase(PackageTestCase):
    def check(self, code: str) -> str:
        """What a process prints that does this after BEGIN, and ends well."""
        return self.run_python(BEGIN + textwrap.dedent(code)).stdout


class Ending(ProcessTestCase):
    def test_with_all_sorts_left_open(self) -> None:
        self.check(
            """
            import builtins
            method = program.method()
            builtins.kept = (program, method, method(x, borrow=True), method.state)
            cycle = [program, method]
            cycle.append(cycle)
            """
        )

    def test_in_the_middle_of_what_is_awaited(self) -> None:
        out = self.check(
            """
            async def leave():
                task = asyncio.ensure_future(program.run_async(x))
                await asyncio.sleep(0)
                sys.exit(0)
            try:
                asyncio.run(leave())
            finally:
                print("left")
            """
        )
        self.assertEqual(out, "left\n")

    def test_before_a_thread_is_done(self) -> None:
        out = self.check(
            """
            def work():
                for _ in range(50):
                    same(program(x))
                print("done")
            threading.Thread(target=work).start()
            """
        )
        self.assertEqual(out, "done\n")

    def test_while_daemon_threads_run(self) -> None:
        for _ in range(5):
            self.check(
                """
                method = program.method()
                def work(run):
                    while True:
                        run(x)
                for run in (program, program, method):
                    threading.Thread(target=work, args=(run,), daemon=True).start()
                time.sleep(0.05)
                """
            )

    def test_with_an_error_that_is_kept(self) -> None:
        out = self.check(
            """
            try:
                program(x[:1])
            except ValueError as error:
                kept = error  # With its traceback, which holds the frames of the call.
                print("kept")
            """
        )
        self.assertEqual(out, "kept\n")


@unittest.skipIf(sys.platform == "win32", "Windows has no fork")
class Forking(ProcessTestCase):
    def test_the_child_goes_on(self) -> None:
        self.check(
            """
            method = program.method()
            def action():
                same(program(x))
                same(method(x))
                same(pteron.load(path)(x))
            assert child(action) == 0
            same(program(x))
            """
        )

    def test_the_child_goes_on_while_threads_are_busy(self) -> None:
        self.check(
            """
            stop = threading.Event()
            def work():
                while not stop.is_set():
                    same(program(x))
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            ends = [child(lambda: same(program(x))) for _ in range(10)]
            stop.set()
            for thread in threads:
                thread.join()
            assert ends == [0] * 10, ends
            """
        )

    def test_runs_are_awaited_in_the_child(self) -> None:
        self.check(
            """
            asyncio.run(program.run_async(x))
            def action():
                same(asyncio.run(program.run_async(x)))
                program.close()
            assert child(action) == 0
            same(asyncio.run(program.run_async(x)))
            """
        )

    def test_the_child_ends_as_any_process(self) -> None:
        self.check(
            """
            asyncio.run(program.run_async(x))
            pid = os.fork()
            if pid == 0:
                same(program(x))
                sys.exit(0)
            assert os.waitpid(pid, 0)[1] == 0
            """
        )

    def test_openvino_says_that_it_loads_nothing_in_the_child(self) -> None:
        if OPENVINO is None:
            self.skipTest("OpenVINO 2025.4.1 is not installed for tests")
        out = self.check(
            """
            delegated = pteron.load(delegated_path, openvino=openvino)
            y = delegated(x)
            def action():
                try:
                    pteron.load(delegated_path, openvino=openvino)(x)
                except NotImplementedError as error:
                    print(error, flush=True)
            assert child(action) == 0
            assert np.array_equal(delegated(x), y)
            """
        )
        self.assertIn("load programs after forking only, or start processes anew", out)

    def test_openvino_works_in_a_child_that_loads_it_itself(self) -> None:
        if OPENVINO is None:
            self.skipTest("OpenVINO 2025.4.1 is not installed for tests")
        self.check(
            """
            delegated = pteron.load(delegated_path, openvino=openvino)
            def action():
                np.testing.assert_allclose(delegated(x), want, atol=1e-5)
            assert child(action) == 0
            """
        )


class Interpreters(ProcessTestCase):
    def test_a_second_one_imports_the_package_or_is_told_why_not(self) -> None:
        # NumPy is loaded once a process, and from Python 3.12 ctypes and NumPy refuse interpreters
        # with locks of their own.
        out = self.check(
            f"second = {SECOND.replace('PATH', repr(str(LSTM)))!r}"
            + textwrap.dedent(
                """
                try:
                    import _interpreters as interpreters
                    run = interpreters.exec
                except ImportError:
                    import _xxsubinterpreters as interpreters
                    run = interpreters.run_string
                other = interpreters.create()
                run(other, second)
                interpreters.destroy(other)
                same(program(x))
                print("the first goes on")
                """
            )
        )
        said, end = out.splitlines()
        self.assertRegex(said, "^ran|^NumPy is refused|_ctypes does not support")
        self.assertEqual(end, "the first goes on")


class Importing(PackageTestCase):
    def test_it_is_quick_and_brings_no_openvino(self) -> None:
        done = self.run_python(
            "import sys, time, numpy; before = set(sys.modules)\n"
            "start = time.perf_counter(); import pteron\n"
            "print(time.perf_counter() - start)\n"
            "assert 'openvino' not in sys.modules and 'asyncio' not in sys.modules\n"
            "assert 'torch' not in sys.modules\n"
            "assert not {'json', 'platform', 'concurrent.futures'} & (set(sys.modules) - before)\n"
            "if sys.platform == 'win32':\n"
            " import ctypes\n"
            " find = ctypes.windll.kernel32.GetModuleHandleW\n"
            " assert find('pteron.dll') and not find('openvino_c.dll')\n"
            "else:\n"
            " with open('/proc/self/maps') as maps: assert 'libopenvino' not in maps.read()\n"
        )
        # Under Wine times say little: it was seen to take a second on a busy machine.
        self.assertLess(float(done.stdout), 5 if sys.platform == "win32" else 1)

    def test_numpy_comes_with_the_first_method(self) -> None:
        self.run_python(
            f"""
            import sys, pteron, pteron.runtime
            program = pteron.load({str(LSTM)!r})
            assert "numpy" not in sys.modules
            method = program.method()
            assert "numpy" in sys.modules
            import numpy
            method(numpy.zeros((2, 6), "int64"))
            """
        )

    def test_a_library_that_is_not_there_is_named(self) -> None:
        site = self.folder / "pteron"
        shutil.copytree(Path(pteron.__file__).parent, site, symlinks=False)
        library = site / Path(library_file()).relative_to(Path(pteron.__file__).parent)
        library.unlink()
        code = (
            "try:\n import pteron\n"
            "except ImportError as e:\n print(e)\n"
            "else:\n raise SystemExit(1)\n"
        )
        done = self.run_python(code, PYTHONPATH=str(self.folder))
        self.assertIn("pip install --force-reinstall pteron", done.stdout)
        self.assertIn(str(library), done.stdout)


if __name__ == "__main__":
    unittest.main()
