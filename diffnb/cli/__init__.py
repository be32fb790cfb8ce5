"""The command line: one command per tool, with its names and defaults; `diffnb --help`, or `python -m diffnb`."""

from ._main import main

__all__ = ["main"]
