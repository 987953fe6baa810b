"""The C and C++ half of the package: library, headers and CMake package."""

from __future__ import annotations

import os


def cmake_prefix_path() -> str:
    """The folder that makes CMake's find_package(pteron) find this package.

    cmake -DCMAKE_PREFIX_PATH="$(python -c 'import pteron; print(pteron.cmake_prefix_path())')"

    >>> os.path.basename(cmake_prefix_path())
    'pteron'
    """
    return os.path.dirname(os.path.abspath(__file__))
