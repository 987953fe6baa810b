#!/usr/bin/env python3
"""What the documentation says is so.

usage: documentation_test.py [Class.test]...   with the variables that ctest sets (package_case.py)
"""

import doctest
import sys
import unittest

import pteron
from package_case import PackageTestCase


class Documentation(PackageTestCase):
    def test_the_examples_in_docstrings_are_true(self) -> None:

        modules = [m for name, m in sys.modules.items() if name.split(".")[0] == "pteron"]
        tried = 0
        for module in modules:
            failed, count = doctest.testmod(module)
            self.assertEqual(failed, 0, module.__name__)
            tried += count
        self.assertGreaterEqual(tried, 6)

    def test_all_that_is_public_is_documented(self) -> None:
        for name in pteron.__all__:
            public = getattr(pteron, name)
            self.assertTrue(public.__doc__, name)
            for attribute, member in vars(public).items() if isinstance(public, type) else ():
                if not attribute.startswith("_") and callable(member):
                    self.assertTrue(member.__doc__, f"{name}.{attribute}")


if __name__ == "__main__":
    unittest.main()
