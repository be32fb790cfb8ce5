"""Every figure at the width of a column: nothing overlaps or is cut off, titles can be off, text stays text."""

from __future__ import annotations

import io
import re

import anndata as ad
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import diffnb as dn

pytestmark = pytest.mark.slow

COLUMN_INCHES = 3.5


@pytest.fixture(scope="package")
def analysed(toy):
    """Two conditions with the results of every method that compares them."""
    adata = toy.copy()
    dn.tl.scorecard(adata, "condition")
    dn.tl.sparda(adata, "condition", n_features=10)
    dn.tl.meta_features(adata)
    dn.tl.enrich(adata, {f"set_of_features_{i}": adata.var_names[i * 25 : (i + 1) * 25] for i in range(10)})
    dn.tl.power(adata, "condition", n_units=[20, 100], n_simulations=3)
    adata.obs["time"], adata.obs["event"] = np.arange(1, adata.n_obs + 1), np.arange(adata.n_obs) % 3 > 0
    dn.tl.survival(adata, "condition")
    return adata


@pytest.fixture(scope="package")
def query(toy):
    adata = dn.datasets.newly_connected(n_obs=100, random_state=1)
    dn.tl.preservation(toy, adata, n_permutations=19)
    return adata


@pytest.fixture(scope="package")
def informed():
    adata = dn.datasets.two_types(n_obs=60)
    dn.tl.informed_distance(adata)
    return adata


@pytest.fixture(scope="package")
def gated():
    adata = dn.datasets.two_moons()
    dn.tl.dufs(adata, n_steps=50)
    return adata


@pytest.fixture(scope="package")
def dosed(toy):
    adata = toy[:, :20].copy()
    adata.X = np.array(adata.X)
    adata.obs["dose"] = np.resize([0.0, 1.0, 5.0], adata.n_obs)
    adata.X[:, :3] += 0.3 * adata.obs["dose"].to_numpy()[:, None]
    dn.tl.scorecard(adata, "dose", trend=True)
    return adata


#: figures of other data than `analysed`, and what they are asked for
OTHERS = {
    "dufs": ("gated", {}),
    "feature_brain": ("parcels", {"values": "network"}),
    "feature_image": ("pixels", {"values": "material"}),
    "informed_covariance": ("informed", {}),
    "informed_embedding": ("informed", {"color": "condition"}),
    "informed_gap": ("informed", {}),
    "preservation": ("query", {}),
    "trend": ("dosed", {}),
}


@pytest.fixture(params=dn.pl.__all__)
def draw(request):
    """Draw a figure of every function with these options."""
    data, needed = OTHERS.get(request.param, ("analysed", {}))
    adata = request.getfixturevalue(data)

    def drawn(**options):
        result = getattr(dn.pl, request.param)(adata, **needed, **options)
        return result.figure if isinstance(result, Axes) else result

    return drawn


def cut_off(figure, texts):
    page = figure.bbox.padded(1.5)
    boxes = [(text.get_text(), mpl.text.Text.get_window_extent(text)) for text in texts]
    return [
        text
        for text, box in boxes
        if not (page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1)
    ]


@pytest.mark.parametrize("width", [COLUMN_INCHES, None], ids=["column", "usual"])
def test_no_text_overlaps_another_or_leaves_the_page(draw, width, texts_of, overlaps):
    figure = draw(width=width)
    texts = texts_of(figure)
    # the box around an oblique text is larger than the text
    assert overlaps([text for text in texts if text.get_rotation() % 90 == 0]) == []
    assert cut_off(figure, texts) == []


@pytest.mark.parametrize("name", ["disc_graph", "disc_embedding", "disc_features", "disc_vectors", "disc_significance"])
def test_three_conditions_fit_a_column(name, three, texts_of, overlaps):
    figure = getattr(dn.pl, name)(three, width=COLUMN_INCHES)
    figure = figure.figure if isinstance(figure, Axes) else figure
    texts = texts_of(figure)
    assert overlaps([text for text in texts if text.get_rotation() % 90 == 0]) == []
    assert cut_off(figure, texts) == []


def test_a_single_group_has_room_for_its_legend(query, texts_of, overlaps):
    alone = query.copy()
    stored = alone.uns["preservation"]
    one = {name: value[:1] for name, value in stored.items() if np.shape(value)[:1] == (4,)}
    alone.uns["preservation"] = {**stored, **one}
    figure = dn.pl.preservation(alone, width=COLUMN_INCHES).figure
    texts = texts_of(figure)
    assert "density" in [text.get_text() for text in texts]
    assert overlaps(texts) == []
    assert cut_off(figure, texts) == []


def test_a_figure_has_the_width_that_is_asked_for(draw):
    assert draw(width=COLUMN_INCHES).get_size_inches()[0] == pytest.approx(COLUMN_INCHES)


def titles(figure):
    found = [ax.get_title(loc=where) for ax in figure.axes for where in ("left", "center", "right")]
    return [title for title in [*found, figure.get_suptitle()] if title]


def test_an_empty_title_leaves_none(draw):
    assert titles(draw(title="")) == []


def test_a_title_is_drawn_as_it_is_given(draw):
    assert "My own title" in titles(draw(title="My own title"))


def test_text_of_vector_graphics_is_text(draw, texts_of):
    figure = draw()
    with mpl.rc_context({"svg.fonttype": "none"}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg")
    written = re.findall(r"<text [^>]*>(?:<tspan[^>]*>)?([^<]+)", buffer.getvalue())
    assert len(written) >= len(texts_of(figure)) > 0


def test_large_clouds_are_pixels_within_vector_graphics():
    adata = dn.datasets.newly_connected(n_obs=30)
    names = pd.Index([f"feature_{i}" for i in range(3000)])
    wide = ad.AnnData(np.resize(adata.X, (adata.n_obs, 3000)), obs=adata.obs, var=pd.DataFrame(index=names))
    dn.tl.scorecard(wide, "condition")
    figure = dn.pl.volcano(wide, n_labels=0).figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    assert b"<image" in buffer.getvalue()
    assert len(buffer.getvalue()) < 200_000


def test_given_axes_have_their_own_width(analysed):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="width= is that of a new figure"):
        dn.pl.volcano(analysed, ax=ax, width=3.5)


@pytest.mark.parametrize(("width", "error"), [(0, "larger than 0"), (350, "in inches"), (0.5, "in inches")])
def test_a_width_that_no_page_has_is_refused(analysed, width, error):
    with pytest.raises(ValueError, match=error):
        dn.pl.volcano(analysed, width=width)


def test_a_title_that_is_no_text_is_refused(analysed):
    with pytest.raises(TypeError, match="title="):
        dn.pl.volcano(analysed, title=3)


def test_the_palette_is_distinct_for_readers_who_see_two_primary_colours():
    """The first six colours differ in lightness or hue after removing red against green (Viénot et al. 1999)."""
    to_lms = np.array([[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]])
    blind = {
        "protanopia": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
        "deuteranopia": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]]),
    }
    from diffnb.pl._style import PALETTE

    rgb = np.array([mpl.colors.to_rgb(color) for color in PALETTE[:6]])
    for name, seen in blind.items():
        linear = np.linalg.inv(to_lms) @ seen @ to_lms @ (rgb**2.2).T
        shown = np.clip(linear, 0, 1).T ** (1 / 2.2)
        apart = np.linalg.norm(shown[:, None] - shown[None], axis=2)[np.triu_indices(6, 1)]
        assert apart.min() > 0.1, name
