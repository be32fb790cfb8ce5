"""The functions that the extension writes into notebooks exist in the package."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import diffnb as dn

LAB = Path(__file__).parents[2] / "lab" / "src"
SIDEBAR, TEMPLATES = ((LAB / name).read_text(encoding="utf-8") for name in ("calls.ts", "templates.ts"))
CALLS = re.findall(r"(?:id|show): '((?:tl|get|panels)\.\w+)'", SIDEBAR)
WRITTEN = re.findall(r"\bdn\.((?:tl|get|pl|panels|datasets)\.\w+)\(", TEMPLATES)


def test_calls_are_found_in_the_sources():
    assert len(CALLS) >= 15
    assert len(WRITTEN) >= 8


@pytest.mark.parametrize("name", sorted({*CALLS, *WRITTEN}))
def test_every_call_exists(name):
    subpackage, function = name.split(".")
    assert hasattr(getattr(dn, subpackage), function)


def test_the_version_is_that_of_the_package():
    assert json.loads((LAB.parent / "package.json").read_text(encoding="utf-8"))["version"] == dn.__version__
