"""What the benchmarks share: interleaved timing, tables, JSON, peak memory."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent
os.environ.setdefault("TQDM_DISABLE", "1")  # bars of many small problems would bury the tables
sys.path.insert(0, str(ROOT.parent / "tests"))  # the plain reference live with the tests

#: real data for checks, which is not part of the project
DATA = Path(os.environ.get("DIFFNB_DATA", ROOT.parent.parent / "shared" / "data"))


def interleaved(tasks: dict[str, Callable[[], object]], repeats: int = 5) -> dict[str, float]:
    """Median seconds of each task, run in turn so that a noisy moment hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            times[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in times.items()}


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table that pastes into Markdown."""
    print(f"\n## {title}\n")
    cells = [[_cell(c) for c in row] for row in rows]
    widths = [max(len(h), *(len(r[i]) for r in cells)) if cells else len(h) for i, h in enumerate(head)]
    print("| " + " | ".join(h.ljust(w) for h, w in zip(head, widths, strict=True)) + " |")
    print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    for row in cells:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |")
    sys.stdout.flush()


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1e-3 else f"{value:.3f}"
    return str(value)


def save(name: str, results: Any) -> None:
    """Write results as JSON beside the benchmarks."""
    folder = ROOT / "results"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1, default=float))
    print(f"\nwritten: benchmarks/results/{name}.json")


def peak_gigabytes() -> float:
    """Highest resident memory of this process so far; its own, where the system's other count has its parent's, too."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20
    import resource

    unit = 2**30 if sys.platform == "darwin" else 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
