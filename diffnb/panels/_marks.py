"""Selections as they are sent to the browser: one bit per feature."""

from __future__ import annotations

import numpy as np

from ..core.typing import Bools


def packed(mask: Bools) -> bytes:
    """Pack a selection, eight features per byte, the first in the lowest bit."""
    return np.packbits(mask, bitorder="little").tobytes()


def unpacked(bits: bytes, count: int) -> Bools:
    """Unpack a selection of `count` features; missing bits are not set."""
    found = np.zeros(count, dtype=bool)
    read = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little", count=min(count, 8 * len(bits)))
    found[: len(read)] = read.astype(bool)
    return found
