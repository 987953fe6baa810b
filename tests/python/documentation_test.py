#!/usr/bin/env python3
"""What the documentation says is so.

usage: documentation_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import doctest
import inspect
import re
import shutil
import sys
import unittest

import pteron
import pteron.runtime
from package_case import MODELS, OPENVINO, PackageTestCase


class Documentation(PackageTestCase):
    def test_the_examples_in_docstrings_are_true(self) -> None:
        tried = {}
        for name in [name for name in sys.modules if name.split(".")[0] == "pteron"]:
            failed, tried[name] = doctest.testmod(sys.modules[name])
            self.assertEqual(failed, 0, name)
        for name in ("pteron", "pteron._program", "pteron._method", "pteron.runtime"):
            self.assertGreater(tried[name], 0, name)

    def test_all_that_is_public_is_documented(self) -> None:
        for module in (pteron, pteron.runtime):
            for name in module.__all__:
                public = getattr(module, name)
                self.assertTrue(public.__doc__, name)
                if isinstance(public, type):
                    self.check_members(public)

    def check_members(self, public: type) -> None:
        for name, member in inspect.getmembers(public):
            ours = inspect.isfunction(member) or isinstance(member, property)
            if ours and not name.startswith("_"):
                self.assertTrue(member.__doc__, f"{public.__name__}.{name}")

    def test_examples_of_the_documents_run(self) -> None:
        """The Python in the documents, as it stands there."""
        shutil.copy(MODELS / "lstm_portable.pte", self.folder / "model.pte")
        root = MODELS.parent.parent.parent
        tried = 0
        variables = {"OPENVINO_LIB_PATH": OPENVINO} if OPENVINO else {}
        for file in ("README.md", "docs/python.md", "docs/from_executorch.md"):
            for block in re.findall(r"```python\n(.*?)```", (root / file).read_text(), re.DOTALL):
                if OPENVINO is None and "_openvino.pte" in block:
                    continue
                begin = "import os, numpy; x = numpy.zeros((2, 6), 'int64')\n"
                where = f"os.chdir({str(self.folder)!r})\n" if '"model.pte"' in block else ""
                self.run_python(begin + where + block, **variables)
                tried += 1
        self.assertGreaterEqual(tried, 5)


if __name__ == "__main__":
    unittest.main()
