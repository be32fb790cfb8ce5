"""A network of features as a map: places, edges, and where features have coordinates, the image or the brain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from ..core.typing import Floats
from ..get._annotations import feature_kind, parcel_coordinates, pixel_positions
from ..get._network import feature_network
from ..pl._network import CLASS_LOOKS, network_layout
from ._feature_map import FeatureMap

#: how the features can be laid out, by the kind of features
CONNECTIONS = "connections"
LAYOUTS: dict[str, dict[str, tuple[str, str]]] = {
    "pixels": {"image": ("column", "row")},
    "parcels": {"brain from above": ("x", "y"), "brain from the left": ("y", "z"), "brain from behind": ("x", "z")},
}
#: layouts whose axes say nothing
BARE = (CONNECTIONS, "image")
NODE_RADIUS = 5.0
#: distance of features without an edge, where the disc of n connected ones has the radius √n
GAP_OF_ROWS = 0.8
#: an edge whose difference is this large is drawn as the strongest
FULL_DIFFERENCE = 1.0


class NetworkMap(FeatureMap):
    """The features of a group and the edges between them; in an image or a brain the other features as well."""

    def layouts(self, adata: AnnData) -> list[str]:
        """Name the layouts that there are for these features."""
        try:
            places = _positions(adata)
        except (ValueError, KeyError, TypeError):
            return [CONNECTIONS]
        return [CONNECTIONS, *(places or {})]

    def show(self, adata: AnnData, features: list[str], edges: pd.DataFrame, layout: str, leading: Any) -> None:
        """Show features and edges between them; `leading` says which are labelled first."""
        if layout == CONNECTIONS:
            names, points, axes = features, _by_connections(features, edges), ("", "")
        else:
            names, points, axes = _at_positions(adata, features, layout)
        x, y = (pd.Series(points[:, i], index=names, name=axes[i]) for i in (0, 1))
        priority = pd.Series(-np.inf, index=range(len(names)))
        priority.iloc[: len(features)] = np.asarray(leading, dtype=float)
        with self.hold_sync():
            self.equal, self.bare = True, layout in BARE
            self.radius = NODE_RADIUS if layout == CONNECTIONS else 0.0
            self.place(x, y, priority=priority)
            self._connect(features, edges)

    def _connect(self, features: list[str], edges: pd.DataFrame) -> None:
        index = {name: i for i, name in enumerate(features)}
        ends = np.array([[index[str(name)] for name in edges[c]] for c in ("feature_1", "feature_2")], dtype=np.uint32)
        classes = edges["class"].astype(str).to_numpy()
        present = [name for name in CLASS_LOOKS if (classes == name).any()]
        strengths = np.clip(np.abs(edges["difference"].to_numpy(dtype=float)) / FULL_DIFFERENCE, 0, 1)
        self.edge_looks = [
            {"label": name, "color": CLASS_LOOKS[name][0], "dash": _dash(name), "count": int((classes == name).sum())}
            for name in present
        ]
        self.edge_codes = np.array([present.index(name) for name in classes], dtype=np.uint8).tobytes()
        self.edge_strengths = np.round(255 * strengths).astype(np.uint8).tobytes()
        self.edges = np.ascontiguousarray(ends.T).tobytes()


def _dash(name: str) -> list[float]:
    """Return the dashes of a class in pixels."""
    pattern = CLASS_LOOKS[name][1]
    return [] if isinstance(pattern, str) else [2.5 * float(length) for length in pattern[1]]


def _by_connections(features: list[str], edges: pd.DataFrame) -> Floats:
    """Place connected features near each other; those without an edge are in rows below."""
    places: dict[str, Floats] = {}
    if len(edges):
        layout = network_layout(feature_network(edges, {}))
        places = dict(zip(layout.names, layout.places, strict=True))
    alone = [name for name in features if name not in places]
    corners = np.array([*places.values(), *([] if places else [(0.0, 0.0)])])
    left, bottom = corners.min(axis=0)
    width = max(corners[:, 0].max() - left, GAP_OF_ROWS * np.ceil(np.sqrt(2 * len(alone))))
    per_row = max(1, int(width / GAP_OF_ROWS) + 1)
    for i, name in enumerate(alone):
        places[name] = np.array([left + GAP_OF_ROWS * (i % per_row), bottom - GAP_OF_ROWS * (1.5 + i // per_row)])
    return np.array([places[name] for name in features], dtype=float).reshape(-1, 2)


def _at_positions(adata: AnnData, features: list[str], layout: str) -> tuple[list[str], Floats, tuple[str, str]]:
    """Return these features and then all others, at their place in the image or the brain."""
    positions = _positions(adata)[layout]
    others = ~np.asarray(adata.var_names.isin(features))
    order = np.concatenate([adata.var_names.get_indexer(features), np.flatnonzero(others)])
    return [str(name) for name in adata.var_names[order]], positions[order], LAYOUTS[feature_kind(adata)][layout]


def _positions(adata: AnnData) -> dict[str, Floats]:
    kind = feature_kind(adata)
    if kind == "pixels":
        row, column, _ = pixel_positions(adata, None)
        return {"image": np.column_stack([column, -row]).astype(float)}
    if kind == "parcels":
        xyz = parcel_coordinates(adata)
        planes = {"x": 0, "y": 1, "z": 2}
        return {name: xyz[:, [planes[a], planes[b]]] for name, (a, b) in LAYOUTS["parcels"].items()}
    return {}
