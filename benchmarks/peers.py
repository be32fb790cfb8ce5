"""diffnb beside other packages, on data of which the truth is known: python benchmarks/peers.py.

Two conditions of 1000 observations; 40 features correlated in B only, 40 in both, 30 shifted, 20 wider, the rest noise
(`_truth.py`); Gaussian, or counts that most methods get log-normalised. Every method (`_peers.py`) runs in a process
of its own, with a limit on its processor time; what fails, is not installed or takes too long says so in the table.
AUROC and AUPRC are those of a kind against noise: for features connected in both conditions .5 is right, for the kinds
that a method does not ask about, too.

Peers are installed with `pip install -r benchmarks/requirements-peers.txt`, here or in an environment of their own:
`--python /path/to/it/bin/python` runs them there (diffnb itself always runs here). `--ratio` only takes the processor
time of the scorecard beside that of scanpy's Wilcoxon. Results go to `benchmarks/results/peers.json`; parts that are
run one by one (`--only`, `--p`, `--flavours`) replace what they measured and keep the rest, and `--show` shows all of
them in short.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from _peers import METHODS
from _tools import ROOT, table
from _truth import FLAVOURS, SIZES

N_OBS = 1000
OURS = ("scorecard", "DiSC", "DiSC, within", "SPARDA", "Fisher z, plain")
#: a process that waits instead of working ends after this many times its limit
PATIENCE = 4
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def in_a_process(python: str, asked: dict[str, Any], limit: int, threads: int | None) -> dict[str, Any]:
    """Run `_peers.py` with a limit on processor time and return what it wrote."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT.parent), os.environ.get("PYTHONPATH", "")])}
    if threads is not None:
        environment |= dict.fromkeys(THREADS, str(threads))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        command = [python, str(ROOT / "_peers.py"), json.dumps(asked | {"out": str(out), "limit": limit})]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=PATIENCE * limit, cwd=folder
            )
        except subprocess.TimeoutExpired:
            return {"status": f"more than {PATIENCE * limit} s"}
        if out.exists():
            return json.loads(out.read_text(encoding="utf-8"))
        if done.returncode == -24:  # SIGXCPU
            return {"status": f"more than {limit} s of processor time"}
        return {"status": f"ended with {done.returncode}: {done.stderr.strip()[-150:]}"}


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for flavour in options.flavours:
        for p in options.p:
            for name in options.only or METHODS:
                python = sys.executable if name in OURS else options.python
                before = len(rows)
                for seed in range(options.first, options.first + (options.seeds if p < 10_000 else 1)):
                    case = {"name": name, "flavour": flavour, "n": N_OBS, "p": p, "seed": seed}
                    result = in_a_process(python, {"run": case}, options.limit, options.threads)
                    rows.append(case | result)
                    print(f"  {flavour}, p = {p}, {name}, seed {seed}: {result['status']}", file=sys.stderr, flush=True)
                    if result["status"] != "ran":
                        break  # another seed would say the same
                keep(rows[before:], [])
    return rows


def summary(rows: list[dict[str, Any]], flavour: str, p: int) -> tuple[list[list[Any]], list[list[Any]]]:
    """Medians over seeds: what every answer is worth, and what every method costs."""
    worth, cost = [], []
    for name in METHODS:
        runs = [r for r in rows if (r["name"], r["flavour"], r["p"]) == (name, flavour, p)]
        ran = [r for r in runs if r["status"] == "ran"]
        if runs and not ran:
            cost.append([name, runs[0]["status"], "", ""])
        if not ran:
            continue
        cost.append([name, *(f"{median(r[key] for r in ran):.2f}" for key in ("wall", "cpu"))])
        cost[-1].append(f"{median(r['peak_mb'] for r in ran):.0f} ({median(r['before_mb'] for r in ran):.0f})")
        for place, answer in enumerate(ran[0]["answers"]):
            answers = [r["answers"][place] for r in ran]
            label = f"{name}: {answer['answer']}"
            scores = [_median(answers, "auroc", kind) for kind in SIZES]
            precision = [_median(answers, "auprc", kind) for kind in ("connected", "mean", "variance")]
            called = [_median(answers, "called", kind) for kind in ("connected", "shared", "noise")]
            if any(scores):
                worth.append([label, *scores, " / ".join(x or "-" for x in precision), " / ".join(called)])
    return worth, cost


