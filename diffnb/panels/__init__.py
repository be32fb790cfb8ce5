"""Panels: look, try, and keep the line of code."""

from ._disc import disc

__all__ = ["disc"]
