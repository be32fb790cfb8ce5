"""Real data with a null beside every finding: python benchmarks/real.py [part …] [--seeds N].

Every part is a module `_real_<part>.py` with a function `report(seeds)`. The data are taken from the folder in
DIFFNB_DATA (by default ../shared/data) and are not part of the project.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

HELPERS = ("cells",)
PARTS = sorted(
    name for f in Path(__file__).parent.glob("_real_*.py") if (name := f.stem.removeprefix("_real_")) not in HELPERS
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=PARTS)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    for part in given.parts or PARTS:
        import_module(f"_real_{part}").report(given.seeds)


if __name__ == "__main__":
    main()
