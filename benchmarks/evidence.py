"""Every item of the papers beside what we measure: python benchmarks/evidence.py [item …] [--fast] [--show].

Without names all items run, in an hour or two on two cores. `disc` takes all items of DiSC, `disc.toys` one. Every
item writes benchmarks/results/evidence/<item>.json, and in the end docs/validation/evidence.md is written from all of
them. `--fast` takes few seeds and small sizes, and keeps nothing; the tests run a part of that. `--show` runs nothing
and writes the page, `--list` names the items. Items whose data are absent are skipped: folders are taken from
DIFFNB_DATA and DIFFNB_MORE_DATA (docs/validation/real_data.md).

An item is a function in one of the modules `_evidence_*.py`.
"""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from importlib import import_module
from pathlib import Path

import _evidence

for module in sorted(Path(__file__).parent.glob("_evidence_*.py")):
    import_module(module.stem)


def chosen(names: list[str], *, fast: bool) -> list[_evidence.Item]:
    """Return the items of these names or methods, all without names."""
    unknown = [n for n in names if n not in _evidence.ITEMS and n not in _evidence.TITLES]
    if unknown:
        raise SystemExit(f"no item {', '.join(unknown)}; --list names them")
    taken = [one for one in _evidence.ITEMS.values() if not names or {one.name, one.method} & set(names)]
    return [one for one in taken if one.fast or not fast]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", nargs="*", metavar="item")
    parser.add_argument("--seeds", type=int, help="other than the number of each item")
    parser.add_argument("--fast", action="store_true", help="few seeds, small sizes, nothing is kept")
    parser.add_argument("--show", action="store_true", help="write the page from earlier results")
    parser.add_argument("--list", action="store_true", help="name the items")
    given = parser.parse_args()
    items = chosen(given.items, fast=given.fast)
    if given.list:
        print("\n".join(f"{one.name}: {one.claim}" for one in items))
        return
    failed = [] if given.show else measured(items, fast=given.fast, seeds=given.seeds)
    if not given.fast:
        _evidence.show()
        print(f"\nwritten: {_evidence.PAGE.relative_to(_evidence._tools.ROOT.parent)}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def measured(items: list[_evidence.Item], *, fast: bool, seeds: int | None) -> list[str]:
    """Run items one after the other; return the names of those that failed."""
    failed = []
    for one in items:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome = _evidence.run(one, fast=fast, seeds=seeds)
        except Exception:
            traceback.print_exc()
            outcome = "failed"
            failed.append(one.name)
        print(f"{one.name}: {outcome}", flush=True)
    return failed


if __name__ == "__main__":
    main()
