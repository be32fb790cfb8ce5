"""Execute the notebooks in place: python notebooks/execute.py [name …].

What is committed is what a reader should see: progress bars, their widget state and the times of execution
are taken out again.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent


def is_progress(output) -> bool:
    """Say whether an output is a progress bar, as a widget or as text on stderr."""
    data = output.get("data", {})
    return output.get("name") == "stderr" or "application/vnd.jupyter.widget-view+json" in data


def processor_seconds() -> float:
    """Return what kernels that have ended, and their child processes, spent."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def execute(path: Path) -> None:
    """Run a notebook from its own folder and write it back without what passes."""
    notebook = nbformat.read(path, as_version=4)
    before = processor_seconds()
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}).execute()
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not is_progress(output)]
    nbformat.write(notebook, path)
    spent = processor_seconds() - before
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, {spent:.0f} processor seconds", flush=True)


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not sys.argv[1:] or any(name in path.name for name in sys.argv[1:]):
            execute(path)
