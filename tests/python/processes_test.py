#!/usr/bin/env python3
"""A process imports the package, forks, and ends.

usage: processes_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import shutil
import unittest
from pathlib import Path

import pteron
from package_case import LSTM, PackageTestCase


class Processes(PackageTestCase):
    def test_exit_is_clean_whatever_is_left_open(self) -> None:
        self.run_python(
            "import pteron, numpy as np, threading\n"
            f"p = pteron.load({str(LSTM)!r})\n"
            "m = p.method(); v = m(np.zeros((2, 6), 'int64'), borrow=True)\n"
            "import builtins; builtins.kept = (p, m, v); kept2 = [p]; kept2.append(kept2)\n"
        )

    def test_a_forked_child_goes_on(self) -> None:
        self.run_python(
            "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
            "import os, pteron, numpy as np\n"
            f"p = pteron.load({str(LSTM)!r})\n"
            "x = np.zeros((2, 6), 'int64'); want = p(x)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    import signal; signal.alarm(60)\n"
            "    ok = np.array_equal(p(x), want)\n"
            f"    ok = ok and np.array_equal(pteron.load({str(LSTM)!r})(x), want)\n"
            "    os._exit(0 if ok else 1)\n"
            "assert os.waitpid(child, 0)[1] == 0\n"
        )

    def test_importing_is_quick_and_brings_no_openvino(self) -> None:
        done = self.run_python(
            "import sys, time, numpy\n"
            "start = time.perf_counter(); import pteron\n"
            "print(time.perf_counter() - start)\n"
            "assert 'openvino' not in sys.modules and 'asyncio' not in sys.modules\n"
            "assert 'torch' not in sys.modules\n"
            "assert 'libopenvino' not in open('/proc/self/maps').read()\n"
        )
        self.assertLess(float(done.stdout), 1)

    def test_a_newer_interface_is_asked_for_by_name(self) -> None:
        site = self.folder / "pteron"
        shutil.copytree(Path(pteron.__file__).parent, site, symlinks=False)
        (site / "lib/libpteron.so").unlink()
        code = (
            "try:\n import pteron\n"
            "except ImportError as e:\n print(e)\n"
            "else:\n raise SystemExit(1)\n"
        )
        done = self.run_python(code, PYTHONPATH=str(self.folder))
        self.assertIn("pip install --force-reinstall pteron", done.stdout)
        self.assertIn(str(site / "lib/libpteron.so"), done.stdout)


if __name__ == "__main__":
    unittest.main()
