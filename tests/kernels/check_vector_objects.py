#!/usr/bin/env python3
"""Looks for shared inline functions in object files compiled with instructions this CPU may lack.

The linker keeps one version of such a function for all files: it may be the one that an older CPU
cannot run. usage: check_vector_objects.py OBJECT...
"""

import subprocess
import sys

bad = 0
for path in sys.argv[1:]:
    symbols = subprocess.run(
        ["nm", "-C", path], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    for line in symbols:
        kind, name = line[17:18], line[19:]
        if kind in "WVu" and kind.strip() and not name.startswith("DW.ref."):
            print(f"{path}: {name} is shared with files that are not compiled for this set")
            bad += 1
if len(sys.argv) < 2:
    sys.exit("no object was named")
print(f"{len(sys.argv) - 1} objects, {bad} shared functions")
sys.exit(1 if bad else 0)
