"""Options of DiSC."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from .. import _logging as log
from .. import _validate as validate
from ..core.disc import AnalysisOptions, DiscOptions, FeatureGraphOptions, Null
from ..core.spectral.distances import METRICS
from ..core.spectral.kernels import KERNELS
from ..core.typing import Standardize
from .feature_graph import GRAPHS, check_memory, check_neighbors

QUESTIONS = ("relations", "any difference")
STANDARDIZE = ("global", "within")
NULLS = ("labels", "connectivity")
#: `min_obs="auto"`: one of so many observations of a condition, up to the largest
OBS_PER_MIN_OBS = 10
MAX_MIN_OBS = 20
DEFAULT_COMPONENTS = 10


def check_disc(given: Any) -> None:
    """Refuse words that are not options, before any data is read."""
    validate.flags(density_normalize=given.density_normalize, project_trivial=given.project_trivial)
    validate.choice("question", given.question, QUESTIONS)
    validate.choice("metric", given.metric, METRICS)
    validate.choice("graph", given.graph, (validate.AUTO, *GRAPHS))
    validate.choice("null", given.null, (validate.AUTO, *NULLS))
    if given.standardize is not None:
        validate.choice("standardize", given.standardize, (validate.AUTO, *STANDARDIZE))
    if not callable(given.kernel):
        validate.choice("kernel", given.kernel, tuple(KERNELS))
    check_neighbors(given.neighbors, given.graph)


def standardize_of(given: Any) -> Standardize | None:
    """Return how features are standardised, which the question decides where it is left open."""
    if given.standardize == validate.AUTO:
        return "within" if given.question == "relations" else None
    return cast("Standardize | None", given.standardize)


def frequent_enough(min_obs: object) -> Callable[[int], int]:
    """Return in how many of so many observations of a condition a feature has to be seen."""
    asked = validate.auto_count("min_obs", min_obs, at_least=0)
    return lambda n_obs: min(MAX_MIN_OBS, n_obs // OBS_PER_MIN_OBS) if asked is None else asked


def disc_options(given: Any, groups: Sequence[str], n_features: int, *, min_clusters: int = 2) -> AnalysisOptions:
    """Return the options for these conditions and so many features."""
    check_memory(given.graph, n_features, len(groups))
    standardize, few = standardize_of(given), f"there are {n_features} features"
    n_neighbors = validate.auto_count("n_neighbors", given.n_neighbors, at_most=n_features - 1, why=few)
    n_clusters = validate.auto_count("n_clusters", given.n_clusters, at_least=min_clusters, at_most=n_features, why=few)
    return AnalysisOptions(
        disc=DiscOptions(
            graph=FeatureGraphOptions(
                kind=given.graph,
                n_neighbors=n_neighbors or "auto",
                search=given.neighbors,
                metric=given.metric,
                standardize=standardize,
                kernel=given.kernel,
                density_normalize=given.density_normalize,
                seed=validate.seed(given.random_state),
            ),
            n_eigenvectors=_eigenvector_counts(given.n_eigenvectors, groups, n_features) or "auto",
            n_components=_number_of_components(given.n_components, n_features),
            project_trivial=given.project_trivial,
        ),
        n_clusters=n_clusters or "auto",
        n_permutations=validate.repeats("n_permutations", given.n_permutations),
        null=_null(given.null, standardize),
        n_bootstraps=validate.repeats("n_bootstraps", given.n_bootstraps),
    )


def _number_of_components(n_components: object, p: int) -> int:
    """Warn of a number that cannot be reached; the default means "as many as there are" for few features."""
    number = validate.count("n_components", n_components)
    if number != DEFAULT_COMPONENTS and number > p - 1:
        log.warn(f"n_components={number}: {p} features have {p - 1} differential vectors at most, which are computed.")
    return min(number, p - 1)


def _null(null: str, standardize: Standardize | None) -> Null:
    if null == validate.AUTO:
        return "connectivity" if standardize == "within" else "labels"
    return cast("Null", null)


def _eigenvector_counts(value: object, groups: Sequence[str], p: int) -> tuple[int, ...] | None:
    if isinstance(value, Mapping):
        missing = [g for g in groups if g not in value]
        if missing:
            raise ValueError(f"n_eigenvectors gives no number for {validate.quoted(missing)}.")
        listed = [value[g] for g in groups]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != len(groups):
            raise ValueError(f"n_eigenvectors has {len(value)} numbers for {len(groups)} conditions.")
        listed = list(value)
    else:
        listed = [value] * len(groups)
    why = f"there are {p} features"
    counts = [validate.auto_count("n_eigenvectors", v, at_most=p - 1, why=why) for v in listed]
    resolved = tuple(c for c in counts if c is not None)
    if not resolved:
        return None
    together = sum(resolved) - min(resolved)
    if together >= p:
        raise ValueError(
            f"n_eigenvectors={value!r} projects off {together} directions of {p} features: nothing is left."
            " Ask for fewer."
        )
    return resolved
