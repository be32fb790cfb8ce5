"""The command that runs the notebooks fails when one of them does."""

import subprocess
import sys

import nbformat
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("line", "code"), [("print('fine')", 0), ("1 / 0", 1)])
def test_a_notebook_that_raises_fails_the_run(tmp_path, line, code):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(line)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "some.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbmake", "some.ipynb", "-p", "no:warnings", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code, done.stdout
    assert ("ZeroDivisionError" in done.stdout) == bool(code)
