"""Arguments that once ended in an error of another package, ran for minutes, or were taken for something else."""

import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn
from diffnb.core.runtime import budget

#: tools that compare conditions, and those that do not
OF_CONDITIONS = (dn.tl.scorecard, dn.tl.disc, dn.tl.pda, dn.tl.sparda, dn.tl.feature_diffmap, dn.tl.feature_change)
OF_ALL = (dn.tl.dufs, dn.tl.laplacian_score, dn.tl.diverse_features, dn.tl.informed_distance)
WITH_JOBS = OF_CONDITIONS[:4]
WITH_SEED = (*OF_CONDITIONS, dn.tl.dufs, dn.tl.informed_distance)


def call(tool, adata, **options):
    return tool(adata, **options) if tool in OF_ALL else tool(adata, "condition", **options)


def named(function):
    return function.__name__


@pytest.fixture
def small(rng):
    return labelled(rng, np.repeat(["A", "B"], 15))


def labelled(rng, labels):
    n = len(labels)
    x = rng.normal(size=(n, 6))
    obs = pd.DataFrame({"condition": labels}, index=[f"o{i}" for i in range(n)])
    return anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"f{j}" for j in range(6)]))


@pytest.mark.parametrize("tool", WITH_JOBS, ids=named)
@pytest.mark.parametrize(
    ("n_jobs", "error", "words"),
    [
        (0, ValueError, "n_jobs=0 would do nothing; use 1, or -1 for all cores"),
        (10**6, ValueError, "n_jobs=1000000 must be between -1024 and 1024"),
        (1.5, TypeError, r"n_jobs=1\.5 must be an integer"),
        ("two", TypeError, "n_jobs='two' must be an integer"),
        (True, TypeError, "n_jobs=True must be an integer"),
    ],
)
def test_numbers_of_threads_are_checked(small, tool, n_jobs, error, words):
    with pytest.raises(error, match=words):
        call(tool, small, n_jobs=n_jobs)


@pytest.mark.parametrize("tool", WITH_SEED, ids=named)
@pytest.mark.parametrize(
    ("seed", "error", "words"),
    [
        (2**40, ValueError, "random_state=1099511627776 must be between 0 and 4294967295"),
        (-1, ValueError, "random_state=-1 must be between"),
        (1.5, TypeError, r"random_state=1\.5 must be an integer"),
        (np.random.default_rng(0), TypeError, "random_state must be an integer, got a Generator"),
        (np.random.RandomState(0), TypeError, "got a RandomState"),
        (None, TypeError, "got None: the same call has to give the same answer"),
    ],
)
def test_seeds_are_integers_that_can_be_kept(small, tool, seed, error, words):
    with pytest.raises(error, match=words):
        call(tool, small, random_state=seed)


@pytest.mark.parametrize("tool", [*OF_CONDITIONS, *OF_ALL], ids=named)
def test_texts_are_no_booleans(small, tool):
    with pytest.raises(TypeError, match="copy='no' must be True or False"):
        call(tool, small, copy="no")


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        (dn.tl.disc, "density_normalize"),
        (dn.tl.disc, "project_trivial"),
        (dn.tl.sparda, "certificate"),
        (dn.tl.dufs, "leave_one_out"),
        (dn.tl.dufs, "early_stopping"),
        (dn.tl.dufs, "adapt_scale"),
        (dn.tl.informed_distance, "informed"),
        (dn.tl.informed_distance, "local"),
        (dn.tl.informed_distance, "full"),
    ],
)
def test_options_that_are_on_or_off_take_booleans_only(small, tool, name):
    with pytest.raises(TypeError, match=f"{name}=3 must be True or False, got int"):
        call(tool, small, **{name: 3})


@pytest.mark.parametrize("tool", [dn.tl.disc, dn.tl.pda, dn.tl.sparda], ids=named)
def test_a_billion_permutations_are_refused_before_any_work(small, tool):
    with pytest.raises(ValueError, match=r"n_permutations=1000000000 is more than 1,000,000.*999 are enough"):
        call(tool, small, n_permutations=10**9)