def _median(answers: list[dict[str, Any]], what: str, kind: str) -> str:
    values = [a[what][kind] for a in answers if kind in a[what]]
    return f"{median(values):.3f}" if values else ""


def compact(rows: list[dict[str, Any]], flavour: str) -> tuple[list[str], list[list[str]]]:
    """Medians over seeds, a row an answer: AUROC of all kinds at every size."""
    sizes = _sizes(rows, flavour)
    lines = []
    for name in METHODS:
        runs = {p: [r for r in rows if (r["name"], r["flavour"], r["p"]) == (name, flavour, p)] for p in sizes}
        ran = {p: [r for r in runs[p] if r["status"] == "ran"] for p in sizes}
        first = next((r for p in sizes for r in ran[p]), None)
        for place, answer in enumerate(first["answers"] if first else []):
            if answer["auroc"]:
                # a bar would end the cell
                label = f"{name}: {answer['answer']}".replace("|weight|", "absolute weight")
                cells = [_compact_cell(runs[p], [r["answers"][place] for r in ran[p]]) for p in sizes]
                lines.append([label.replace("|score|", "absolute score"), *cells])
    return ["method: answer", *(f"{p:,}" for p in sizes)], lines


def costs(rows: list[dict[str, Any]], flavour: str) -> tuple[list[str], list[list[str]]]:
    """Medians over seeds, a row a method: processor seconds, and memory above what was held before, at every size."""
    sizes = _sizes(rows, flavour)
    lines = []
    for name in METHODS:
        runs = [r for r in rows if (r["name"], r["flavour"], r["status"]) == (name, flavour, "ran")]
        ran = [[r for r in runs if r["p"] == p] for p in sizes]
        if runs:
            lines.append([name, *(_cost(r, what) for what in (_cpu, _memory) for r in ran)])
    return ["method", *(f"CPU s, {p:,}" for p in sizes), *(f"MB, {p:,}" for p in sizes)], lines


def _sizes(rows: list[dict[str, Any]], flavour: str) -> list[int]:
    return sorted({r["p"] for r in rows if r["flavour"] == flavour})


def _compact_cell(runs: list[dict[str, Any]], answers: list[dict[str, Any]]) -> str:
    if not answers:
        return runs[0]["status"] if runs else ""
    scores = [[a["auroc"][kind] for a in answers if kind in a["auroc"]] for kind in SIZES]
    # spaces that do not break: four numbers belong together
    return "\N{NO-BREAK SPACE}".join(f"{median(v):.2f}".removeprefix("0") if v else "·" for v in scores)


def _cost(ran: list[dict[str, Any]], what: Callable[[dict[str, Any]], float]) -> str:
    value = median(map(what, ran)) if ran else None
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 9.95 or what is _memory else f"{value:.1f}" if value >= 0.095 else f"{value:.2f}"


def _cpu(run: dict[str, Any]) -> float:
    return run["cpu"]


def _memory(run: dict[str, Any]) -> float:
    return max(0.0, run["peak_mb"] - run["before_mb"])


def extras(rows: list[dict[str, Any]]) -> list[list[Any]]:
    """Return what does not fit a score per feature: groups, numbers of features, single p-values."""
    return [
        [r["flavour"], r["p"], r["name"], r["seed"], f"{answer['answer']}, {key}", value]
        for r in rows
        if r["status"] == "ran"
        for answer in r["answers"]
        for key, value in answer["extra"].items()
    ]


