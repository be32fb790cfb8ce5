"""Results with a part removed: every reader, figure and panel says what is missing and which call makes it."""

import re
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn
from diffnb._keys import recorded_slots

#: results, and the readers and figures that are to read them
MADE = {
    "disc": "disc disc_evidence disc_features disc_graph disc_groups disc_replication disc_significance gene_sets gmt"
    " group_correlations group_features group_scores"
    " meta_features",
    "scorecard": "scorecard",
    "sparda": "sparda sparda_path sparda_projection sparda_summary",
    "dufs": "dufs dufs_summary dufs_training",
    "diverse_features": "diverse_features",
    "laplacian_score": "laplacian_score",
    "informed": "informed_clusters informed_covariance informed_distances informed_eigenvalues informed_embedding"
    " informed_gap informed_summary",
    "feature_diffmap": "feature_diffmap",
    "feature_change": "feature_change",
    "survival": "survival survival_groups survival_tests",
    "trend": "scorecard trend",
    "power": "power",
    "preservation": "preservation",
    "projected": "projection",
    "enrich": "enrich",
}
#: readers that compute from the data with what is stored of the call, and so take longer
COMPUTED = {"disc": "edges network graphml cytoscape", "scorecard": "edges effects"}
FIGURES = {
    "disc": ("disc_significance", "disc_vectors", "disc_groups", "disc_features", "disc_embedding", "disc_graph"),
    "scorecard": ("scorecard",),
    "sparda": ("sparda", "sparda_path", "sparda_projection"),
    "dufs": ("dufs",),
    "informed": ("informed_embedding", "informed_gap"),
    "feature_diffmap": ("feature_diffmap",),
    "survival": ("survival",),
    "trend": ("scorecard", "trend"),
    "power": ("power",),
    "preservation": ("preservation",),
    "enrich": ("enrich",),
}
PANELS = {"disc": "disc", "sparda": "sparda", "dufs": "dufs", "informed": "informed"}
#: what a person can act on: the call to make, or the argument to change
REMEDY = re.compile(r"[Rr]un dn\.tl\.\w+\(|removed by hand")


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 16))
    x[:40, :6] += 1.5 * rng.normal(size=(40, 1))
    obs = pd.DataFrame(
        {"condition": pd.Categorical(np.repeat(["A", "B"], 40)), "time": np.arange(80.0) + 1, "event": True},
        index=[f"c{i}" for i in range(80)],
    )
    adata = anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"g{i}" for i in range(16)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few data
        run(adata)
    return adata


def run(adata):
    """Make every kind of result."""
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2, n_permutations=2)
    dn.tl.meta_features(adata)
    dn.tl.scorecard(adata, "condition")
    dn.tl.sparda(adata, "condition")
    dn.tl.dufs(adata, n_steps=3, n_features=4)
    dn.tl.diverse_features(adata, n_features=4)
    dn.tl.laplacian_score(adata)
    dn.tl.informed_distance(adata)
    dn.tl.feature_diffmap(adata, "condition", n_components=2)
    dn.tl.feature_change(adata, "condition")
    dn.tl.survival(adata, "condition")
    dn.tl.scorecard(adata, "time", trend=True, key_added="trend")
    dn.tl.power(adata, "condition", group_size=3, n_units=[10, 20], n_simulations=2)
    dn.tl.preservation(adata.copy(), adata, n_permutations=19)
    dn.tl.project(adata, adata.copy())
    dn.tl.enrich(adata, {"first": adata.var_names[:6]}, key="disc")


def damages(adata, key):
    """Every slot, column of a table and part of the entry that can be removed, with a function that does."""
    for place, name in [*recorded_slots(adata.uns[key], key), ("uns", key)]:
        yield f"{place}/{name}", lambda a, p=place, n=name: getattr(a, p).__delitem__(n)
        if place in ("varm", "obsm") and isinstance(adata.varm.get(name), pd.DataFrame):
            for column in adata.varm[name].columns:
                yield f"varm/{name}/{column}", lambda a, n=name, c=column: a.varm[n].drop(columns=c, inplace=True)
            yield f"varm/{name} as an array", lambda a, n=name: a.varm.__setitem__(n, np.ones((a.n_vars, 2)))
    for path in paths(adata.uns[key]):
        yield f"uns/{key}/{'/'.join(path)}", lambda a, k=key, p=path: remove(a.uns[k], p)


def paths(entry, before=()):
    for name, value in entry.items():
        yield (*before, name)
        if isinstance(value, dict):
            yield from paths(value, (*before, name))


def remove(entry, path):
    *outer, last = path
    for name in outer:
        entry = entry[name]
    del entry[last]


