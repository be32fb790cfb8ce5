"""The modules of a view on a page of its own, without Jupyter."""

from __future__ import annotations

import pytest

from diffnb.panels._feature_map import FeatureMap
from diffnb.panels._feature_table import FeatureTable
from diffnb.panels._pair_map import PairMap
from diffnb.panels._views import CodeView, Picture, Status

WIDGETS = [CodeView, FeatureMap, FeatureTable, PairMap, Picture, Status]
ADDRESS = "http://views.invalid/"
#: as anywidget does
IMPORT = """async text => {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    return typeof (await import(url)).default.render;
}"""


@pytest.fixture
def page(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("widget", WIDGETS, ids=lambda widget: widget.__name__)
def test_a_page_that_allows_scripts_from_blobs_only_can_load_every_view(page, widget):
    policy = {"Content-Security-Policy": "default-src 'none'; script-src blob:"}
    page.route(ADDRESS, lambda route: route.fulfill(body="<p>page</p>", content_type="text/html", headers=policy))
    page.goto(ADDRESS)
    assert page.evaluate(IMPORT, widget._esm) == "function"
    data = "import('data:text/javascript,export default 1').then(() => 'loaded', () => 'refused')"
    assert page.evaluate(f"() => {data}") == "refused", "the policy is not in force"
