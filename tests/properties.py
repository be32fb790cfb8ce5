"""What must hold for every tool and all data: the inputs, the changes that change nothing, and how to compare.

`tests/test_properties.py` tries a few inputs with every run of the tests, `benchmarks/hostile.py` as many as one likes.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import strategies as st
from streams import dense_chunks, sparse_chunks

import diffnb as dn

PACKAGE = str(Path(dn.__file__).parent)
KINDS = ("normal", "heavy tails", "counts", "binary", "duplicated features", "duplicated rows")
#: kinds without equal distances, in which no order of positions decides
CONTINUOUS = KINDS[:2]


@dataclass(frozen=True)
class Case:
    """One input: everything that is needed to make it again."""

    kind: str
    n_each: int
    n_features: int
    n_constant: int
    seed: int
    change: int

    def values(self):
        rng = np.random.default_rng(self.seed)
        n, p = 2 * self.n_each, self.n_features
        z = rng.normal(size=(n, p))
        z[: self.n_each, : p // 2] += rng.normal(size=(self.n_each, 1))
        if self.kind == "heavy tails":
            z = np.sinh(2 * z)
        elif self.kind == "counts":
            z = rng.poisson(np.exp(0.7 * z)).astype(float)
        elif self.kind == "binary":
            z = (z > 0.3).astype(float)
        elif self.kind == "duplicated features":
            z = np.hstack([z, z])[:, :p] if p < 2 else np.hstack([z[:, : (p + 1) // 2]] * 2)[:, :p]
        elif self.kind == "duplicated rows":
            z = np.round(z)[rng.integers(0, max(2, n // 2), n)]
        return np.hstack([z, np.ones((n, self.n_constant))])

    def labels(self):
        return np.repeat(["A", "B"], self.n_each)

    def rng(self):
        return np.random.default_rng((self.seed, self.change))

    def data(self, x=None, order=slice(None), categories=("A", "B")):
        """Return the input as an AnnData, with the observations in some order; three samples of each condition."""
        n = 2 * self.n_each
        labels, sample = self.labels(), np.char.add(self.labels(), (np.arange(n) % 3).astype(str))
        age = np.random.default_rng((self.seed, 1)).normal(size=n)
        adata = described(self.values() if x is None else x, labels[order], categories)
        return _with(adata, sample=sample[order], age=age[order])


cases = st.builds(
    Case,
    kind=st.sampled_from(KINDS),
    n_each=st.integers(3, 11),
    n_features=st.integers(1, 7),
    n_constant=st.sampled_from([0, 0, 0, 1]),
    seed=st.integers(0, 2**20),
    change=st.integers(0, 2**20),
)


def _with(adata, **columns):
    for name, values in columns.items():
        adata.obs[name] = values
    return adata


def described(x, labels, categories=("A", "B")):
    obs = pd.DataFrame(
        {"condition": pd.Categorical(labels, categories=list(categories))}, index=[f"o{i}" for i in range(x.shape[0])]
    )
    return anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"f{j}" for j in range(x.shape[1])]))


@dataclass(frozen=True)
class Found:
    """Numbers of a result: one value or row per feature, pairs of observations, and numbers of the whole."""

    by_feature: np.ndarray | None = None
    by_pair: np.ndarray | None = None
    whole: np.ndarray | None = None

    def parts(self):
        return {name: v for name, v in vars(self).items() if v is not None}


@dataclass(frozen=True)
class Tool:
    """How a tool is called here, what is read of it, and which changes leave its answer as it is."""

    run: Callable[[anndata.AnnData], None]
    read: Callable[[anndata.AnnData], Found]
    #: what does not depend on the order of observations; features; on signs, and on which condition is the first
    invariant: Callable[[anndata.AnnData], Found]
    has_conditions: bool = True
    #: properties that it does not have, by name
    without: tuple[str, ...] = ()


def _numbers(table):
    return table.select_dtypes("number").to_numpy(dtype=float)


def _pairs(adata):
    key = "informed_pairwise"
    return Found(by_pair=np.asarray(adata.obsp[key], dtype=float))


def _pvalues(adata):
    table = adata.varm["scorecard"]
    return Found(by_feature=_numbers(table[[c for c in table.columns if c.endswith("_pval")]]))


def _sigma(adata):
    table = dn.get.disc_significance(adata).sort_values(["group", "component"])
    # of few features the last components are zero but for rounding
    sigma = table.loc[table["component"] == 1, "sigma"].to_numpy(dtype=float)
    return Found(whole=sigma)


def _objective(key):
    return lambda adata: Found(whole=np.atleast_1d(np.asarray(adata.uns[key]["objective"], dtype=float)).ravel())


def _varm(key):
    return lambda adata: Found(by_feature=_numbers(adata.varm[key]))


def _var(key):
    return lambda adata: Found(by_feature=adata.var[key].to_numpy(dtype=float))


def _spectrum(adata):
    return Found(whole=np.sort(np.asarray(adata.uns["feature_diffmap"]["eigenvalues"], dtype=float), axis=0))


def _local(adata):
    dn.tl.informed_distance(adata, local=True, n_clusters=2, n_components=1, n_neighbors=min(5, adata.n_obs), full=True)


def _reference(n_features):
    """Another data set with the same features, the first half of which are connected."""
    rng = np.random.default_rng(n_features)
    x = rng.normal(size=(24, n_features))
    x[:12, : max(1, n_features // 2)] += 3 * rng.normal(size=(12, 1))
    adata = described(x, np.repeat(["A", "B"], 12))
    adata.var["part"] = np.where(np.arange(n_features) < max(1, n_features // 2), "first", "second")
    return adata


def _project(adata):
    reference = _reference(adata.n_vars)
    dn.tl.pda(reference, "condition")
    dn.tl.project(adata, reference, key="pda")


def _preserve(adata):
    dn.tl.preservation(_reference(adata.n_vars), adata, key="part", n_permutations=19)


def _preserved(adata):
    return Found(whole=_numbers(dn.get.preservation(adata)))


def _enrich(adata):
    dn.tl.laplacian_score(adata, n_neighbors=3)
    dn.tl.diverse_features(adata, n_features=1, neighborhoods=(2, 3))
    sets = {"first": adata.var_names[:3], "all": adata.var_names}
    dn.tl.enrich(adata, sets, key="diverse_features", min_size=1)


def _power(adata):
    dn.tl.power(adata, "condition", group_size=2, n_units=[8], n_simulations=2)


def _detect(method):
    return lambda adata: dn.tl.feature_change(adata, "condition", method=method)


#: what depends on the order of features or observations, on which random draws depend
ORDER = ("does_not_depend_on_the_order_of_features", "does_not_depend_on_the_order_of_observations")
#: detectors compare band by band, and the second image with what the first predicts
PAIRED = ("does_not_depend_on_the_order_of_observations", "does_not_depend_on_the_order_of_conditions")

TOOLS = {
    "scorecard": Tool(lambda a: dn.tl.scorecard(a, "condition"), _varm("scorecard"), _pvalues),
    "disc": Tool(lambda a: dn.tl.disc(a, "condition", n_clusters=2, n_components=1), _sigma, _sigma),
    "disc, any difference": Tool(
        lambda a: dn.tl.disc(a, "condition", question="any difference", n_clusters=2, n_components=1), _sigma, _sigma
    ),
    "pda": Tool(lambda a: dn.tl.pda(a, "condition"), _varm("pda"), _objective("pda")),
    "sparda": Tool(lambda a: dn.tl.sparda(a, "condition", n_features=1), _varm("sparda"), _objective("sparda")),
    "dufs": Tool(lambda a: dn.tl.dufs(a, n_steps=8, n_features=1), _varm("dufs"), _varm("dufs"), False),
    "diverse_features": Tool(
        lambda a: dn.tl.diverse_features(a, n_features=1, neighborhoods=(2, 3)),
        _varm("diverse_features"),
        _varm("diverse_features"),
        False,
    ),
    "laplacian_score": Tool(
        lambda a: dn.tl.laplacian_score(a, n_neighbors=3), _var("laplacian_score"), _var("laplacian_score"), False
    ),
    "informed_distance": Tool(
        lambda a: dn.tl.informed_distance(a, n_clusters=2, n_components=1, n_neighbors=4, full=True),
        _pairs,
        _pairs,
        False,
    ),
    "informed_distance, local": Tool(_local, _pairs, _pairs, False),
    "feature_diffmap": Tool(lambda a: dn.tl.feature_diffmap(a, "condition", n_components=1), _spectrum, _spectrum),
    "feature_change": Tool(
        lambda a: dn.tl.feature_change(a, "condition"), _var("feature_change"), _var("feature_change")
    ),
    "spectral_angle": Tool(
        _detect("spectral_angle"), _var("feature_change"), _var("feature_change"), without=PAIRED[:1]
    ),
    "difference_rx": Tool(_detect("difference_rx"), _var("feature_change"), _var("feature_change"), without=PAIRED),
    "chronochrome": Tool(_detect("chronochrome"), _var("feature_change"), _var("feature_change"), without=PAIRED),
    "scorecard, samples": Tool(
        lambda a: dn.tl.scorecard(a, "condition", sample_key="sample"), _varm("scorecard"), _pvalues
    ),
    "scorecard, covariates": Tool(
        lambda a: dn.tl.scorecard(a, "condition", covariates=["age"]), _varm("scorecard"), _pvalues
    ),
    "disc, samples": Tool(
        lambda a: dn.tl.disc(a, "condition", sample_key="sample", n_clusters=2, n_components=1), _sigma, _sigma
    ),
    "pda, covariates": Tool(lambda a: dn.tl.pda(a, "condition", covariates=["age"]), _varm("pda"), _objective("pda")),
    "project": Tool(
        _project,
        lambda a: Found(whole=np.asarray(a.obsm["X_projected"], dtype=float)),
        lambda a: Found(whole=np.sort(np.asarray(a.obsm["X_projected"], dtype=float), axis=0)),
        without=(
            "does_not_depend_on_the_order_of_features",
            "does_not_depend_on_the_unit",
            "does_not_depend_on_a_shift",
            "does_not_depend_on_constant_features",
        ),
    ),
    "preservation": Tool(_preserve, _preserved, _preserved, without=(*ORDER, "does_not_depend_on_constant_features")),
    "enrich": Tool(
        _enrich,
        lambda a: Found(whole=_numbers(dn.get.enrich(a))),
        lambda a: Found(whole=_numbers(dn.get.enrich(a))),
        without=("does_not_depend_on_the_order_of_features", "does_not_depend_on_constant_features"),
    ),
    "power": Tool(
        _power,
        lambda a: Found(whole=_numbers(dn.get.power(a))),
        lambda a: Found(whole=_numbers(dn.get.power(a))),
        without=(*ORDER, "does_not_depend_on_the_order_of_conditions", "does_not_depend_on_constant_features"),
    ),
}


#: angles are from the origin, clusters of features those of their levels, and the kind of graph follows from them
DEPEND_ON_LEVELS = (
    "spectral_angle",
    "chronochrome",
    "informed_distance",
    "informed_distance, local",
    "disc, any difference",
)


#: tools with a search from random starts
ASCENTS = tuple(TOOLS[name] for name in ("pda", "pda, covariates", "sparda"))


class Obscure(AssertionError):
    """An error that does not come from a check of ours, or leaves something behind."""


def answer(tool: Tool, adata, read=None) -> Found | str:
    """Return what a tool finds, or the words of its refusal."""
    before = {place: list(getattr(adata, place)) for place in ("obs", "var", "uns", "obsm", "varm", "obsp", "varp")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)  # overflow, division by zero
        try:
            tool.run(adata)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            after = {place: list(getattr(adata, place)) for place in before}
            if not last.filename.startswith(PACKAGE) or not isinstance(error, ValueError | TypeError):
                raise Obscure(f"{type(error).__name__}: {error}") from error
            if after != before:
                raise Obscure("a refused call left something behind") from error
            return str(error)
        return (read or tool.read)(adata)


def same(first, second, *, tolerance=1e-8, order=None, rows=None):
    """Compare two answers; `order` is that of the features of the second, `rows` that of its observations."""
    if isinstance(first, str) or isinstance(second, str):
        assert isinstance(first, str) == isinstance(second, str), f"one call is refused: {first} | {second}"
        return
    for name, expected in first.parts().items():
        found = second.parts()[name]
        if name == "by_feature" and order is not None:
            expected = expected[order]
        if name == "by_pair" and rows is not None:
            expected = expected[np.ix_(rows, rows)]
        scale = max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0)))
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale, err_msg=name)


def is_answered(tool: Tool, case: Case):
    """Every input gets an answer, or is refused in words that can be acted on."""
    # a statistic may be infinite, as t of a feature that is constant in both conditions; no p-value is
    found = answer(tool, case.data(), tool.invariant)
    if not isinstance(found, str):
        assert not any(np.isinf(part).any() for part in found.parts().values())


STORED = {
    "CSR": sp.csr_matrix,
    "CSC": sp.csc_matrix,
    "Fortran order": np.asfortranarray,
    "dask": lambda x: dense_chunks(x, 5),
    "dask, sparse": lambda x: sparse_chunks(x, 5),
    "longdouble": lambda x: x.astype(np.longdouble),
}
STORED_INTEGERS = STORED | {
    "integers": lambda x: x.astype(np.int16),
    "CSR of integers": lambda x: sp.csr_matrix(x.astype(np.int32)),
}


def does_not_depend_on_storage(tool: Tool, case: Case):
    """Dense, sparse, chunked: the same answer."""
    kinds = STORED_INTEGERS if case.kind in ("counts", "binary", "duplicated rows") else STORED
    name = sorted(kinds)[case.change % len(kinds)]
    x = case.values()
    plain = answer(tool, case.data(x))
    same(plain, answer(tool, case.data(kinds[name](x))), tolerance=1e-10)


def does_not_depend_on_the_order_of_features(tool: Tool, case: Case):
    """Features in another order: the same values, in that order."""
    case = replace(case, kind=CONTINUOUS[case.change % 2])
    x, order = case.values(), case.rng().permutation(case.n_features + case.n_constant)
    plain = answer(tool, case.data(x), tool.invariant)
    moved = answer(tool, case.data(x[:, order]), tool.invariant)
    # the ascent starts in random directions, whose coordinates are those of other features then
    same(plain, moved, tolerance=0.1 if tool in ASCENTS else 1e-6, order=order)


def does_not_depend_on_the_order_of_observations(tool: Tool, case: Case):
    """Observations in another order: the same values."""
    case = replace(case, kind=CONTINUOUS[case.change % 2])
    x, order = case.values(), case.rng().permutation(2 * case.n_each)
    plain = answer(tool, case.data(x), tool.invariant)
    moved = answer(tool, case.data(x[order], order), tool.invariant)
    same(plain, moved, tolerance=1e-6, rows=order)


def does_not_depend_on_the_order_of_conditions(tool: Tool, case: Case):
    """B against A instead of A against B: the same evidence."""
    x = case.values()
    plain = answer(tool, case.data(x), tool.invariant)
    swapped = answer(tool, case.data(x, categories=("B", "A")), tool.invariant)
    same(plain, swapped, tolerance=1e-6)


def does_not_depend_on_the_unit(tool: Tool, case: Case):
    """Data in another unit, a power of two: no digit changes, but what is measured in that unit."""
    x, factor = case.values(), 2.0 ** (case.change % 121 - 60)
    plain, scaled = (answer(tool, case.data(v), tool.invariant) for v in (x, x * factor))
    same(plain, scaled, tolerance=1e-8)


def does_not_depend_on_constant_features(tool: Tool, case: Case):
    """One more constant feature: it has no value, and the others keep theirs."""
    x = case.values()
    more = np.hstack([x, np.full((len(x), 1), 3.0)])
    plain, extended = (answer(tool, case.data(v), tool.invariant) for v in (x, more))
    if isinstance(plain, str) or isinstance(extended, str):
        # too few features with the constant one, which is not counted, as without it
        return
    if extended.by_feature is not None:
        assert np.isnan(extended.by_feature[-1]).all()
        extended = replace(extended, by_feature=extended.by_feature[:-1])
    same(plain, extended, tolerance=1e-8)


def does_not_depend_on_a_shift(tool: Tool, case: Case):
    """Every feature moved by a number of its own, in all conditions."""
    if any(tool is TOOLS[name] for name in DEPEND_ON_LEVELS):
        return
    case = replace(case, kind=CONTINUOUS[0])
    x = case.values()
    common = tool in (TOOLS["feature_diffmap"], TOOLS["feature_change"])
    shift = case.rng().uniform(-50, 50, size=1 if common else x.shape[1])
    plain, moved = (answer(tool, case.data(v), tool.invariant) for v in (x, x + shift))
    same(plain, moved, tolerance=1e-5)


def checks(tool: Tool):
    """Return the properties that a tool has."""
    return [check for check in PROPERTIES if check.__name__ not in tool.without]


PROPERTIES = (
    is_answered,
    does_not_depend_on_storage,
    does_not_depend_on_the_order_of_features,
    does_not_depend_on_the_order_of_observations,
    does_not_depend_on_the_order_of_conditions,
    does_not_depend_on_the_unit,
    does_not_depend_on_constant_features,
    does_not_depend_on_a_shift,
)
