"""What the parameters that several tools share mean, once."""

from __future__ import annotations

from .._docs import documented

SHARED = {
    "adata": "Annotated data, observations × features.",
    "groupby": "Column of `adata.obs` with the conditions.",
    "groups": "Conditions to compare; all by default.",
    "group": (
        'Condition to compare. `"auto"`: the second of two conditions in the order of categories; of several, every one'
        " in turn."
    ),
    "reference": "Condition to compare with.",
    "sample_key": "Column of `adata.obs` with the sample (donor, subject) of each observation.",
    "covariates": (
        "Columns of `adata.obs` whose effects are taken out first: numbers linearly, categories as stratum means, each"
        " with its degrees of freedom."
    ),
    "permute_within": (
        "Categorical column of `adata.obs`, such as a batch: labels are permuted only among observations (or samples)"
        " of the same category."
    ),
    "layer": "Layer to use instead of `adata.X`.",
    "counts": (
        'Layer with raw counts of the same observations and features, or `"X"`; `None` for none. Correlations are then'
        " those of the expression behind the counts (x ~ Poisson(s z), with s the total counts of an observation), so"
        " that neither counting noise nor sequencing depth changes them."
    ),
    "use_rep": "Key of `adata.obsm` to use instead of `adata.X`.",
    "mask_var": "Boolean column of `adata.var`, or array: the features to use.",
    "metric": (
        'Distance between features. `"euclidean"` depends on levels as well as relations; `"correlation"` on relations'
        " only."
    ),
    "standardize": '`None`: features as they are; `"global"`: each feature over all observations.',
    "graph": '`"dense"`, or `"knn"`: each feature keeps its 2 × `n_neighbors` nearest.',
    "neighbors": (
        'How nearest neighbours are found: `"exact"`, `"approximate"` (by nearest-neighbour descent, which misses some'
        ' neighbours, mostly of features in no group; distances of those found are exact), or `"auto"`: exact below'
        " 200,000 features. Up to 2,000 features, and in a dense graph, always exact."
    ),
    "n_features": "Number of features to select.",
    "n_projections": "Directions to find, each after projecting the earlier ones out of the data.",
    "divergence": '`"wasserstein2"` (squared), `"wasserstein1"` or `"kolmogorov"`.',
    "certificate": (
        "Also compute an upper bound of the objective over all directions, which tells how far from the best the"
        ' direction may be; only for `divergence="wasserstein2"`.'
    ),
    "n_permutations": "Permutations for p-values; 0 for none.",
    "query": "Annotated data with other observations of the same features, or of some of them.",
    "random_state": "Seed. The same seed gives the same answer.",
    "n_jobs": (
        "Threads that work concurrently. `None`: one, or as many as an active `joblib.parallel_config` says;"
        " −1: all cores."
    ),
    "key": "The `key_added` of the call whose results are used.",
    "key_added": "Name under which results are stored; they replace those of an earlier call.",
    "overwrite": (
        "Replace slots, too, that hold what no call of this package has written; by default they are refused."
    ),
    "copy": "Work on a copy and return it.",
}

documented_tool = documented(SHARED)
