"""What `tl.disc` stores and reports about replication in halves of the samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _logging as log
from ..core.disc import MIN_SAMPLES_TO_SPLIT, Agreement, Replication
from ..core.typing import Ints


def replication_entry(replication: Replication | None, /) -> dict[str, Any]:
    """Return the entry of `uns` with the agreement between halves; empty where it was not computed."""
    if replication is None:
        return {}
    stored: Mapping[str, Any] = {
        "n_splits": replication.n_splits,
        "n_samples": replication.n_samples,
        "vectors": _arrays(replication.vectors),
        "partitions": _arrays(replication.partitions),
        "groups": _arrays(replication.groups),
    }
    return {"replication": stored}


def _arrays(agreement: Agreement) -> dict[str, Any]:
    return {
        "replication": agreement.observed,
        "chance": agreement.chance,
        "chance_95": agreement.chance_95,
        "replicates": agreement.replicates,
    }


def report_replication(
    replication: Replication | None, names: Sequence[Sequence[str]], samples: Sequence[Ints], /
) -> None:
    """Warn of named groups that halves of the samples do not show; `names` holds those of each condition."""
    if not samples:
        return
    if replication is None:
        log.info(
            f"replication in halves was not computed: it needs {MIN_SAMPLES_TO_SPLIT} samples (in each condition, where"
            " each sample belongs to one) and, where every split needs new fits, a named group"
        )
        return
    found = replication.groups
    failed = [
        f"{name!r} ({found.observed[m, g]:.2f}, by chance {found.chance[m, g]:.2f})"
        for m, own in enumerate(names)
        for g, name in enumerate(own)
        if not found.replicates[m, g]
    ]
    if failed:
        several = len(failed) > 1
        log.warn(
            f"group{'s' * several} {', '.join(failed)} {'do' if several else 'does'} not replicate in halves of the"
            f" {replication.n_samples} samples: the number is the share of members that halves have in common,"
            " corrected for that of random sets. See dn.get.disc_replication."
        )
