"""The frame of `evidence.py`: what an item is, how it is run and kept, and how the page is written from the results.

An item is a claim of a paper with what the paper reports, what the authors' public code gave where it was run on the
same data, a function that measures ours, and the rule by which that counts as reproduced. The rule stands beside the
result, so that readers can judge the judgement.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import _tools
import numpy as np

Verdict: TypeAlias = Literal["reproduced", "partly", "not", "ours"]

PAGE = _tools.ROOT.parent / "docs" / "validation" / "evidence.md"
RESULTS = _tools.ROOT / "results" / "evidence"
MARKED = re.compile(r"(?P<open><!-- evidence: (?P<what>\w+) -->\n).*?(?P<close><!-- /evidence -->)", re.DOTALL)
#: seeds start here: no default was settled on data of these seeds
FRESH = 5000
#: "ours" is a property of this implementation that no paper claims
VERDICTS: tuple[Verdict, ...] = ("reproduced", "partly", "not", "ours")
TITLES = {"disc": "DiSC", "sparda": "PDA and SPARDA", "dufs": "DUFS", "informed": "Informed distance"}


@dataclass(frozen=True, slots=True)
class Run:
    """The seeds of a run, and whether it is a small one."""

    seeds: Sequence[int]
    fast: bool = False

    def first(self, count: int) -> Sequence[int]:
        """Return a few of the seeds, for what takes long."""
        return self.seeds[:count]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was measured: values over seeds by name, the verdict, and what differs from the paper."""

    values: Mapping[str, Sequence[float]]
    verdict: Verdict
    differs: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """A claim and how it is measured."""

    name: str
    claim: str
    paper: str
    rule: str
    work: Callable[[Run], Finding] = field(repr=False)
    authors: str = ""
    #: number of seeds, and of a fast run; no fast run where it is 0
    seeds: int = 5
    fast: int = 0

    @property
    def method(self) -> str:
        """The method whose paper it belongs to, the first part of the name."""
        return self.name.split(".")[0]


ITEMS: dict[str, Item] = {}


def item(name: str, **described: Any) -> Callable[[Callable[[Run], Finding]], Callable[[Run], Finding]]:
    """Register a function as an item."""

    def register(work: Callable[[Run], Finding]) -> Callable[[Run], Finding]:
        if name in ITEMS or name.split(".")[0] not in TITLES:
            raise ValueError(f"{name!r} is taken, or does not begin with one of {', '.join(TITLES)}.")
        ITEMS[name] = Item(name=name, work=work, **described)
        return work

    return register


def judged(reproduced: bool, partly: bool = False) -> Verdict:
    """Return the verdict of two conditions."""
    return "reproduced" if reproduced else "partly" if partly else "not"


def measure(one: Item, *, fast: bool = False, seeds: int | None = None) -> Finding:
    """Run an item on its seeds."""
    found = one.work(Run(range(FRESH, FRESH + n_seeds(one, fast, seeds)), fast))
    if found.verdict not in VERDICTS:
        raise ValueError(f"{one.name}: {found.verdict!r} is no verdict.")
    return found


def n_seeds(one: Item, fast: bool, seeds: int | None) -> int:
    """Return the number of seeds of a run: that of the item, unless another is asked for."""
    if seeds is not None:
        return seeds
    return one.fast if fast else one.seeds


def run(one: Item, *, fast: bool = False, seeds: int | None = None, folder: Path = RESULTS) -> str:
    """Measure an item, keep it unless the run is a fast one, and return in a few words how it went."""
    start = time.perf_counter()
    try:
        found = measure(one, fast=fast, seeds=seeds)
    except _tools.Missing as missing:
        return f"skipped: {missing}"
    except FileNotFoundError as error:
        if not _tools.is_missing_data(error):
            raise
        return f"skipped: {error}"
    minutes = round((time.perf_counter() - start) / 60, 1)
    if not fast:
        save(one, found, minutes, n_seeds(one, fast, seeds), folder)
    return f"{found.verdict} in {minutes} min: {shown(found.values)}"


def save(one: Item, found: Finding, minutes: float, seeds: int, folder: Path = RESULTS) -> None:
    """Write what an item found, with all that the page says about it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{one.name}.json"
    text = json.dumps(
        {**_described(one), **asdict(found), "seeds": seeds, "minutes": minutes},
        indent=1,
        ensure_ascii=False,
        default=_plain,
    )
    path.write_text(text + "\n", encoding="utf-8")


def _described(one: Item) -> dict[str, Any]:
    return {"name": one.name, "claim": one.claim, "paper": one.paper, "authors": one.authors, "rule": one.rule}


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else list(value)


def kept(folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """Return the results of earlier runs, by item."""
    found = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json")))
    return {one["name"]: one for one in found}


# --- the page -----------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Write a number as the docs do, three digits and no zero before the point."""
    if not np.isfinite(value):
        return str(value)
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e5):
        return f"{value:.1e}"
    text = f"{value:.0f}" if abs(value) >= 100 or float(value).is_integer() else f"{value:.3g}"
    return re.sub(r"^(-?)0\.", r"\1.", text)


def shown(values: Mapping[str, Sequence[float]]) -> str:
    """Write values as name, median and range."""
    parts = []
    for name, some in values.items():
        some = np.atleast_1d(np.asarray(some, dtype=float))
        low, mid, high = (number(float(v)) for v in (some.min(), np.median(some), some.max()))
        parts.append(f"{name} {mid}" if low == high else f"{name} {mid} ({low}–{high})")
    return "; ".join(parts)


def counts(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Table of verdicts by method."""
    head = ["", "reproduced", "partly", "not", "no claim of the paper"]
    rows = []
    for method, title in TITLES.items():
        mine = [one["verdict"] for name, one in found.items() if name.split(".")[0] == method]
        rows.append([title, *(str(mine.count(v)) for v in VERDICTS)])
    rows.append(["*all*", *(str(sum(int(row[i]) for row in rows)) for i in range(1, 5))])
    return "\n" + "\n".join(_tools.markdown_rows(head, rows)) + "\n\n"


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """Table of the verdicts of a method, and below it what stands behind each."""
    rows = [[f"`{one['name']}`", one["claim"].replace("|", "\\|"), one["verdict"]] for one in found]
    lines = [*_tools.markdown_rows(["item", "claim", "verdict"], rows), ""]
    for one in found:
        lines += [f"**`{one['name']}`**: {one['verdict']}.", ""]
        parts = {
            "Paper": one["paper"],
            "Authors' code": one["authors"],
            f"diffnb, median (range), {one['seeds']} seed{'s' * (one['seeds'] > 1)}": shown(one["values"]),
            "Rule": one["rule"],
            "What differs": one["differs"].rstrip("."),
        }
        lines += [f"- {name}: {text}." for name, text in parts.items() if text] + [""]
    return "\n" + "\n".join(lines) + "\n"


def filled(text: str, folder: Path = RESULTS) -> str:
    """Return the text of the page with its tables written from the results."""
    found = kept(folder)

    def replaced(match: re.Match[str]) -> str:
        what = match["what"]
        mine = [one for name, one in found.items() if name.split(".")[0] == what]
        body = counts(found) if what == "counts" else table(mine)
        return match["open"] + body + match["close"]

    return MARKED.sub(replaced, text)


def show(folder: Path = RESULTS, page: Path = PAGE) -> None:
    """Write the page from the results."""
    page.write_text(filled(page.read_text(encoding="utf-8"), folder), encoding="utf-8")
