"""The table of what takes which data is what is found when it is tried."""

import pytest
from support import PAGE, page, table

pytestmark = pytest.mark.slow


def test_the_page_on_kinds_of_data_shows_what_happens():
    assert PAGE.read_text(encoding="utf-8") == page(table()), "python tests/support.py writes it"
