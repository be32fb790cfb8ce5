"""No public name, argument or default changes unnoticed."""

import difflib

import public_api

import diffnb as dn


def test_the_public_signatures_are_those_of_the_snapshot():
    stored = public_api.SNAPSHOT.read_text(encoding="utf-8").splitlines()
    changed = list(difflib.unified_diff(stored, public_api.text().splitlines(), n=0, lineterm=""))
    assert changed == [], (
        "an addition: run `python tests/public_api.py`; a name, argument or default that is gone or has changed:"
        " deprecate it, and name it in CHANGELOG.md"
    )


def test_every_public_function_is_in_the_snapshot():
    names = {line.split("(")[0] for line in public_api.signatures()}
    assert {f"tl.{name}" for name in dn.tl.__all__} <= names
    assert {"sklearn.DiSC", "sklearn.DiSC.fit", "settings.memory"} <= names


def test_defaults_are_part_of_a_signature():
    assert "n_components=10" in next(line for line in public_api.signatures() if line.startswith("tl.disc("))
