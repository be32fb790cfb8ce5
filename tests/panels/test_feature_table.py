import numpy as np
import pandas as pd
import pytest

from diffnb.panels._feature_table import INITIAL_ROWS, MAX_CSV_LETTERS, MAX_ROWS, FeatureTable, short_number
from diffnb.panels._marks import packed, unpacked


@pytest.fixture
def frame(rng):
    n = 1000
    return pd.DataFrame(
        {
            "group": pd.Categorical.from_codes(rng.integers(0, 3, n), ["background", "A1", "A2"]),
            "score": np.where(np.arange(n) % 10 == 9, np.nan, rng.normal(size=n)),
            "count": pd.array(np.arange(n), dtype="Int64"),
            "kept": np.arange(n) < 5,
        },
        index=[f"gene{i}" for i in range(n)],
    )


@pytest.fixture
def table(frame):
    table = FeatureTable()
    table.show(frame, by="score")
    return table


def shown(table, column=0):
    return [row["cells"][column] for row in table.page["rows"]]


def ask(table, **content):
    table._on_message(table, content, [])


@pytest.mark.parametrize("n", [0, 1, 8, 9, 100])
def test_a_selection_survives_packing_and_unpacking(n, rng):
    mask = rng.random(n) < 0.5
    assert unpacked(packed(mask), n).tolist() == mask.tolist()
    assert len(packed(mask)) == -(-n // 8)


def test_a_selection_that_is_too_short_selects_nothing_more():
    assert unpacked(b"\xff", 10).tolist() == [True] * 8 + [False] * 2


def test_only_the_first_rows_are_sent(table):
    assert len(table.page["rows"]) == INITIAL_ROWS
    assert table.page["found"] == table.page["all"] == 1000


def test_the_largest_values_come_first_and_missing_ones_last(table, frame):
    order = frame["score"].sort_values(ascending=False).index
    assert shown(table) == order[:INITIAL_ROWS].tolist()
    table.window = [950, 1000]
    assert shown(table, 2)[-1] == ""
    table.order = [2, False]
    assert shown(table) != []
    table.window = [0, 3]
    assert shown(table) == frame["score"].sort_values().index[:3].tolist()


def test_scrolling_sends_the_rows_in_view_and_never_too_many(table):
    table.window = [500, 510]
    assert table.page["start"] == 500
    assert len(table.page["rows"]) == 10
    table.window = [0, 1000]
    assert len(table.page["rows"]) == MAX_ROWS
    table.window = [5000, 6000]
    assert len(table.page["rows"]) == 1


def test_names_are_sorted_alphabetically(frame):
    table = FeatureTable()
    table.show(frame.iloc[:3].set_axis(["b", "A", "c"]), by="nothing")
    assert shown(table) == ["A", "b", "c"]


def test_search_finds_parts_of_names_and_groups_in_any_case(table, frame):
    table.query = "GENE99 a1"
    expected = [n for n in frame.index if "gene99" in n and frame.loc[n, "group"] == "A1"]
    assert sorted(shown(table)) == sorted(expected)
    table.query = "nothing of the kind"
    assert table.page["found"] == 0
    assert table.page["rows"] == []
    table.query = ""
    assert table.page["found"] == 1000


def test_clicking_rows_selects_them(table):
    first = table.page["rows"][0]["index"]
    ask(table, ask="toggle", index=first)
    assert table.page["rows"][0]["on"]
    assert table.page["selected"] == 1
    assert table.marked[first]
    ask(table, ask="toggle", index=first)
    assert table.page["selected"] == 0


@pytest.mark.parametrize("index", [-1, 1000, 10**9])
def test_a_row_that_is_not_there_selects_nothing(table, index):
    ask(table, ask="toggle", index=index)
    assert table.page["selected"] == 0


def test_found_rows_are_selected_then_the_only_ones_shown_then_cleared(table):
    table.query = "gene77"
    ask(table, ask="select_found")
    table.query = ""
    table.only_selected = True
    assert table.page["found"] == table.page["selected"] == 11
    ask(table, ask="clear")
    assert table.page["found"] == 1000
    assert not table.only_selected


def test_numbers_are_short_and_yes_is_a_word(frame):
    table = FeatureTable()
    table.show(frame.assign(score=-0.000123456).iloc[:1], by="score")
    assert shown(table, 2) == ["−0.000123"]
    assert shown(table, 3) == ["0"]
    assert shown(table, 4) == ["yes"]


def test_the_csv_file_is_sent_in_pieces_that_make_up_the_table(table, frame):
    sent = []
    table.send = lambda content: sent.append(content)
    table.file_name = "mine.csv"
    big = pd.concat([frame] * 40)
    table.show(big, by="count", descending=False)
    ask(table, ask="csv")
    while sent[-1]["next"]:
        ask(table, ask="csv", **{"from": sent[-1]["next"]})
    assert len(sent) > 2
    assert all(len(piece["text"]) <= MAX_CSV_LETTERS for piece in sent)
    text = "".join(piece["text"] for piece in sent)
    import io

    read = pd.read_csv(io.StringIO(text), index_col=0)
    assert len(read) == len(big)
    assert read["count"].tolist() == sorted(big["count"])
    assert {piece["name"] for piece in sent} == {"mine.csv"}


def test_the_csv_file_has_the_found_rows_in_the_order_shown(table):
    sent = []
    table.send = lambda content: sent.append(content)
    table.query = "gene99"
    ask(table, ask="csv")
    assert [line.split(",")[0] for line in sent[0]["text"].splitlines()[1:]] == table.found.index.tolist()


def test_a_page_is_a_small_message(rng):
    import json

    n = 20_000
    table = FeatureTable()
    frame = pd.DataFrame(rng.normal(size=(n, 13)), index=[f"ENSG{i:011d}" for i in range(n)])
    table.show(frame, by="0")
    assert len(json.dumps(table.page)) < 30_000


def test_an_empty_table_is_shown_as_such():
    table = FeatureTable()
    table.show(pd.DataFrame({"score": pd.Series(dtype=float)}), by="score")
    assert table.page["found"] == 0


@pytest.mark.parametrize(("value", "text"), [(1400.0, "1400"), (-3.0, "−3"), (0.12345, "0.123"), (2.5e12, "2.5e+12")])
def test_whole_numbers_such_as_ranks_keep_their_digits(value, text):
    assert short_number(value) == text
