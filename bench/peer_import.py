#!/usr/bin/env python3
"""Imports the modules named, and nothing else. usage: peer_import.py MODULE..."""

import importlib
import sys

for name in sys.argv[1:]:
    importlib.import_module(name)
print("{}")
