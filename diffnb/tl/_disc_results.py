"""What `tl.disc` stores, logs and warns of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from .. import _logging as log
from .._anndata import Pulled, Results, expand
from .._keys import BACKGROUND_GROUP, DiscKeys, follows_global_factor
from ..core.disc import MIN_PERMUTATIONS, Analysis, FeatureGroups, Naming, subgroups
from ..core.typing import Floats
from ._disc_replication import replication_entry, report_replication


def log_choices(analysis: Analysis, data: Pulled) -> None:
    """Log what was chosen."""
    settings, graph = analysis.settings, analysis.settings.graph
    log.info(
        f"DiSC of {data.n_features} features: {graph.kind} graph ({graph.search} neighbors),"
        f" n_neighbors={graph.n_neighbors}, n_eigenvectors={list(settings.n_eigenvectors)},"
        f" n_clusters={[g.n_clusters for g in analysis.groups]}"
    )
    for group, note in zip(data.groups, edge_notes(analysis), strict=True):
        if note:
            log.info(f"{group}: {note}")


def edge_notes(analysis: Analysis) -> list[str]:
    """Describe, per condition, choices that ended at the end of their range; empty where none did."""
    n_components = analysis.settings.n_components
    return ["; ".join(_edges(groups, n_components)) for groups in analysis.groups]


def _edges(groups: FeatureGroups, n_components: int) -> list[str]:
    found = []
    if groups.n_leading and groups.n_leading == n_components:
        found.append(f"every one of {n_components} vectors leads, so that a larger n_components may show more groups")
    if groups.n_leading > 1 and groups.n_seeded > 2 * groups.n_leading:
        found.append(f"{groups.n_seeded} clusters are the most that were tried")
    return found


def _values(analysis: Analysis, m: int) -> dict[str, Floats]:
    """Return the columns of one condition by their names."""
    found = {f"vector_{i + 1}": vector for i, vector in enumerate(analysis.vectors[m].T)}
    found["score"] = analysis.groups[m].scores
    membership = analysis.groups[m].membership
    if membership is not None:
        found["membership"] = membership
    if analysis.stability is not None:
        found["stability"] = analysis.stability[m]
    if analysis.spread is not None:
        found |= {f"spread_{i + 1}": spread for i, spread in enumerate(analysis.spread[m].T)}
    return found


def results_of(keys: DiscKeys, data: Pulled, analysis: Analysis, described: Mapping[str, Any]) -> Results:
    """Arrange everything that `tl.disc` stores; `described` goes to `uns` with the rest."""
    has = {
        "membership": analysis.groups[0].membership is not None,
        "stability": analysis.stability is not None,
        "spread": analysis.spread is not None,
    }
    names = keys.columns(data.groups, analysis.sigma.shape[1], **has)
    table = {
        names[group][name]: expand(values, data.kept)
        for m, group in enumerate(data.groups)
        for name, values in _values(analysis, m).items()
    }
    columns = keys.feature_groups(data.groups)
    labels = [_named(g.labels, group, data) for g, group in zip(analysis.groups, data.groups, strict=True)]
    report_replication(analysis.replication, [list(column.categories[1:]) for column in labels], data.samples)
    nested_columns, nested_labels = _nested(keys, data, analysis)
    return Results(
        var=dict(zip([*columns, *nested_columns], [*labels, *nested_labels], strict=True)),
        varm={keys.varm: pd.DataFrame(table)},
        described={
            "groups": np.array(data.groups, dtype=object),
            "group_columns": np.array(columns, dtype=object),
            "nested_columns": np.array(nested_columns, dtype=object),
            "n_constant": data.n_constant,
            **{f"has_{name}": found for name, found in has.items()},
            **_described(analysis),
            **_tested(analysis),
            **_judged(analysis),
            "notes": np.array(edge_notes(analysis), dtype=object),
            **described,
            **_per_sample(analysis, data),
            **replication_entry(analysis.replication),
        },
    )


def _described(analysis: Analysis) -> dict[str, Any]:
    settings = analysis.settings
    return {
        "sigma": analysis.sigma,
        "graph": settings.graph.kind,
        "neighbors": settings.graph.search,
        "n_neighbors": settings.graph.n_neighbors,
        "n_eigenvectors": np.array(settings.n_eigenvectors),
        "n_clusters": np.array([g.n_clusters for g in analysis.groups]),
        "n_leading": np.array([g.n_leading for g in analysis.groups]),
    }


def _tested(analysis: Analysis) -> dict[str, Any]:
    tested = analysis.significance
    if tested is None:
        return {}
    return {"pvals": tested.pvals, "sigma_tested": tested.sigma, "sigma_null": tested.null_sigma}


def _judged(analysis: Analysis) -> dict[str, Any]:
    """Return the evidence on which groups were named."""
    naming = analysis.naming
    if naming is None:
        return {}
    return {
        "naming": {
            "sigma": naming.sigma,
            "sigma_null": naming.null_sigma,
            "pvals": naming.pvals,
            "accepted": naming.accepted,
        }
    }


def _per_sample(analysis: Analysis, data: Pulled) -> dict[str, Any]:
    if analysis.sigma_each is None:
        return {}
    samples = np.array([data.sample_names[s] for s in analysis.subjects], dtype=object)
    return {"sigma_each": analysis.sigma_each, "samples": samples}


def _named(labels: Any, group: str, data: Pulled) -> pd.Categorical:
    names = [BACKGROUND_GROUP, *(f"{group}{i}" for i in range(1, int(labels.max()) + 1))]
    codes = np.full(data.kept.size, -1)
    codes[data.kept] = labels
    return pd.Categorical.from_codes(codes, names)


def _nested(keys: DiscKeys, data: Pulled, analysis: Analysis) -> tuple[list[str], list[pd.Categorical]]:
    """Name the subgroups of every condition, where any group has some."""
    columns, found = [], []
    for group, column, x, groups in zip(
        data.groups, keys.nested_groups(data.groups), data.matrices, analysis.groups, strict=True
    ):
        paths = subgroups(x, groups.labels)
        if any(paths):
            base = _named(groups.labels, group, data)
            names = np.array(base, dtype=object)
            at = np.flatnonzero(data.kept)
            for place, path in zip(at, paths, strict=True):
                names[place] = ".".join([str(names[place]), *map(str, path)])
            columns.append(column)
            found.append(pd.Categorical(names, categories=[BACKGROUND_GROUP, *_in_order(names)]))
    return columns, found


def _in_order(names: Any) -> list[str]:
    named = {n for n in names if isinstance(n, str) and n != BACKGROUND_GROUP}
    return sorted(named, key=lambda name: [(len(part), part) for part in name.split(".")])


def warn_of_evidence(analysis: Analysis, data: Pulled, sample_key: str | None) -> None:
    """Warn where the evidence behind the groups is not what it seems."""
    naming = analysis.naming
    if naming is not None:
        _log_evidence(naming, data)
        for m in np.flatnonzero(naming.below):
            log.warn(_below(data.groups[m], naming.sigma[m], naming.null_sigma[:, m]))
        if sample_key is not None and naming.n_permutations < MIN_PERMUTATIONS:
            log.warn(
                f"sample_key={sample_key!r} gives so few samples that the labels can be permuted in"
                f" {naming.n_permutations} other ways: no group can be named. n_clusters=… names groups untested."
            )
    tested = analysis.significance
    if tested is not None and tested.exact:
        n = 1 + len(tested.null_sigma)
        log.info(
            f"samples can be assigned to conditions in {n} ways: each was evaluated once, p-values are exact and not"
            f" below {1 / n:.2g}"
        )
    for group, labels in zip(data.groups, (g.labels for g in analysis.groups), strict=True):
        for number in range(1, int(labels.max()) + 1):
            n_members = int((labels == number).sum())
            if follows_global_factor(n_members, labels.size):
                log.warn(
                    f"group {group}{number} holds {n_members / labels.size:.0%} of all features: a global factor (cell"
                    " type, depth, motion, illumination) rather than a mechanism of few features. get.disc_groups says"
                    " which columns of obs it follows; covariates=… takes them out."
                )


def _log_evidence(naming: Naming, data: Pulled) -> None:
    for m, group in enumerate(data.groups):
        null = naming.null_sigma[:, m]
        found = "groups are named" if naming.accepted[m] else "no group is named"
        log.info(
            f"{group}: {found}; σ {naming.sigma[m]:.3g} against {null.min(initial=np.inf):.3g}–"
            f"{null.max(initial=0):.3g} of {naming.n_permutations} permutations, p = {naming.pvals[m]:.2g}"
        )


def _below(group: str, sigma: float, null: Floats) -> str:
    return (
        f"σ of condition {group!r} ({sigma:.2g}) lies far below all {len(null)} permutations of the labels"
        f" ({null.min():.2g}–{null.max():.2g}): permuted labels make stronger groups than the conditions do, so this"
        " test cannot find a difference. The usual reason are features seen in few observations, which become"
        " isolated at random; raise min_obs, or leave them out with mask_var."
    )
