import pytest

import diffnb as dn
from diffnb.panels import _choices as choices
from diffnb.panels._controls import (
    any_of,
    checkbox,
    describe,
    dropdown,
    integer_field,
    integer_or_auto,
    multi_select,
    number_field,
    on_user_change,
    parameters_of,
    set_options,
)


def test_a_dropdown_starts_with_the_first_option_and_none_is_an_option():
    control = dropdown("layer", [("X", None), ("counts", "counts")])
    assert control.value is None
    assert control.widget.label == "X"
    control.put("counts")
    assert control.value == "counts"
    control.put(None)
    assert control.value is None
    assert control.widget.label == "X"


@pytest.mark.parametrize(("text", "means"), [("auto", "auto"), ("", "auto"), (" 25 ", 25), ("ten", "ten"), ("-3", -3)])
def test_a_number_or_auto(text, means):
    control = integer_or_auto("n_neighbors")
    control.widget.value = text
    assert control.value == means


def test_all_of_several_is_none():
    control = multi_select("groups", ["A", "B", "C"])
    assert control.value is None
    control.put(["A", "C"])
    assert control.value == ["A", "C"]
    control.put(None)
    assert control.value is None


def test_none_of_several_is_none():
    control = any_of("covariates", ["batch", "age"])
    assert control.value is None
    control.put(["age"])
    assert control.value == ["age"]
    control.put(None)
    assert control.value is None


def test_numbers_and_switches():
    assert integer_field("n_permutations", 3, at_most=10).value == 3
    assert number_field("scale", 5.0).value == 5.0
    assert checkbox("local", True).value is True


def test_new_options_keep_the_selected_one_and_trigger_no_callback():
    called = []
    control = dropdown("group", ["A", "B"])
    on_user_change(control.widget, lambda: called.append(control.value))
    control.put("B")
    assert called == ["B"]
    set_options(control, ["B", "C"])
    assert control.value == "B"
    set_options(control, ["D", "E"], "E")
    assert control.value == "E"
    set_options(control, [])
    assert control.value is None
    assert called == ["B"]


@pytest.mark.parametrize("name", ["disc", "sparda", "scorecard"])
def test_the_docs_of_every_argument_are_found(name):
    import inspect

    function = getattr(dn.tl, name)
    assert set(parameters_of(function)) == set(inspect.signature(function).parameters)


def test_tooltips_are_the_descriptions_of_the_arguments():
    control = integer_field("n_permutations", 0)
    describe([control, integer_field("nonsense", 0)], [dn.tl.disc])
    assert control.widget.tooltip.startswith("Permutations for p-values")


PANELS = ["scorecard", "disc", "sparda", "dufs", "informed", "compare"]


@pytest.mark.parametrize("name", PANELS)
def test_no_control_of_any_panel_lacks_a_tooltip_and_those_of_arguments_are_the_docs(adata, name):
    panel = getattr(dn.panels, name)(adata)
    everywhere = [*panel.controls.values(), *panel.tab_controls()]
    assert [control.name for control in everywhere if not control.widget.tooltip] == []
    docs = parameters_of(getattr(dn.tl, panel.tool.rpartition(".")[2], dn.get.compare))
    described = [control for control in panel.controls.values() if control.name in docs]
    assert all(control.widget.tooltip == docs[control.name] for control in described)
    assert {str(control.widget.description) for control in everywhere} <= set(panel.status.tooltips)


def test_no_control_or_button_of_explore_lacks_a_tooltip(adata):
    adata.obsm["X_umap"] = adata.obsm["X_pca"] if "X_pca" in adata.obsm else adata.X[:, :2]
    panel = dn.panels.explore(adata)
    everywhere = [*panel.controls.values(), *panel.tab_controls()]
    assert [control.name for control in everywhere if not control.widget.tooltip] == []
    view = panel.observations
    buttons = [*panel._buttons.values(), panel.pca_button, panel.report_button, view.save_button, view.column]
    assert [button.description for button in buttons if not button.tooltip] == []


@pytest.mark.parametrize("name", PANELS)
def test_few_settings_are_shown_first_and_the_others_are_folded(adata, name):
    panel = getattr(dn.panels, name)(adata)
    assert 3 <= len(panel.first) <= 6
    assert set(panel.first) <= set(panel.controls)
    assert panel.advanced.get_title(0) == "Advanced: all as by default"
    assert panel.advanced.selected_index is None
    assert len(panel.advanced.children[0].children) == len(panel.controls) - len(panel.first)


