"""What the benchmarks share: data, interleaved timing, tables, JSON, peak memory."""

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
#: further real data, on which no rule was chosen
MORE_DATA = Path(os.environ.get("DIFFNB_MORE_DATA", ROOT.parent.parent / "shared" / "more_data"))
#: lists that get every table that is printed while they are here
RECORDERS: list[list[dict[str, Any]]] = []


class Missing(Exception):
    """Something that a part of a benchmark needs is not on this machine."""


def data_file(*path: str) -> Path:
    """Return a file or folder in DIFFNB_DATA, or say that it is not there."""
    return _existing(DATA.joinpath(*path), "DIFFNB_DATA")


def more_data_file(*path: str) -> Path:
    """Return a file or folder in DIFFNB_MORE_DATA, or say that it is not there."""
    return _existing(MORE_DATA.joinpath(*path), "DIFFNB_MORE_DATA")


def _existing(path: Path, variable: str) -> Path:
    if not path.exists():
        raise Missing(f"no {path}; name the folder of the data in {variable}")
    return path


def is_missing_data(error: Exception) -> bool:
    """Return whether a file was not there that would be in one of the folders of real data."""
    return isinstance(error, FileNotFoundError) and any(str(folder) in str(error) for folder in (DATA, MORE_DATA))


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
    """Print a table that pastes into Markdown, and hand it to whoever records tables."""
    cells = [[_cell(c) for c in row] for row in rows]
    for recorder in RECORDERS:
        recorder.append({"title": title, "head": list(head), "rows": cells})
    print(f"\n## {title}\n")
    print("\n".join(markdown_rows(head, cells, padded=True)))
    sys.stdout.flush()


def markdown_rows(head: Sequence[str], cells: Sequence[Sequence[str]], *, padded: bool = False) -> list[str]:
    """Return the lines of a Markdown table, with columns of equal width where it is read as text."""
    if not padded:
        return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *cells)]
    widths = [max(len(h), *(len(r[i]) for r in cells)) if cells else len(h) for i, h in enumerate(head)]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    lines = [" | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in (head, *cells)]
    return [f"| {lines[0]} |", rule, *(f"| {line} |" for line in lines[1:])]


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
