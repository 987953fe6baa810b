"""python -m pteron"""

import sys

from ._command import main

sys.exit(main())
