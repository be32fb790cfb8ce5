"""`panels.disc`: groups of features that are connected in one condition only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
from anndata import AnnData

from .. import get
from .._calls import Call
from ..get._annotations import embedding_names, feature_kind
from ..get._disc_evidence import answered_question, question_of
from ..get._presence import has_meta_features, meta_features_slot
from ..pl._observations import BASES
from ..pl._read import group_colors
from . import _choices as choices
from ._controls import (
    Control,
    also,
    dropdown,
    integer_field,
    integer_or_auto,
    on_user_change,
    row_of,
    set_options,
)
from ._docs import documented_panel
from ._enrichment import Enrichment
from ._feature_panel import MethodPanel
from ._features import RESULT, VAR
from ._linked import LinkedViews
from ._notes import Notes
from ._replication import has_replication, replication_line

#: the tab of the linked views
LINKED = "Linked views"
#: what is asked, in words
ASKED = {
    "relations": "Which groups of features are connected in one condition only?",
    "any difference": "Which groups of features differ between conditions, in levels, spreads or relations?",
}
#: vectors that are columns of the table; the map has all of them
MAX_LISTED_VECTORS = 2
#: figure that shows features at their positions, by the kind of features
LAYOUT_FIGURES = {"pixels": "feature_image", "parcels": "feature_brain"}


class DiscPanel(MethodPanel):
    """DiSC with its significance, features, groups and observations."""

    title = "DiSC"
    question = ASKED["relations"]
    tool = "dn.tl.disc"
    first = ("question", "groupby", "groups", "sample_key", "covariates")
    pictured = ("Significance", "Features: figure", "Observations")
    arguments = (
        "question",
        "groups",
        "sample_key",
        "covariates",
        "layer",
        "counts",
        "mask_var",
        "min_obs",
        "metric",
        "standardize",
        "n_neighbors",
        "n_eigenvectors",
        "n_components",
        "n_clusters",
        "n_permutations",
        "null",
        "permute_within",
        "n_bootstraps",
        "random_state",
    )

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make a control for each argument that users vary."""
        by = choices.groupby(self.adata, given)
        samples = choices.sample_key(self.adata, by, given)
        most = max(1, self.adata.n_vars - 1)
        nulls = [
            ("as the question asks", "auto"),
            ("the same relations between features", "connectivity"),
            ("no difference at all", "labels"),
        ]
        return [
            self._question_control(),
            by,
            choices.groups(self.adata, by),
            samples,
            choices.covariates(self.adata, given, by, samples),
            choices.layer(self.adata),
            choices.counts(self.adata),
            choices.mask_var(self.adata),
            dropdown("metric", ["euclidean", "correlation", "cosine"]),
            dropdown("standardize", choices.STANDARDIZE),
            integer_or_auto("min_obs", label="minimum of observations"),
            integer_or_auto("n_neighbors"),
            integer_or_auto("n_eigenvectors"),
            integer_field("n_components", min(10, most), at_least=1, at_most=most, label="vectors"),
            integer_or_auto("n_clusters"),
            integer_field("n_permutations", 0),
            dropdown("null", nulls, label="null hypothesis"),
            choices.permute_within(self.adata),
            integer_field("n_bootstraps", 0, label="bootstraps"),
            integer_field("random_state", 0, label="seed"),
            also("dn.tl.scorecard", label="also run the scorecard"),
        ]

    def _question_control(self) -> Control:
        control = choices.question()
        on_user_change(control.widget, self._ask)
        return control

    def _ask(self) -> None:
        """Print the question that the results on screen answer, or that Run would."""
        if self.has_results():
            asked = answered_question(self.adata, self.key)
        else:
            asked = question_of(self.settings(*self.arguments))
        self.question = ASKED[asked]
        self.write_head()

    def _restore(self, given: Mapping[str, Any]) -> None:
        super()._restore(given)
        if self.has_results() and has_meta_features(self.adata, self.key) and self.key in self._calls_by_key:
            call = self._meta_features_call()
            self._calls_by_key[call.key] = call

    def _meta_features_call(self) -> Call:
        return Call("dn.tl.meta_features", (), {"key": self.key})

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs and the controls within them."""
        self.evidence = Notes()
        self.enrichment = Enrichment(self.adata, self.key, self.picture("Enrichment"), self._add_enrichment)
        self.linked = LinkedViews(self.adata, self.key, self._on_view)
        self._linked_stale = True
        self.group = dropdown("group", [], label="condition")
        self.basis = dropdown("basis", [], label="embedding")
        self.component = dropdown("component", [1], label="vector")
        self.replication = widgets.HTML()
        on_user_change(self.group.widget, self._show_group)
        for control in (self.basis, self.component):
            on_user_change(control.widget, lambda: self.redraw(*self.pictures))
        layouts = [self.picture("Observations: features")] if self._layout_figure() else []
        return {
            "Significance": widgets.VBox([self.evidence, self.picture("Significance"), self.replication]),
            LINKED: self.linked.tab(),
            "Features": self.features.features_tab(self.group.widget),
            "Groups": self.features.table_tab(row_of(self.group), self.picture("Groups")),
            "Enrichment": self.enrichment.tab(),
            "Observations": widgets.VBox(
                [row_of(self.group, self.basis, self.component), self.picture("Observations"), *layouts]
            ),
        }

    def shown_keys(self) -> list[str]:
        """Return the keys of the results on screen; the settings of the first are restored last."""
        return ["scorecard", self.key]

    def _add_enrichment(self, call: Call) -> None:
        """Show an enrichment that was made in its tab, and its line."""
        self._calls_by_key[call.key] = call
        self.redraw("Enrichment")

    def calls(self) -> list[Call]:
        """Run DiSC, its meta-features and, if selected, the scorecard."""
        calls = [self.tool_call(), self._meta_features_call()]
        if self.controls["scorecard"].value:
            by = (self.controls["groupby"].value,)
            shared = self.settings("groups", "sample_key", "covariates", "layer", "counts", "mask_var")
            calls.append(Call("dn.tl.scorecard", by, shared))
        return calls

    def read(self) -> list[Call]:
        """Read σ, the evidence for groups, and the table of the selected condition."""
        if not self.has_results():
            return []
        tables = {"disc_significance": "significance", "disc_evidence": "evidence"}
        if has_replication(self.adata, self.key):
            tables["disc_replication"] = "replication"
        return [*(self.get_call(name, result) for name, result in tables.items()), self.table_call()]

    def table_call(self) -> Call:
        """Read the features of the selected condition."""
        return self.get_call("disc_features", "features", group=self.group.value)

    def drawn(self) -> dict[str, Call]:
        """Draw σ, the groups, the map as a figure, and observations."""
        if not self.has_results():
            return {}
        group, component = self.group.value, self.component.value or 1
        calls = {
            "Significance": self.pl_call("disc_significance"),
            "Groups": self.pl_call("disc_groups", group=group),
            "Features: figure": self.pl_call("disc_embedding", group=group, **self._plane()),
        }
        if self.enrichment.drawn is not None:
            calls["Enrichment"] = self.enrichment.drawn
        if has_meta_features(self.adata, self.key):
            about = {"group": group, "component": component, "basis": self.basis.value}
            calls["Observations"] = self.pl_call("disc_observations", **about)
        if self._layout_figure():
            call = self.pl_call(self._layout_figure(), f"vector_{component}", group=group)
            calls["Observations: features"] = call
        return calls

    def _layout_figure(self) -> str:
        """Name of the figure that shows features at their positions, empty where they have none."""
        return LAYOUT_FIGURES.get(feature_kind(self.adata), "")

    def _plane(self) -> dict[str, Any]:
        """Translate axes and colours of the map into arguments of the figure, as far as it has them."""
        plane: dict[str, Any] = {}
        axes = [control.value or ("", "") for control in (self.features.x, self.features.y)]
        if all(kind == RESULT and name.startswith("vector_") for kind, name in axes):
            plane["components"] = (int(axes[0][1][7:]), int(axes[1][1][7:]))
        kind, name = self.features.color.value or (RESULT, "feature_group")
        usual = ("feature_group", "score", "membership", "stability")
        if kind == VAR or name in usual or name.startswith(("vector_", "spread_")):
            plane["color"] = name
        return plane

    def show(self) -> None:
        """Set the options of the controls within tabs, and fill evidence, map and table."""
        self._ask()
        self._linked_stale = True
        if not self.has_results():
            return
        self.evidence.show(self._evidence())
        self.enrichment.show()
        if self.enrichment.drawn is None:  # groups of another run: their sets are tested again, or not shown
            self._calls_by_key.pop(self.enrichment.key_added, None)
        self.replication.value = replication_line(self.adata, self.key)
        first = get.disc_significance(self.adata, key=self.key).query("component == 1").set_index("group")["sigma"]
        # the condition with the largest σ has most structure of its own
        set_options(self.group, [(str(n), str(n)) for n in first.index], preferred=str(first.idxmax()))
        bases = embedding_names(self.adata, min_columns=2)
        usual = [b for b in BASES if b in bases]
        others = [b for b in bases if b not in usual and b != meta_features_slot(self.key)]
        set_options(self.basis, [("automatic", None), *((b, b) for b in [*usual, *others])])
        self._show_group()

    def tab_controls(self) -> list[Control]:
        """Return the controls within tabs, those of the linked views and of the enrichment among them."""
        return [*super().tab_controls(), *self.linked.controls, *self.enrichment.controls]

    def recolor(self) -> None:
        """Colour the maps for the theme of the page."""
        super().recolor()
        self.linked.recolor(self.status.dark)

    def more_lines(self, adata: str) -> list[str]:
        """Return the lines of the linked views and of saved selections."""
        return [*self.linked.lines(adata), *super().more_lines(adata)]

    def _draw_open(self) -> None:
        """Draw the open tab; the linked views compute what they show when they are opened."""
        super()._draw_open()
        is_open = self.tab_names and self.tab_names[self.tabs.selected_index or 0] == LINKED
        if is_open and self._linked_stale and self.has_results():
            self._linked_stale = False
            self.linked.show(self.status.dark)

    def summary(self) -> list[str]:
        """Describe the static picture, with the evidence for groups."""
        return [*super().summary(), *self.evidence.notes]

    def _evidence(self) -> list[str]:
        """Return a sentence for every condition."""
        return [f"{group}: {note}." for group, note in get.disc_evidence(self.adata, key=self.key)["note"].items()]

    def _show_group(self) -> None:
        """Show the selected condition."""
        if not self.has_results() or self.group.value is None:
            return
        table = self.table_call().run(self.adata)
        vectors = [c for c in table.columns if c.startswith("vector_")]
        set_options(self.component, [(str(i + 1), i + 1) for i in range(len(vectors))])
        self.features.show(
            table,
            x=vectors[0],
            y=vectors[1] if len(vectors) > 1 else "score",
            color="feature_group",
            by="score",
            colors=group_colors(self.adata, self.key),
            only_on_map=[*vectors[MAX_LISTED_VECTORS:], *(c for c in table.columns if c.startswith("spread_"))],
        )
        self.redraw(*self.pictures)


@documented_panel
def disc(
    adata: AnnData,
    groupby: str | None = None,
    *,
    sample_key: str | None = "auto",
    covariates: Sequence[str] | None = None,
    key_added: str = "disc",
) -> DiscPanel:
    """Open a panel that runs DiSC and shows its results.

    Parameters
    ----------
    adata
    groupby
    sample_key
    covariates
    key_added

    Returns
    -------
    The panel, to be shown as the last value of a cell. `panel.code` holds the lines that reproduce it.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> panel = dn.panels.disc(adata, "condition")
    >>> panel.set(n_components=4)
    >>> panel.run()
    >>> panel.wait()
    True
    >>> panel.code.splitlines()[2]
    'dn.tl.disc(adata, "condition", n_components=4)'
    """
    return DiscPanel(adata, groupby=groupby, sample_key=sample_key, covariates=covariates, key=key_added)