def ratios(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Processor time of the scorecard over that of scanpy's Wilcoxon, with one thread and as it comes."""
    found = []
    for flavour in ("gaussian", "counts", "counts, sparse"):
        for threads in (1, None):
            case = {"flavour": flavour, "n": N_OBS, "p": 2000, "repeats": options.repeats}
            result = in_a_process(sys.executable, {"ratio": case}, options.limit, threads)
            found.append({"flavour": flavour, "threads": threads or "as is"} | result)
    return found


def keep(rows: list[dict[str, Any]], turns: list[dict[str, Any]]) -> None:
    """Write new rows in the place of earlier ones of the same method, flavour and size."""
    path = ROOT / "results" / "peers.json"
    previous = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": [], "ratios": []}
    measured = {(r["name"], r["flavour"], r["p"]) for r in rows}
    others = [r for r in previous["rows"] if (r["name"], r["flavour"], r["p"]) not in measured]
    path.parent.mkdir(exist_ok=True)
    results = {"rows": others + rows, "ratios": turns or previous["ratios"]}
    path.write_text(json.dumps(results, indent=1, default=float), encoding="utf-8")


def show() -> None:
    """Show what all runs so far have left, also those of parts."""
    rows = json.loads((ROOT / "results" / "peers.json").read_text(encoding="utf-8"))["rows"]
    for flavour in FLAVOURS:
        table(f"{flavour}: AUROC of {', '.join(SIZES)} by number of features", *compact(rows, flavour))
        table(f"{flavour}: cost by number of features", *costs(rows, flavour))
    groups = [row for row in extras(rows) if not isinstance(row[-1], dict)]
    table("Beside the scores", ["flavour", "p", "method", "seed", "what", "value"], groups)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--p", type=int, nargs="+", default=[500, 2000, 10_000], help="numbers of features")
    parser.add_argument("--flavours", nargs="+", default=list(FLAVOURS), choices=FLAVOURS)
    parser.add_argument("--only", nargs="+", choices=list(METHODS), metavar="METHOD", help="; ".join(METHODS))
    parser.add_argument("--seeds", type=int, default=3, help="data sets of each size; one at 10,000 features")
    parser.add_argument("--first", type=int, default=0, help="seed of the first data set")
    parser.add_argument("--limit", type=int, default=600, help="processor seconds for one run")
    parser.add_argument("--threads", type=int, help="threads of BLAS and numba; as they come by default")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--repeats", type=int, default=5, help="turns of the scorecard and Wilcoxon")
    parser.add_argument("--ratio", action="store_true", help="only the time beside Wilcoxon")
    parser.add_argument("--show", action="store_true", help="measure nothing; show all that was, in short")
    options = parser.parse_args()
    if options.show:
        show()
        return
    rows = [] if options.ratio else measure(options)
    for flavour in options.flavours:
        for p in options.p if rows else ():
            worth, cost = summary(rows, flavour, p)
            head = ["method: answer", *(f"AUROC {k}" for k in SIZES), "AUPRC connected / mean / variance"]
            table(f"{flavour}, p = {p}", [*head, "called: connected / shared / noise"], worth)
            table(f"{flavour}, p = {p}: cost", ["method", "wall, s", "CPU, s", "peak (before), MB"], cost)
    if rows:
        table("Beside the scores", ["flavour", "p", "method", "seed", "what", "value"], extras(rows))
    turns = ratios(options) if options.ratio or not options.only else []
    if turns:
        head = ["flavour", "threads", "scorecard, CPU s", "Wilcoxon, CPU s", "ratio", "lowest", "highest"]
        keys = ("scorecard", "wilcoxon", "ratio", "lowest", "highest")
        cells = [[t["flavour"], t["threads"], *(t.get(k, t.get("status")) for k in keys)] for t in turns]
        table("The scorecard beside scanpy's Wilcoxon, p = 2000", head, cells)
    keep([], turns)
    print("\nwritten: benchmarks/results/peers.json")


if __name__ == "__main__":
    main()
