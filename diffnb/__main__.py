"""`python -m diffnb` is the command `diffnb`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