def test_folded_settings_that_were_changed_are_named_with_their_default(adata):
    panel = dn.panels.disc(adata)
    panel.set(n_components=4, null="labels")
    title = panel.advanced.get_title(0)
    assert "vectors 4 (default 10)" in title
    assert "null hypothesis no difference at all (default as the question asks)" in title


@pytest.mark.parametrize("name", PANELS)
def test_labels_are_words_of_the_field(adata, name):
    panel = getattr(dn.panels, name)(adata)
    words = " ".join(panel.status.tooltips).lower()
    assert not any(word in words for word in ("certificate", "significance level", "first found", "tested for"))


def test_the_likeliest_column_is_chosen(adata):
    assert choices.groupby(adata, {}).value == "condition"
    assert choices.groupby(adata, {"groupby": "donor"}).value == "donor"


def test_a_column_that_is_not_there_is_refused(adata):
    with pytest.raises(ValueError, match="Did you mean 'condition'"):
        choices.groupby(adata, {"groupby": "conditions"})


def test_data_without_conditions_is_refused(adata):
    adata.obs = adata.obs[["age"]]
    with pytest.raises(ValueError, match="no column that could hold conditions"):
        choices.groupby(adata, {})


def test_conditions_follow_the_column(adata):
    by = choices.groupby(adata, {})
    groups, level = choices.groups(adata, by), choices.level("group", adata, by, default="any")
    by.put("donor")
    assert groups.widget.options == tuple(f"d{i}" for i in range(6))
    assert groups.value is None
    assert [o[0] for o in level.widget.options] == ["any", *(f"d{i}" for i in range(6))]


def test_a_measurement_has_no_levels(adata):
    assert choices.levels_of(adata, "age") == []


def test_layers_samples_and_masks_are_those_of_the_data(adata):
    assert [o[0] for o in choices.layer(adata).widget.options] == ["X", "double"]
    assert choices.covariates(adata).widget.options == ("condition", "donor", "subject", "age")
    assert {"all observations", "donor"} <= {o[0] for o in choices.permute_within(adata).widget.options}
    by = choices.groupby(adata, {})
    assert [o[0] for o in choices.sample_key(adata, by, {}).widget.options] == ["none", "subject", "donor"]
    assert [o[0] for o in choices.mask_var(adata).widget.options] == ["all", "chosen"]


def test_likely_samples_are_selected_unless_others_are_given(adata):
    by = choices.groupby(adata, {})
    assert choices.sample_key(adata, by, {}).value == "subject", "it holds every condition"
    assert choices.sample_key(adata, by, {"sample_key": "donor"}).value == "donor"
    assert choices.sample_key(adata, by, {"sample_key": None}).value is None
    with pytest.raises(ValueError, match=r"sample_key=.doner. is not a column of adata\.obs"):
        choices.sample_key(adata, by, {"sample_key": "doner"})


def test_samples_follow_the_conditions(adata):
    by = choices.groupby(adata, {})
    samples = choices.sample_key(adata, by, {})
    by.put("donor")
    assert samples.value == "subject" or samples.value is None
    assert "donor" not in samples.widget.options


def test_without_likely_samples_none_is_selected(adata):
    adata.obs = adata.obs.rename(columns={"subject": "cell_type", "donor": "batch_type"})
    by = choices.groupby(adata, {"groupby": "condition"})
    assert choices.sample_key(adata, by, {}).value is None


def test_without_x_the_first_layer_is_the_default(adata):
    adata.X = None
    assert choices.layer(adata).value == "double"


def test_covariates_and_strata_are_in_the_calls_of_panels(adata):
    panel = dn.panels.disc(adata, "condition")
    panel.set(covariates=["age"], permute_within="subject", scorecard=True)
    lines = [call.line() for call in panel.calls()]
    assert 'covariates=["age"], permute_within="subject"' in lines[0]
    assert 'covariates=["age"]' in lines[-1]
    panel = dn.panels.sparda(adata, "condition")
    panel.set(covariates=["age"], permute_within="subject")
    assert 'covariates=["age"]' in panel.tool_call().line()
    assert 'permute_within="subject"' in panel.tool_call().line()
    panel = dn.panels.informed(adata)
    panel.set(covariates=["age", "donor"])
    assert 'covariates=["age", "donor"]' in panel.tool_call().line()
