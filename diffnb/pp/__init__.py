"""Prepare data so that what is found later is about biology, not about how it was measured."""

from ._match_depth import match_depth
from ._time_blocks import time_blocks

__all__ = ["match_depth", "time_blocks"]
