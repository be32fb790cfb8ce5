"""The same idea has the same name, the same default, the same text and the same "choose for me" in every tool."""

import inspect
import typing
from collections import defaultdict

import pytest

import diffnb as dn
from diffnb._docs import parameters
from diffnb.tl._docs import SHARED

TOOLS = {name: getattr(dn.tl, name) for name in dn.tl.__all__}
TAKEN_BY = defaultdict(list)
for tool, function in TOOLS.items():
    for parameter in inspect.signature(function).parameters:
        TAKEN_BY[parameter].append(tool)
SEVERAL = sorted(parameter for parameter, tools in TAKEN_BY.items() if len(tools) > 1)

#: parameters whose default differs between tools, and why
DEFAULT_DIFFERS = {
    "groupby": "survival can make the groups itself, from the informed metric",
    "graph": "DiSC chooses by the scale of the features; the maps that it is compared with use nearest neighbours",
    "key": "the key of the tool whose results are read",
    "key_added": "the name of the tool",
    "n_components": "the metric chooses by what noise has; vectors of DiSC and diffusion maps are read one by one",
    "n_eigenvectors": "DiSC projects off what stands out of the spectrum; a distance uses a fixed number",
    "n_neighbors": "of features in the graph of DiSC, by their number; of observations elsewhere, as each paper has it",
    "n_steps": "steps of training in DUFS, steps of a random walk elsewhere",
    "n_permutations": "random sets of features cost little; permuted labels need a fit each, and none by default",
    "penalty": "on open gates in DUFS, where a loss without it exists; on the relaxed matrix of PDA, where 0 is none",
    "reference": "a condition or, of tools that take two, a data set",
    "solver": "of two different problems",
    "standardize": "DiSC of the paper works on features as they are; the other methods compare features of one scale",
}
#: parameters that mean something else in some tools, and why they have the same name
TEXT_DIFFERS = {
    "groupby": "the groups that survival compares need not be conditions",
    "n_clusters": "groups per condition in DiSC, clusters of all features in the metric: both of features",
    "n_components": "vectors of a condition, or directions of a metric",
    "n_eigenvectors": "to project off in DiSC, to compute a distance from elsewhere",
    "n_neighbors": "what the neighbour is used for, and whether an observation counts as its own, follows the papers",
    "n_steps": "of training in DUFS, of a random walk elsewhere",
    "penalty": "on open gates in DUFS, on the entries of a matrix in PDA: both for fewer features",
    "solver": "of two different problems",
    "reference": "a condition or, of tools that take two, a data set",
    "adata": "meta-features need a call of DiSC first",
}
#: `None` means that there is none: no layer, no mask, nothing done
NONE_MEANS_NONE = {
    "counts": "no counts: correlations of adata.X",
    "groupby": "no column: the tool makes the groups",
    "groups": "no choice: all categories",
    "layer": "no layer: adata.X",
    "mask_var": "no mask: all features",
    "max_size": "no limit",
    "n_jobs": "as joblib has it",
    "penalty": "no penalty: the parameter-free loss",
    "sample_key": "no samples: observations are independent",
    "covariates": "nothing is taken out",
    "permute_within": "labels are permuted among all observations",
    "standardize": "no standardisation",
    "use_rep": "no representation: adata.X",
}
#: chosen where "auto" is asked for, and another default
AUTO_ON_REQUEST = {"cluster_weight": "the paper's metric weighs by clusters alone; the choice costs several fits"}
#: what once meant "choose", and the word that now does
WERE_NONE = {
    "dufs": {"n_features": "auto", "batch_size": "auto"},
    "informed_distance": {"n_components": "auto", "full": "auto"},
    "pda": {"group": "auto", "reference": "auto"},
    "scorecard": {"reference": "auto"},
    "sparda": {"group": "auto", "reference": "auto", "n_features": "all"},
}


def default(tool, parameter):
    return inspect.signature(TOOLS[tool]).parameters[parameter].default


def text(tool, parameter):
    section = inspect.getdoc(TOOLS[tool]).split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
    return " ".join(parameters(section)[parameter].split())


def hints(tool, parameter):
    """All types that an annotation names, and the values of its literals."""
    found, left = set(), [typing.get_type_hints(TOOLS[tool])[parameter]]
    while left:
        hint = left.pop()
        if typing.get_origin(hint) is typing.Literal:
            found |= set(typing.get_args(hint))
        else:  # the arguments of a function are a list
            found |= set() if isinstance(hint, list) else {hint}
            left += hint if isinstance(hint, list) else typing.get_args(hint)
    return found


@pytest.mark.parametrize("parameter", SEVERAL)
def test_a_parameter_has_one_default(parameter):
    defaults = {repr(default(tool, parameter)) for tool in TAKEN_BY[parameter]}
    assert (len(defaults) > 1) == (parameter in DEFAULT_DIFFERS), defaults


@pytest.mark.parametrize("parameter", SEVERAL)
def test_a_parameter_has_one_text_that_tools_may_add_to(parameter):
    texts = {tool: text(tool, parameter) for tool in TAKEN_BY[parameter]}
    lead = SHARED.get(parameter, next(iter(texts.values())))
    differ = [tool for tool, own in texts.items() if not own.startswith(lead)]
    assert bool(differ) == (parameter in TEXT_DIFFERS), differ


@pytest.mark.parametrize("parameter", sorted(SHARED))
def test_a_shared_text_is_used(parameter):
    assert any(text(tool, parameter).startswith(SHARED[parameter]) for tool in TAKEN_BY[parameter])


@pytest.mark.parametrize("tool", list(TOOLS))
def test_none_never_means_choose(tool):
    takes_none = {name for name in inspect.signature(TOOLS[tool]).parameters if type(None) in hints(tool, name)}
    assert takes_none <= set(NONE_MEANS_NONE)


@pytest.mark.parametrize("tool", list(TOOLS))
def test_auto_is_the_default_where_it_is_taken(tool):
    for name in inspect.signature(TOOLS[tool]).parameters:
        if name not in AUTO_ON_REQUEST and ("auto" in hints(tool, name) or default(tool, name) == "auto"):
            assert default(tool, name) == "auto", name
            assert '`"auto"`' in text(tool, name), name


@pytest.mark.parametrize("tool", list(TOOLS))
def test_results_are_returned_in_a_copy_on_request(tool):
    signature = inspect.signature(TOOLS[tool])
    assert default(tool, "copy") is False
    assert signature.return_annotation == "AnnData | None"
    assert list(signature.parameters)[-1] == "copy"


def test_exceptions_are_those_that_there_are():
    assert set(DEFAULT_DIFFERS) | set(TEXT_DIFFERS) <= set(SEVERAL)
    assert set(NONE_MEANS_NONE) <= set(TAKEN_BY)


@pytest.mark.parametrize(("tool", "name"), [(tool, name) for tool, names in WERE_NONE.items() for name in names])
def test_none_still_chooses_with_a_warning_that_names_the_word(adata, tool, name):
    word = WERE_NONE[tool][name]
    options = {"dufs": {"n_steps": 3}, "informed_distance": {"n_clusters": 4}, "sparda": {"n_features": 3}}.get(
        tool, {}
    )
    options |= {} if tool in ("dufs", "informed_distance") else {"groupby": "condition"}
    with pytest.warns(DeprecationWarning, match=f"{name}=None is deprecated; use {name}='{word}'") as caught:
        getattr(dn.tl, tool)(adata, **(options | {name: None}))
    assert caught[0].filename == __file__
    assert dn.get.params(adata, key=default(tool, "key_added"))[name] == word
