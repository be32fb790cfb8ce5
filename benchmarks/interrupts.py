"""Interrupt every function of `tl` and `pp` at random, and count what is left half done.

    python benchmarks/interrupts.py --n 2400

A quarter of the interrupts each comes by a signal, from another thread, before a random instruction of the functions
that store results, and before one of those that set limits on threads. Afterwards the AnnData must hold either what
it held before or all of the new results, libraries must have the threads that they had, and the next call must work.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from interruptions import CALLS, KINDS, Case


def main() -> None:
    """Interrupt, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=2400, help="interrupts in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(CALLS), choices=list(CALLS), metavar="FUNCTION")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    each = max(1, -(-options.n // (len(options.only) * len(KINDS))))
    total: Counter[str] = Counter()
    print(f"{'function':22s} {'kind':9s} {'tried':>6s} {'during':>7s} {'faults':>7s}")
    for name in options.only:
        case = Case.of(name)
        for kind in KINDS:
            n_during = n_faults = 0
            for _ in range(each):
                faults, during = case.interrupt(kind, rng)
                n_during += during
                n_faults += bool(faults)
                for fault in faults:
                    print(f"  {name} {kind}: {fault}", flush=True)
            total += Counter(tried=each, during=n_during, faults=n_faults)
            print(f"{name:22s} {kind:9s} {each:6d} {n_during:7d} {n_faults:7d}", flush=True)
    print(f"{total['tried']} tried, {total['during']} came during the call, {total['faults']} left a fault")
    sys.exit(bool(total["faults"]))


if __name__ == "__main__":
    main()
