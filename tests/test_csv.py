"""CSV files: a spreadsheet must never run what a file of someone else calls a feature."""

import io

import pandas as pd
import pytest

from diffnb._csv import spreadsheet_csv

FORMULA = "=cmd|' /C calc'!A0"


@pytest.mark.parametrize("text", [FORMULA, "+1+1", "-2+3", "@SUM(A1)", "\tx", "\rx"])
def test_formulas_are_written_as_text(text):
    table = pd.DataFrame({"group": [text, "B"]}, index=pd.Index([text, "gene"], name="feature"))
    read = pd.read_csv(io.StringIO(spreadsheet_csv(table)), index_col=0)
    assert read.index.tolist() == [f"'{text}", "gene"]
    assert read["group"].tolist() == [f"'{text}", "B"]


def test_names_of_columns_and_categories_are_texts_too():
    table = pd.DataFrame({FORMULA: pd.Categorical([FORMULA, "B"])}, index=pd.Index(["a", "b"], name=FORMULA))
    lines = spreadsheet_csv(table).splitlines()
    assert not any(cell.strip('"').startswith("=") for line in lines for cell in line.split(","))


def test_numbers_stay_numbers():
    table = pd.DataFrame({"score": [-1.5, 2.0], "n": [-1, 2], "yes": [True, False]}, index=["a", "b"])
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(spreadsheet_csv(table)), index_col=0), table)


def test_columns_of_one_name_and_missing_values_are_kept():
    table = pd.DataFrame([["-x", None], ["y", "=z"]], columns=["a", "a"], index=[1, 2])
    assert spreadsheet_csv(table).splitlines() == [",a,a", "1,'-x,", "2,y,'=z"]
