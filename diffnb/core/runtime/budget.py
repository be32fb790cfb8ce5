"""One memory budget, in bytes, from which the size of every block follows.

Computations that do not fit are done block by block. The budget decides how much is in memory at a time, not what the
result is: results agree to rounding for every budget. It bounds the arrays of one step, not the user's data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

#: role of an array: one of many temporary ones, the block being processed, what is kept during a pass over the data,
#: or the largest array of a step
Share: TypeAlias = Literal["chunk", "block", "kept", "whole"]

DEFAULT_MEMORY_BYTES = 2**30
MIN_MEMORY_BYTES = 2**10
SHARES: dict[Share, int] = {"chunk": 128, "block": 16, "kept": 4, "whole": 1}

#: what a container may take, where it is limited
_LIMIT_FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))

_memory_bytes = DEFAULT_MEMORY_BYTES


def memory() -> int:
    """Return the budget in bytes."""
    return _memory_bytes


def set_memory(n_bytes: int, /) -> None:
    """Set the budget of this process, in bytes."""
    global _memory_bytes
    if n_bytes < MIN_MEMORY_BYTES:
        raise ValueError(f"memory={n_bytes} is below {MIN_MEMORY_BYTES} bytes.")
    _memory_bytes = int(n_bytes)


@contextmanager
def limited(n_bytes: int, /) -> Iterator[None]:
    """Set the budget within a `with` block."""
    before = memory()
    set_memory(n_bytes)
    try:
        yield
    finally:
        set_memory(before)


def bytes_for(share: Share, /) -> int:
    """Return the bytes that an array of this role may take."""
    return _memory_bytes // SHARES[share]


def fits(n_bytes: int, share: Share = "whole", /) -> bool:
    """Return whether an array of so many bytes is within its share of the budget."""
    return n_bytes <= bytes_for(share)


def count(bytes_each: int, share: Share = "block", /) -> int:
    """Return how many items of `bytes_each` bytes fit, at least one."""
    return max(1, bytes_for(share) // max(1, bytes_each))


@cache
def machine_bytes() -> int | None:
    """Return the memory of this machine, or of its container; `None` where the system does not say."""
    found = [_physical_bytes(), *(_limit_in(path) for path in _LIMIT_FILES)]
    known = [n_bytes for n_bytes in found if n_bytes is not None]
    return min(known) if known else None


def _physical_bytes() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None


def _limit_in(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return None
