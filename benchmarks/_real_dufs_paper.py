"""Part `dufs_paper` of `real.py`: selection without labels on the sets of the DUFS paper, which settled the rule."""

from __future__ import annotations

from _real_dufs import compared
from dufs import SETS, real


def report(seeds: int, *, quick: bool = False) -> None:
    """Laplacian score, diverse and random features."""
    names = list(SETS)[: 1 if quick else None]
    compared("Sets of the paper, on which the rule was settled", ((name, real(name)) for name in names), seeds)
