"""Shared texts are inserted into docstrings, which then hold every parameter."""

import inspect

import pytest

from diffnb._docs import documented, parameters

SHARED = {"adata": "Annotated data.", "layer": "Layer to use."}


def tool(adata, layer, own, *, more):
    """Do it.

    Parameters
    ----------
    adata
    layer
        ... Only `"counts"` will
        do.
    own
        Its own text
        in two lines.

        - and a list
    more
        Another text.

    Returns
    -------
    `f"X_{layer}"`.
    """


def test_texts_are_inserted_continued_or_left_as_they_are():
    doc = inspect.getdoc(documented(SHARED)(tool))
    section = doc.split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
    assert parameters(section) == {
        "adata": "Annotated data.",
        "layer": 'Layer to use. Only `"counts"` will do.',
        "own": "Its own text\nin two lines.\n\n- and a list",
        "more": "Another text.",
    }
    assert doc.startswith("Do it.\n\nParameters")
    assert doc.endswith('Returns\n-------\n`f"X_{layer}"`.')


def test_a_text_that_is_missing_is_an_error():
    def incomplete(missing):
        """Do it.

        Parameters
        ----------
        missing

        Returns
        -------
        Nothing.
        """

    with pytest.raises(KeyError, match="missing"):
        documented(SHARED)(incomplete)


def test_the_function_stays_the_same():
    assert documented(SHARED)(tool) is tool


def test_a_function_without_a_docstring_stays_without():
    def bare(adata):  # as under `python -OO`
        return adata

    assert documented(SHARED)(bare).__doc__ is None
