"""What holds for the whole package: signatures, docstrings, light import."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import diffnb as dn

SUBPACKAGES = {
    "pp": dn.pp,
    "tl": dn.tl,
    "get": dn.get,
    "pl": dn.pl,
    "datasets": dn.datasets,
    "panels": dn.panels,
    "report": dn.report,
}
FUNCTIONS = {
    f"{subpackage}.{name}": getattr(module, name)
    for subpackage, module in SUBPACKAGES.items()
    for name in module.__all__
}
#: estimators, and the tool that each is a face of
ESTIMATORS = {"DUFS": "dufs", "SPARDA": "sparda", "DiSC": "disc", "InformedDistance": "informed_distance"}


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_at_most_two_arguments_are_positional(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= 2


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_every_argument_is_documented_and_no_other(name):
    function = FUNCTIONS[name]
    doc = inspect.getdoc(function) or ""
    names = list(inspect.signature(function).parameters)
    if names:
        section = doc.split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
        described = [part.strip() for line in re.findall(r"^(\w[\w, ]*)$", section, re.M) for part in line.split(",")]
        assert described == names
    assert ">>> " in doc, "no example"
    assert "Returns\n-------" in doc


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n.startswith("tl.")])
def test_tools_take_adata_first_and_share_names(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert next(iter(parameters)) == {"tl.preservation": "reference", "tl.project": "query"}.get(name, "adata")
    if "groupby" in parameters and name != "tl.preservation":  # which takes two data sets first
        assert list(parameters)[1] == "groupby"
    assert not set(parameters) & {"seed", "k", "n_pcs", "inplace", "key", "n_perm"} - {"key"}


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n.split(".")[0] in ("tl", "get", "pl", "panels", "report")])
def test_all_but_the_first_arguments_are_annotated(name):
    signature = inspect.signature(FUNCTIONS[name])
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n.startswith("panels.")])
def test_panels_take_adata_first_and_conditions_second(name):
    parameters = list(inspect.signature(FUNCTIONS[name]).parameters)
    assert parameters[0] == "adata"
    if "groupby" in parameters:
        assert parameters[1] == "groupby"


@pytest.mark.parametrize("path", sorted(Path(dn.__file__).parent.glob("panels/_*.py")), ids=lambda p: p.stem)
def test_panels_hold_no_method_of_their_own(path):
    imported = [line for line in path.read_text().splitlines() if re.match(r"\s*(from|import) ", line)]
    allowed = ("core.typing", "core.runtime.progress", "core.runtime.threads", "core.scorecard")
    reaching = [line for line in imported if "..core" in line and not any(name in line for name in allowed)]
    assert reaching == [], "panels call tl, read get and draw pl"
    assert not [line for line in imported if re.search(r"\b(scipy|sklearn|joblib)\b", line)]


def test_every_estimator_has_a_tool():
    assert set(ESTIMATORS) == set(dn.sklearn.__all__)


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_estimators_take_the_arguments_of_the_tool_in_its_order_by_keyword(name):
    ours = inspect.signature(getattr(dn.sklearn, name)).parameters
    theirs = inspect.signature(getattr(dn.tl, ESTIMATORS[name])).parameters
    assert list(ours) == [parameter for parameter in theirs if parameter in ours]
    assert {parameter: p.default for parameter, p in ours.items()} == {p: theirs[p].default for p in ours}
    assert {p.kind for p in ours.values()} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_every_argument_and_attribute_of_an_estimator_is_documented(name, rng):
    estimator = getattr(dn.sklearn, name)
    doc = inspect.getdoc(estimator)
    section, attributes = doc.split("Parameters\n----------\n")[1].split("\n\nAttributes\n----------\n")
    assert re.findall(r"^(\w+)$", section, re.M) == list(inspect.signature(estimator).parameters)
    assert f":func:`diffnb.tl.{ESTIMATORS[name]}`" in doc
    assert ">>> " in doc, "no example"
    fitted = estimator().fit(rng.normal(size=(12, 6)), np.repeat(["a", "b"], 6))
    named = ", ".join(re.findall(r"^(\w.*) : ", attributes, re.M)).split(", ")
    found = {attribute for attribute in vars(fitted) if attribute.endswith("_")}
    assert found - {"n_features_in_"} == set(named)


def modules_after(line):
    code = f"{line}; import sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_is_light():
    heavy = {"scanpy", "matplotlib", "sklearn", "dask", "nilearn", "jupyterlab", "ipywidgets", "anndata", "tqdm"}
    assert not modules_after("import diffnb") & heavy


@pytest.mark.slow
def test_tools_need_neither_plots_nor_scanpy():
    loaded = modules_after("import diffnb as dn; dn.tl.disc; dn.get.disc")
    assert not loaded & {"scanpy", "matplotlib.pyplot", "nilearn", "jupyterlab", "ipywidgets"}


def test_the_numerics_know_nothing_of_anndata_or_plots():
    core = [f"import diffnb.core.{m}" for m in ("disc", "sparda", "scorecard", "dufs", "mahalanobis")]
    assert not modules_after("; ".join(core)) & {"anndata", "matplotlib", "ipywidgets", "scanpy"}


@pytest.mark.slow
def test_estimators_need_neither_anndata_nor_plots():
    loaded = modules_after("import diffnb as dn; dn.sklearn.DiSC")
    assert not loaded & {"anndata", "scanpy", "matplotlib", "ipywidgets"}
    assert "sklearn.base" in loaded


@pytest.mark.slow
def test_panels_load_on_first_use_only():
    assert "ipywidgets" not in modules_after("import diffnb as dn; dn.pl.disc_vectors")
    assert "ipywidgets" in modules_after("import diffnb as dn; dn.panels.disc")


def test_subpackages_are_listed_and_unknown_ones_refused():
    assert {"pp", "tl", "get", "pl", "datasets", "panels", "report", "sklearn"} <= set(dir(dn))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = dn.nonsense