def test_more_components_than_there_are_warn(small):
    with pytest.warns(UserWarning, match="n_components=1000000000: 6 features have 5 differential vectors at most"):
        dn.tl.disc(small, "condition", n_components=10**9)
    with pytest.warns(UserWarning, match="n_eigenvectors=1000000000: the graph of 6 features has 5"):
        dn.tl.feature_change(small, "condition", n_eigenvectors=10**9)


class TestLabels:
    @pytest.mark.parametrize("tool", [dn.tl.pda, dn.tl.sparda], ids=named)
    def test_a_condition_may_be_called_rest(self, rng, tool):
        adata = labelled(rng, np.repeat(["n-back", "rest", "motor"], 12))
        options = {"n_features": 3} if tool is dn.tl.sparda else {}
        tool(adata, "condition", **options)
        found = dn.get.sparda_summary(adata, key=tool.__name__)
        assert found["reference"].unique().tolist() == ["all rest"]
        tool(adata, "condition", group="motor", reference="rest", **options)
        assert dn.get.sparda_summary(adata, key=tool.__name__)["reference"].tolist() == ["rest"]

    @pytest.mark.parametrize("tool", OF_CONDITIONS, ids=named)
    def test_labels_that_read_alike_are_refused(self, rng, tool):
        labels = np.array([1, "1", 2] * 10, dtype=object)
        labels[::3] = 1
        with pytest.raises(ValueError, match=r"labels that read alike, 1 and '1'.*astype\(str\)"):
            call(tool, labelled(rng, labels))

    @pytest.mark.parametrize("tool", OF_CONDITIONS, ids=named)
    @pytest.mark.parametrize("label", [["A"], {"A"}, ("A", "b"), 1j], ids=str)
    def test_lists_and_complex_numbers_are_no_labels(self, rng, tool, label):
        labels = pd.Series([label, "B"] * 15, index=[f"o{i}" for i in range(30)])
        adata = labelled(rng, np.repeat(["A", "B"], 15))
        adata.obs["condition"] = labels
        with pytest.raises(TypeError, match=f"values of type {type(label).__name__}, which cannot be labels"):
            call(tool, adata)

    @pytest.mark.parametrize("tool", OF_CONDITIONS, ids=named)
    def test_a_column_without_any_label_is_refused(self, rng, tool):
        with pytest.raises(ValueError, match="groupby='condition' is missing for all 30 observations"):
            call(tool, labelled(rng, np.full(30, None)))

    @pytest.mark.parametrize("tool", OF_CONDITIONS, ids=named)
    def test_ten_thousand_conditions_are_refused_at_once(self, rng, tool):
        adata = labelled(rng, [f"c{i}" for i in range(10_000) for _ in range(3)])
        with pytest.raises(ValueError, match=r"10,000 conditions; at most 200.*groups=\[…\]"):
            call(tool, adata)

    @pytest.mark.parametrize("groups", [3, {"A", "B"}])
    def test_groups_are_a_list(self, small, groups):
        with pytest.raises(TypeError, match=r"groups=.*list"):
            dn.tl.scorecard(small, "condition", groups=groups)

    @pytest.mark.parametrize("layer", [3, ["a"]])
    def test_a_layer_is_named_by_a_text(self, small, layer):
        with pytest.raises(ValueError, match=r"layer=.* is not a layer of adata"):
            dn.tl.scorecard(small, "condition", layer=layer)


class TestMemory:
    @pytest.fixture(autouse=True)
    def tiny_machine(self, monkeypatch):
        monkeypatch.setattr(budget, "machine_bytes", lambda: 200)

    @pytest.mark.parametrize("tool", [dn.tl.disc, dn.tl.feature_diffmap, dn.tl.feature_change], ids=named)
    def test_a_dense_graph_that_does_not_fit_names_the_sparse_one(self, small, tool):
        with pytest.raises(MemoryError, match=r"graph='dense' of 6 features needs about .* Use graph='knn'"):
            call(tool, small, graph="dense")

    def test_all_distances_that_do_not_fit_name_the_neighbours(self, small):
        with pytest.raises(MemoryError, match=r"full=True for 30 observations needs about .* Use full=False"):
            dn.tl.informed_distance(small, full=True)

    def test_a_batch_that_does_not_fit_names_a_smaller_one(self, small):
        with pytest.raises(MemoryError, match=r"batch_size=30.* Use smaller batches"):
            dn.tl.dufs(small, batch_size=30)
