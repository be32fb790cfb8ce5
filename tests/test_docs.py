import pytest

from diffnb._docs import documented


def test_a_reference_becomes_the_description_with_its_indentation():
    @documented({"key": "\n        key\n            The key.\n        "})
    def function(key):
        """Do it.

        Parameters
        ----------
        {key}
        """

    assert "        key\n            The key.\n" in function.__doc__
    assert "{" not in function.__doc__


def test_braces_within_a_line_are_kept():
    @documented({})
    def function():
        """Return a dictionary.

        >>> function()
        {'a': 1}
        """

    assert "{'a': 1}" in function.__doc__


def test_a_reference_to_nothing_fails_at_import():
    with pytest.raises(KeyError, match="nothing"):

        @documented({})
        def function():
            """Do it.

            {nothing}
            """