def attempt(read, *args, **kwargs):
    """Return the error, or nothing where the reader did without what was removed."""
    try:
        read(*args, **kwargs)
    except (KeyError, ValueError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("key", list(MADE))
def test_readers_say_what_is_missing(made, key):
    refused = 0
    for what, damage in list(damages(made, key)):
        adata = made.copy()
        damage(adata)
        for name in MADE[key].split():
            said = attempt(getattr(dn.get, name), adata, key=key)
            if said is not None:
                refused += 1
                assert REMEDY.search(said), f"{name} without {what}: {said}"
    assert refused


@pytest.mark.slow
@pytest.mark.parametrize("key", list(COMPUTED))
def test_readers_that_compute_say_what_is_missing(made, key):
    refused = 0
    for what, damage in list(damages(made, key)):
        if "/call/" in what or "/data/" in what or "replication" in what:  # which they do not read
            continue
        adata = made.copy()
        damage(adata)
        for name in COMPUTED[key].split():
            said = attempt(getattr(dn.get, name), adata, key=key)
            if said is not None:
                refused += 1
                assert REMEDY.search(said), f"{name} without {what}: {said}"
    assert refused


@pytest.mark.slow
@pytest.mark.parametrize("key", list(FIGURES))
def test_figures_say_what_is_missing(made, key):
    for place, name in [*recorded_slots(made.uns[key], key), ("uns", key)]:
        adata = made.copy()
        del getattr(adata, place)[name]
        for figure in FIGURES[key]:
            said = attempt(getattr(dn.pl, figure), adata, key=key)
            assert said is None or REMEDY.search(said), f"{figure} without {place}/{name}: {said}"


@pytest.mark.slow
@pytest.mark.parametrize("key", list(PANELS))
def test_panels_open_or_say_what_is_missing(made, key):
    for place, name in [*recorded_slots(made.uns[key], key), ("uns", key)]:
        adata = made.copy()
        del getattr(adata, place)[name]
        said = attempt(getattr(dn.panels, PANELS[key]), adata)
        assert said is None or REMEDY.search(said), f"panel without {place}/{name}: {said}"


@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning", "ignore::UserWarning")
@pytest.mark.parametrize("key", list(MADE))
@pytest.mark.parametrize("options", [{}, {"merge": "same", "uns_merge": "same"}, {"axis": "var", "uns_merge": "first"}])
def test_after_concat_readers_read_or_say_what_is_missing(made, key, options):
    other = made.copy()
    setattr(
        other,
        f"{'var' if 'axis' in options else 'obs'}_names",
        [f"x{i}" for i in range(16 if options.get("axis") else 80)],
    )
    both = anndata.concat([made, other], **options)
    for name in MADE[key].split():
        said = attempt(getattr(dn.get, name), both, key=key)
        assert said is None or REMEDY.search(said) or "adata.obs" in said, f"{name}: {said}"


@pytest.mark.parametrize("part", ["params", "arguments", "functions", "tool"])
def test_a_damaged_record_is_no_call(made, part):
    adata = made.copy()
    entry = adata.uns["scorecard"]
    del (entry if part == "params" else entry["call"])[part]
    with pytest.raises(KeyError, match=r"removed by hand|no call of dn.tl is recorded"):
        dn.get.params(adata, key="scorecard")
    assert "scorecard" in dn.get.results(adata).index or part == "tool"


class TestBackedViews:
    @pytest.fixture
    def backed(self, made, tmp_path):
        made.write_h5ad(tmp_path / "a.h5ad")
        return anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")

    def test_are_refused_before_the_computation(self, backed, monkeypatch):
        monkeypatch.setattr("diffnb.tl._scorecard.pull", lambda *_, **__: pytest.fail("the computation has begun"))
        with pytest.raises(ValueError, match=r"view of a backed AnnData.*adata.to_memory\(\)"):
            dn.tl.scorecard(backed[:60], "condition")
        with pytest.raises(ValueError, match=r"backed, of which copy=True cannot make a copy.*to_memory"):
            dn.tl.scorecard(backed, "condition", copy=True)

    def test_a_backed_adata_itself_takes_results(self, backed):
        dn.tl.scorecard(backed, "condition")
        assert "scorecard" in backed.varm

    def test_counts_of_a_file_are_not_thinned(self, backed):
        with pytest.raises(ValueError, match=r"adata is backed, and its X a file.*to_memory"):
            dn.pp.match_depth(backed, "condition")


def test_something_else_than_an_adata_is_refused(made):
    with pytest.raises(TypeError, match="adata must be an AnnData, got DataFrame"):
        dn.tl.scorecard(made.obs, "condition")
