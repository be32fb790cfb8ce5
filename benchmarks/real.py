"""Real data with a null beside every finding: python benchmarks/real.py [part …] [--seeds N] [--quick] [--show].

Without names, every part runs, one after the other. A part is a module `_real_<part>.py` with a function
`report(seeds)`, or `report(seeds, quick)`, whose tables are printed and written to benchmarks/results/real. `--show`
runs nothing: it writes the tables of those results into the pages of the docs, between markers. `--quick` takes one
seed and the smallest form of every part, to see that all of them work, and leaves the results of full runs alone.

The data are taken from the folder in DIFFNB_DATA (by default ../shared/data), further sets that no rule was chosen on
from the folder in DIFFNB_MORE_DATA. They are not part of the project, and parts whose data are absent are skipped.
docs/validation/real_data.md says where to get them.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import time
import traceback
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import _record
from _tools import Missing, is_missing_data

HELPERS = ("cells", "data")
PARTS = sorted(
    name for f in Path(__file__).parent.glob("_real_*.py") if (name := f.stem.removeprefix("_real_")) not in HELPERS
)
QUICK = _record.RESULTS.parent / "real_quick"


def run(part: str, seeds: int, *, quick: bool) -> str:
    """Run a part, keep its tables and return in a few words how it went."""
    start = time.perf_counter()

    def minutes() -> float:
        return round((time.perf_counter() - start) / 60, 1)

    def keep(tables: list[dict[str, Any]]) -> None:
        facts = {"part": part, "seeds": seeds, "quick": quick, "minutes": minutes()}
        _record.save(part, tables, facts, QUICK if quick else _record.RESULTS)

    try:
        report = import_module(f"_real_{part}").report
        takes_quick = "quick" in inspect.signature(report).parameters
        chosen = {"quick": quick} if takes_quick else {}
        tables = _record.recorded(partial(report, seeds, **chosen), keep)
    except Missing as missing:
        return f"skipped: {missing}"
    except Exception as error:
        if is_missing_data(error):
            return f"skipped: {error}"
        traceback.print_exc()
        return "failed"
    return f"{len(tables)} tables in {minutes()} min"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one seed, the smallest form of every part")
    parser.add_argument("--show", action="store_true", help="write the tables of earlier runs into the docs")
    given = parser.parse_args()
    if given.show:
        _record.show()
        return
    outcomes = {}
    for part in given.parts or PARTS:
        print(f"\n# {part}", flush=True)
        outcomes[part] = run(part, 1 if given.quick else given.seeds, quick=given.quick)
        print(f"\n{part}: {outcomes[part]}", flush=True)
    print("\n# All parts\n")
    for part, outcome in outcomes.items():
        print(f"{part}: {outcome}")
    if "failed" in outcomes.values():
        sys.exit(1)


if __name__ == "__main__":
    main()
