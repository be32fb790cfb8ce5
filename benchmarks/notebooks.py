"""Time, memory and size of the notebooks: python benchmarks/notebooks.py [--binder] [name …].

Every notebook in `notebooks/` (or those whose name contains a given one) is run in a kernel of its own, and left as it
is. Memory is that of the kernel and of what it started, where pages that several share count once, as they do for the
limit of a container; it is looked at ten times a second, beside the resident peak that the system counted for the
kernel alone. With `--binder` kernels have the environment that `binder/start` sets.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

import nbformat
import psutil
from _tools import ROOT, save, table
from nbclient import NotebookClient

FOLDER = ROOT.parent / "notebooks"


class Watch(threading.Thread):
    """Look at a process and its children until told to stop."""

    def __init__(self, pid: int, every: float = 0.1) -> None:
        super().__init__(daemon=True)
        self.process, self.every = psutil.Process(pid), every
        self.peak, self.cpu = 0, 0.0
        self.over = threading.Event()

    def run(self) -> None:
        """Keep the highest sum of memory, and the processor time of all that were seen."""
        spent: dict[int, float] = {}
        while not self.over.wait(self.every):
            memory = 0
            try:
                family = [self.process, *self.process.children(recursive=True)]
            except psutil.NoSuchProcess:
                return
            for member in family:
                try:
                    memory += _memory(member)
                    spent[member.pid] = sum(member.cpu_times()[:2])
                except psutil.NoSuchProcess:
                    continue
            self.peak, self.cpu = max(self.peak, memory), sum(spent.values())


def _memory(process: psutil.Process) -> int:
    found = process.memory_full_info()
    return int(getattr(found, "pss", found.rss))


def high_water(pid: int) -> float:
    """Peak of resident memory that the system counted, in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def environment_of(script: Path) -> dict[str, str]:
    """Return the variables that a script exports."""
    return dict(re.findall(r"^export (\w+)=(\S+)$", script.read_text(encoding="utf-8"), re.M))


def measured(path: Path) -> dict[str, Any]:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=1800, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    )
    row: dict[str, Any] = {"notebook": path.name, "size_mb": path.stat().st_size / 1e6}
    start = time.perf_counter()
    with client.setup_kernel():
        pid = client.km.provisioner.pid
        watch = Watch(pid)
        watch.start()
        try:
            for number, cell in enumerate(notebook.cells):
                client.execute_cell(cell, number)
            row["status"] = "ran"
        except Exception as error:
            row["status"] = f"failed in cell {number}: {type(error).__name__}"
        row |= {"wall": time.perf_counter() - start, "kernel_peak_mb": high_water(pid)}
        watch.over.set()
        watch.join()
    return row | {"cpu": watch.cpu, "tree_peak_mb": watch.peak / 2**20}


def main() -> None:
    # the kernel runs this checkout, whatever is installed
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT.parent), os.environ.get("PYTHONPATH", "")])
    asked = [argument for argument in sys.argv[1:] if argument != "--binder"]
    if "--binder" in sys.argv:
        os.environ |= environment_of(ROOT.parent / "binder" / "start")
    paths = [p for p in sorted(FOLDER.glob("*.ipynb")) if not asked or any(name in p.name for name in asked)]
    rows = []
    for path in paths:
        rows.append(measured(path))
        print(f"  {path.name}: {rows[-1]['status']}", file=sys.stderr, flush=True)
    head = ["notebook", "status", "wall, s", "CPU, s", "kernel and children, MB", "kernel alone, MB", "file, MB"]
    keys = ("notebook", "status", "wall", "cpu", "tree_peak_mb", "kernel_peak_mb", "size_mb")
    cells = [[f"{row[k]:.2f}" if k == "size_mb" else _whole(row[k]) for k in keys] for row in rows]
    table("Notebooks", head, cells)
    save("notebooks", {"rows": rows})


def _whole(value: Any) -> str:
    return f"{value:.0f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
