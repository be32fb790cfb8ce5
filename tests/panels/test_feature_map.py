import numpy as np
import pandas as pd
import pytest

from diffnb.panels._feature_map import MAX_LABELLED_FEATURES, N_COLOR_LEVELS, NO_VALUE, FeatureMap
from diffnb.pl._style import BACKGROUND_COLOR


@pytest.fixture
def places(rng):
    names = [f"gene{i}" for i in range(100)]
    return pd.DataFrame(rng.normal(size=(100, 3)), index=names, columns=["vector_1", "vector_2", "score"])


@pytest.fixture
def plane(places):
    made = FeatureMap()
    made.place(places["vector_1"], places["vector_2"], priority=places["score"])
    return made


def codes_of(plane):
    return np.frombuffer(plane.codes, dtype=np.uint8)


def test_positions_are_two_float32_per_feature(plane, places):
    points = np.frombuffer(plane.points, dtype=np.float32).reshape(-1, 2)
    np.testing.assert_allclose(points, places[["vector_1", "vector_2"]], rtol=1e-6)
    assert plane.axes == ["vector_1", "vector_2"]
    assert len(plane.selection) == 13


def test_features_of_highest_priority_are_labelled(plane, places):
    assert [name for _, name in plane.labels] == places["score"].nlargest(MAX_LABELLED_FEATURES).index.tolist()


def test_features_without_a_position_are_not_labelled(places):
    places.loc["gene3", "vector_1"] = np.nan
    places.loc["gene3", "score"] = 99
    made = FeatureMap()
    made.place(places["vector_1"], places["vector_2"], priority=places["score"])
    assert "gene3" not in [name for _, name in made.labels]


def test_a_selection_stays_when_only_axes_change(plane, places):
    plane.selection = b"\x01" + plane.selection[1:]
    plane.place(places["vector_2"], places["score"], priority=places["score"])
    assert plane.selection[0] == 1
    few = places.iloc[:8]
    plane.place(few["vector_2"], few["score"], priority=few["score"])
    assert plane.selection == b"\x00"


def test_the_background_is_drawn_first_and_listed_last(plane):
    groups = pd.Series(pd.Categorical(["A1"] * 30 + ["background"] * 60 + [None] * 10), name="feature_group")
    plane.paint(groups, colors={"A1": "#112233", "background": "#aaaaaa"})
    assert codes_of(plane).tolist() == [1] * 30 + [0] * 60 + [NO_VALUE] * 10
    assert list(plane.colors[3:6]) == [0x11, 0x22, 0x33]
    assert [item["label"] for item in plane.legend["items"]] == ["A1", "background"]
    assert [item["count"] for item in plane.legend["items"]] == [30, 60]


def test_without_a_background_no_group_is_drawn_as_one(plane):
    plane.paint(pd.Series(["x", "y"] * 50, name="kind"))
    assert set(codes_of(plane)) == {1, 2}
    assert [item["label"] for item in plane.legend["items"]] == ["x", "y"]


def test_features_that_are_not_selected_are_grey(plane):
    plane.paint(pd.Series([True] * 10 + [False] * 90, name="selected"))
    assert [(i["label"], i["color"]) for i in plane.legend["items"]][1] == ("background", BACKGROUND_COLOR)
    assert codes_of(plane)[0] == 1


def test_more_groups_than_codes_are_left_out_of_the_colours(plane):
    plane.paint(pd.Series([f"g{i}" for i in range(100)], name="kind"))
    assert plane.legend["more"] == 100 - 24
    big = FeatureMap()
    names = pd.Series([f"g{i:03d}" for i in range(400)], name="kind")
    big.paint(names)
    assert (np.frombuffer(big.codes, dtype=np.uint8) == NO_VALUE).sum() == 400 - 254


def test_groups_beyond_the_colours_have_other_markers(plane):
    plane.paint(pd.Series([f"g{i % 20:02d}" for i in range(100)], name="kind"))
    assert {item["shape"] for item in plane.legend["items"]} == {0, 1, 2, 3}


@pytest.mark.parametrize("dark", [False, True])
def test_numbers_have_a_scale(plane, places, dark):
    plane.paint(places["score"], dark=dark)
    codes = codes_of(plane)
    assert codes.max() < N_COLOR_LEVELS
    assert plane.legend["low"] == -plane.legend["high"]  # signed: nothing lies in the middle
    assert len(plane.colors) == 3 * N_COLOR_LEVELS
    middle = np.frombuffer(plane.colors, dtype=np.uint8).reshape(-1, 3)[N_COLOR_LEVELS // 2]
    assert (middle < 60).all() if dark else (middle > 200).all()


def test_numbers_of_one_sign_have_a_scale_from_the_smallest_to_the_largest(plane):
    plane.paint(pd.Series(np.r_[np.nan, np.arange(99.0)], name="mean"))
    assert codes_of(plane)[0] == NO_VALUE
    assert (plane.legend["low"], plane.legend["high"]) == (0, 98)
    plane.paint(pd.Series(np.full(100, np.nan), name="nothing"))
    assert set(codes_of(plane)) == {NO_VALUE}


def test_names_are_sent_on_request_only(plane, places):
    sent = []
    plane.send = lambda content: sent.append(content)
    plane.paint(places["score"])
    plane._on_message(plane, {"ask": "name", "index": 5}, [])
    assert sent[0]["text"].startswith("gene5 · score ")
    for index in (-1, 100, 10**6):
        plane._on_message(plane, {"ask": "name", "index": index}, [])
    assert len(sent) == 1


def test_a_selection_may_arrive_as_a_memoryview(plane):
    plane.set_state({"selection": memoryview(b"\x03" + bytes(12))})
    assert plane.selection[0] == 3


def test_twenty_thousand_features_fit_into_two_hundred_kilobytes(rng):
    n = 20_000
    frame = pd.DataFrame(rng.normal(size=(n, 2)), index=[f"ENSG{i:011d}" for i in range(n)], columns=["x", "y"])
    made = FeatureMap()
    made.place(frame["x"], frame["y"], priority=frame["x"])
    made.paint(pd.Series(rng.choice(["background", "A1"], n), name="group"))
    assert len(made.points) + len(str(made.labels)) < 200_000
    assert len(made.codes) + len(made.colors) + len(str(made.legend)) < 200_000


def test_a_feature_of_no_group_is_background_also_where_its_group_is_an_empty_text(plane):
    plane.paint(pd.Series(["A1"] * 30 + [""] * 70, name="found_by"))
    assert [item["label"] for item in plane.legend["items"]] == ["A1", "background"]
