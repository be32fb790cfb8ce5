"""Fixtures of the browser tests: one server and one browser for all, a fresh page and no kernel for each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness import chromium
from harness.lab import Lab
from harness.server import Server
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PICTURES = ROOT / "build" / "browser"
VIEWPORT = {"width": 1400, "height": 900}


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    # the picture of a failure says more than its traceback
    page = getattr(item, "funcargs", {}).get("lab")
    if report.when == "call" and report.failed and page is not None:
        path = page.screenshot("failed-" + re.sub(r"\W+", "-", item.name))
        report.sections.append(("picture of the failure", str(path)))
        report.sections.append(("errors on the page", "\n".join(page.errors + page.console)))
    return report


def without(reason):
    """Skip where the browser is a matter of taste, fail where it must be there."""
    if chromium.must_be_there():
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    """The chromium of this machine, without a window."""
    path = chromium.find()
    if path is None:
        without("the browser tests need chromium (on Debian and Ubuntu: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=chromium.FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(browser, tmp_path_factory):
    """A Jupyter server of this Python's packages, with folders of its own."""
    server = Server(folder=tmp_path_factory.mktemp("notebooks"), home=tmp_path_factory.mktemp("jupyter"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def lab(browser, server):
    """JupyterLab in a page of its own; kernels and files end with the test."""
    context = browser.new_context(viewport=VIEWPORT, locale="en-US")
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
    lab = Lab(context.new_page(), server, PICTURES)
    lab.start()
    yield lab
    context.close()
    server.end_sessions()
    server.clear_folder()
