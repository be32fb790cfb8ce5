"""One call at a time on one AnnData: threads that call tools on the same data wait for each other.

There are two locks for each AnnData. A tool holds the first one from beginning to end. Both tools and readers hold the
second one, but only while slots are replaced or read, so that a reader never waits for a computation.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from functools import partial
from threading import RLock
from typing import Any

from anndata import AnnData


@dataclass(frozen=True, slots=True)
class Locks:
    """The locks of one AnnData."""

    calls: Any = field(default_factory=RLock)
    slots: Any = field(default_factory=RLock)


#: by the identity of the AnnData, which is not hashable; an entry ends with its AnnData
_locks: dict[int, tuple[weakref.ref[AnnData], Locks]] = {}
_registry = RLock()


def locks_of(adata: AnnData, /) -> Locks:
    """Return the locks of an AnnData, the same ones as long as it exists."""
    identity = id(adata)
    with _registry:
        found = _locks.get(identity)
        # the number of an AnnData that has ended may be given to another one
        if found is None or found[0]() is not adata:
            # forgotten by a function written in C: an interrupt that comes in a callback is lost
            forget = partial(dict.pop, _locks, identity)
            found = _locks[identity] = (weakref.ref(adata, forget), Locks())
        return found[1]
