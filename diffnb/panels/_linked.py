"""Linked views of one group of features: its observations, network, pairs and table, with common selections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
from anndata import AnnData

from .. import get
from .._calls import Call, Expression, literal, wrapped
from ..core.typing import Bools
from ..get._stale import collected_staleness
from ..pl._read import group_colors
from ._controls import Control, control_row, dropdown, on_user_change, set_options
from ._feature_table import INITIAL_ROWS, FeatureTable
from ._marks import packed, unpacked
from ._network_map import CONNECTIONS, NetworkMap
from ._notes import Notes
from ._observations import MAX_NAMES_IN_CODE, SELECTED, ObservationView
from ._pair_map import PairMap

#: features of a group that are shown, and edges between them
MAX_FEATURES, MAX_EDGES = 300, 1500
#: name of the variable that holds the selected observations in the code
CHOSEN = "chosen"
NO_GROUPS = (
    "No group of features was named, so there is none to look at. The Significance tab says why; Features shows all of"
    " them."
)
SEEN_BEFORE = (
    "The group was chosen because its correlations differ: what is shown here describes it, and is no further test."
)


class LinkedViews:
    """A group of features: observations by its score, its network, its correlations by condition, its features."""

    def __init__(self, adata: AnnData, key: str, changed: Callable[[], None]) -> None:
        self.adata, self.key, self._changed = adata, key, changed
        self.group = dropdown("feature_group", [], label="group of features")
        self.group.widget.add_class("diffnb-wide")
        self.reference = dropdown("network_reference", [], label="compared with")
        self.layout = dropdown("layout", [CONNECTIONS], label="network by")
        self.observations = ObservationView(adata, changed, lambda _: self._changed(), score=self._score)
        self.network, self.pairs, self.table = NetworkMap(), PairMap(), FeatureTable()
        self.table.file_name = f"{key}_group.csv"
        self.notes = Notes()
        #: whether the tab has been open: only then its lines are part of the code
        self.is_open = False
        self.frame, self.edges = pd.DataFrame(), pd.DataFrame()
        self._shown = pd.DataFrame()
        self._condition: dict[str, str] = {}
        self._network_note, self._n_members = "", 0
        self._left_out: list[str] = []
        self._following = False
        self._connect()

    def _connect(self) -> None:
        on_user_change(self.group.widget, lambda: self._guarded(self._show_group))
        on_user_change(self.reference.widget, lambda: self._guarded(self._show_network))
        on_user_change(self.layout.widget, lambda: self._guarded(self._place_network))
        self.observations.map.observe(lambda _: self._guarded(self._on_observations), "selection")
        for view in (self.network, self.pairs, self.table):
            view.observe(lambda change: self._guarded(lambda: self._on_features(change.owner)), "selection")

    def _guarded(self, act: Callable[[], None]) -> None:
        """Act, and say what went wrong where a user can read it."""
        try:
            with collected_staleness():  # the banner says it
                act()
        except Exception as error:
            self.notes.show([f"This cannot be shown: {' '.join(str(error).split())}"])

    @property
    def controls(self) -> list[Control]:
        """The controls of the views."""
        return [self.group, self.reference, self.layout, *self.observations.controls]

    def tab(self) -> Any:
        """Return the views below each other, two in a row where the page is wide."""
        none = widgets.HTML("<p>There is no embedding of the observations in adata.obsm.</p>")
        left = self.observations.tab(none)
        left.add_class("diffnb-linked")
        rows = [widgets.Box([left, self.network]), widgets.Box([self.pairs, self.table])]
        for row in rows:
            row.add_class("diffnb-features")
        self._views = widgets.VBox(rows)
        head = control_row([self.group.widget, self.reference.widget, self.layout.widget])
        return widgets.VBox([head, self.notes, self._views])

    # ---- what is shown ----

    def show(self, dark: bool) -> None:
        """Show the groups of the results; the selected one is kept."""
        self._guarded(lambda: self._show(dark))

    def _show(self, dark: bool) -> None:
        self.observations.dark = dark
        self.pairs.recolor(dark)
        groups = get.disc_groups(self.adata, key=self.key)
        options = [(f"{name} ({row['group']}, {row['n_features']} features)", name) for name, row in groups.iterrows()]
        self._condition = {str(name): str(condition) for name, condition in groups["group"].items()}
        set_options(self.group, options)
        set_options(self.layout, self.network.layouts(self.adata))
        self._views.layout.display = None if options else "none"
        if not options:
            self.notes.show([NO_GROUPS])
            return
        self.is_open = True
        self._show_group()
        self.observations.show(None)

    def recolor(self, dark: bool) -> None:
        """Use the colours of a light or dark page."""
        self.pairs.recolor(dark)
        if self.is_open and self.group.value is not None:
            self.observations.repaint(dark)
            self._paint_network()

    def _show_group(self) -> None:
        members = self._call("group_features", "members", group=self.group.value).run(self.adata)
        self.frame = members.iloc[:MAX_FEATURES]
        self._n_members = len(members)
        others = [str(c) for c in get.disc_evidence(self.adata, key=self.key).index]
        set_options(self.reference, [c for c in others if c != self._condition[str(self.group.value)]])
        self._select(np.zeros(len(self.frame), dtype=bool))
        self._show_network()
        self._show_chosen()
        self.observations.repaint()

    def _show_network(self) -> None:
        try:
            table = self._edges_call().run(self.adata)
            self._network_note = _network_note(table, str(self.reference.value))
        except ValueError as error:  # no intervals for corrected correlations, too few samples
            table = pd.DataFrame(columns=["feature_1", "feature_2", "class", "difference"])
            self._network_note = f"No edges are known: {error}"
        names = self.frame.index
        self.edges = table[table["feature_1"].isin(names) & table["feature_2"].isin(names)]
        self._place_network()
        self._describe()

    def _place_network(self) -> None:
        by = "membership" if "membership" in self.frame else "score"
        self.network.show(self.adata, list(self.frame.index), self.edges, self.layout.value, self.frame[by])
        self._follow(self.selected)
        self._paint_network()
        self._changed()

    def _paint_network(self) -> None:
        """Colour features by their group, or by how they mark the selected observations."""
        n = len(self.network.points) // 8
        if "difference" in self._shown:
            values = pd.Series(np.full(n, np.nan), name="difference of the selected")
            values.iloc[: len(self.frame)] = self._shown["difference"].to_numpy()
            self.network.paint(values, dark=self.observations.dark)
            return
        names = pd.Series(["background"] * n, name="feature_group")
        names.iloc[: len(self.frame)] = str(self.group.value)
        self.network.paint(names, colors=group_colors(self.adata, self.key), dark=self.observations.dark)

    def _show_chosen(self) -> None:
        """Show correlations and features for the selected observations, for all where none is selected."""
        group = str(self.group.value)
        chosen = self.chosen if self.chosen.any() else None
        self._shown = get.group_features(self.adata, group=group, observations=chosen, key=self.key)[: len(self.frame)]
        self._show_pairs(group, chosen)
        by = next(name for name in ("difference", "membership", "score") if name in self._shown)
        kept = packed(self.selected)
        self.table.show(self._shown, by=by, selection=kept)
        self._paint_network()
        self._describe()
        self._changed()

    def _show_pairs(self, group: str, chosen: Bools | None) -> None:
        table = get.group_correlations(
            self.adata, group=group, observations=chosen, max_features=MAX_FEATURES, key=self.key
        )
        counts = table.attrs["n_obs"]
        shown = list(dict.fromkeys(table.index.get_level_values("group")))
        empty = "Too few of the selected observations are in any condition for correlations." if not shown else ""
        titles = [f"{name}, {counts[name]:,} observations" for name in shown]
        self.pairs.show([table.loc[name] for name in shown], titles, empty=empty)
        self._left_out = [name for name in counts if name not in shown]

    def _score(self) -> pd.Series[Any]:
        """Return the score of every observation in the selected features, or in the group."""
        names = self.selected_names
        table = self._score_call().run(self.adata)
        title = f"score of {len(names)} selected features" if names else f"score of {self.group.value}"
        return table.iloc[:, 0].rename(title)

    def _describe(self) -> None:
        notes = [] if self._n_members <= MAX_FEATURES else [self._cap_note()]
        notes += [self._chosen_note(), self._network_note, SEEN_BEFORE]
        self.notes.show(notes)

    def _cap_note(self) -> str:
        return f"The {MAX_FEATURES} of {self._n_members:,} features with the largest membership are shown."

    def _chosen_note(self) -> str:
        n = int(self.chosen.sum())
        if n == 0:
            return (
                "Click or lasso features to colour the observations by them; lasso observations to see correlations and"
                " means of those alone."
            )
        text = f"{n:,} of {self.adata.n_obs:,} observations are selected: correlations and table are of these"
        lacking = f"; too few of them in {', '.join(self._left_out)}" if self._left_out else ""
        return f"{text}, the network is of all{lacking}."

    # ---- selections ----

    @property
    def chosen(self) -> Bools:
        """Which observations are selected."""
        return np.asarray(self.observations.selected)

    @property
    def selected(self) -> Bools:
        """Which of the features shown are selected."""
        return unpacked(self.table.selection, len(self.frame))

    @property
    def selected_names(self) -> list[str]:
        """Names of the selected features."""
        return [str(name) for name in self.frame.index[self.selected]] if len(self.frame) else []

    def _on_observations(self) -> None:
        if self.is_open and len(self.frame):
            self._show_chosen()

    def _on_features(self, source: Any) -> None:
        if self._following or not self.is_open:
            return
        marked = unpacked(source.selection, len(self.frame))
        if source is not self.table and marked.any():
            self.table.only_selected = True
            self.table.window = [0, INITIAL_ROWS]
        self._select(marked)
        self.observations.repaint()
        self._changed()

    def _select(self, marked: Bools) -> None:
        self._following = True
        try:
            self.table.selection = packed(marked)
        finally:
            self._following = False
        self._follow(marked)

    def _follow(self, marked: Bools) -> None:
        """Show the selection of the table in the other views."""
        self._following = True
        try:
            self.pairs.selection = packed(marked)
            points = len(self.network.points) // 8
            self.network.selection = packed(np.pad(marked, (0, max(0, points - len(marked)))))
        finally:
            self._following = False

    # ---- code ----

    def _call(self, name: str, result: str, **keywords: Any) -> Call:
        return Call(f"dn.get.{name}", (), {**keywords, "key": self.key}, result=result)

    def _edges_call(self) -> Call:
        pair = {"condition": self._condition[str(self.group.value)], "reference": self.reference.value}
        return self._call("edges", "edges", group=self.group.value, **pair, max_edges=MAX_EDGES)

    def _score_call(self) -> Call:
        names = self.selected_names
        return self._call("group_scores", "scores", **({"members": names} if names else {"group": self.group.value}))

    def lines(self, adata: str) -> list[str]:
        """Return the lines that compute what the views show, once the tab was open."""
        if not self.is_open or self.group.value is None:
            return []
        naming = self._naming(adata)
        chosen = {"observations": Expression(CHOSEN)} if naming and naming[0].startswith(CHOSEN) else {}
        group = {"group": self.group.value}
        calls = [
            self._score_call(),
            self._edges_call(),
            self._call("group_correlations", "pairs", **group, **chosen),
            self._call("group_features", "members", **group, **chosen),
        ]
        return [*self.observations.lines(adata), *naming, "\n".join(call.line(adata) for call in calls)]

    def _naming(self, adata: str) -> list[str]:
        """Return the line that names the selected observations; a comment where there are too many for a line."""
        if not self.chosen.any():
            return []
        column = self.observations.column_of(self.chosen)
        if column is not None:
            return [f"{CHOSEN} = {adata}.obs[{literal(column)}] == {literal(SELECTED)}"]
        names = [str(name) for name in self.adata.obs_names[self.chosen]]
        if len(names) > MAX_NAMES_IN_CODE:
            return [f"# for the {len(names):,} selected observations, save the selection: it is too long for a line"]
        return [f"{CHOSEN} = {adata}.obs_names.isin({wrapped(names)})"]


def _network_note(table: pd.DataFrame, reference: str) -> str:
    found, tested = int(table.attrs["n_found"]), int(table.attrs["n_tested"])
    shown = "" if found <= len(table) else f"; the {len(table):,} most significant are drawn"
    return f"Network: {found:,} of {tested:,} pairs differ from {reference} (adjusted p ≤ .05){shown}."
