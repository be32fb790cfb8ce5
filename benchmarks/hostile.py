"""Hostile inputs: how many were tried on every tool and property, and how many fail.

`python benchmarks/hostile.py --inputs 10000` tries that many random inputs in all (`make fuzz`); `--seed` chooses
others; `--only sparda` is for one tool. The exit status is 1 where any fails, and each failure is printed as the
smallest input that hypothesis finds for it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
os.environ.setdefault("TQDM_DISABLE", "1")

from hypothesis import HealthCheck, Phase, given, seed, settings
from properties import TOOLS, cases, checks
from threadpoolctl import threadpool_limits


def tried(tool, check, count, number, phases):
    """Try a property of a tool; return the number of inputs, and the failure, if there is one."""
    n_inputs = Counter()

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=phases, suppress_health_check=list(HealthCheck))
    @given(cases)
    def holds(case):
        n_inputs["all"] += 1
        check(tool, case)

    try:
        holds()
    except Exception as error:
        notes = [note for note in getattr(error, "__notes__", []) if "Case(" in note]
        return n_inputs["all"], f"{type(error).__name__}: {str(error).strip()[:600]}\n    {' '.join(notes)[:400]}"
    return n_inputs["all"], None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=tuple(TOOLS))
    parser.add_argument("--quick", action="store_true", help="do not search for the smallest input that fails")
    asked = parser.parse_args()
    tools = {asked.only: TOOLS[asked.only]} if asked.only else TOOLS
    each = -(-asked.inputs // sum(len(checks(tool)) for tool in tools.values()))
    phases = [Phase.generate] if asked.quick else [Phase.generate, Phase.shrink]
    total, failures, start = 0, 0, time.process_time()
    print(f"{'tool':26s} {'inputs':>7s} {'failing':>8s} {'CPU s':>7s}", flush=True)
    with threadpool_limits(1):
        for name, tool in tools.items():
            began, n_inputs, failing = time.process_time(), 0, []
            for check in checks(tool):
                n, failure = tried(tool, check, each, asked.seed, phases)
                n_inputs += n
                if failure is not None:
                    failing.append(f"  {check.__name__}: {failure}")
            seconds = time.process_time() - began
            print(f"{name:26s} {n_inputs:7d} {len(failing):5d}/{len(checks(tool))} {seconds:7.1f}", flush=True)
            print("\n".join(failing) + "\n" * bool(failing), end="", flush=True)
            total, failures = total + n_inputs, failures + len(failing)
    print(f"{total:,} inputs, {failures} failing properties, {time.process_time() - start:.0f} CPU s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
