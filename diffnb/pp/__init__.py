"""Prepare data so that what is found later is about biology, not about how it was measured."""

from ._match_depth import match_depth

__all__ = ["match_depth"]
