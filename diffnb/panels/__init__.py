"""Panels: look, try, and keep the line of code."""

from ._disc import disc
from ._sparda import sparda

__all__ = ["disc", "sparda"]
