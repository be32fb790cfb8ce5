"""A page of JupyterLab, with the actions that the tests use."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import ConsoleMessage, Dialog, Locator, Page

from .contrast import worst_contrast
from .server import Server

START = 60_000
RUN = 180_000
IDLE = """() => {
    const kernel = window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel;
    return kernel?.status === 'idle';
}"""


class Lab:
    """One JupyterLab in one tab of the browser, on a fresh workspace.

    `page` is the page of playwright; `dialogs` holds the text of every alert that a page raised (there should
    be none), `errors` what scripts threw.
    """

    def __init__(self, page: Page, server: Server, pictures: Path):
        self.page = page
        self.server = server
        self.pictures = pictures
        self.dialogs: list[str] = []
        self.errors: list[str] = []
        self.console: list[str] = []
        page.on("dialog", self._note_dialog)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note_console)

    def _note_dialog(self, dialog: Dialog) -> None:
        # JupyterLab asks before unload; every other dialog of the browser is a script that should not have run
        if dialog.type != "beforeunload":
            self.dialogs.append(dialog.message)
        dialog.accept()

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.console.append(message.text)

    # -- JupyterLab itself ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Load JupyterLab on an empty workspace and wait until it is ready."""
        address = f"{self.server.url}/lab/workspaces/{uuid.uuid4().hex}?token={self.server.token}"
        self.page.goto(address)
        self.page.wait_for_selector("body", state="attached")
        self.page.wait_for_function("() => window.jupyterapp !== undefined", timeout=START)
        self.page.evaluate("() => window.jupyterapp.restored.then(() => null)")
        self.page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=START)
        # an empty workspace opens the launcher last; later it would take the focus from what a test has opened
        self.page.wait_for_selector(".jp-Launcher", timeout=START)

    def execute(self, command: str, args: dict[str, Any] | None = None) -> None:
        """Run a command of JupyterLab and wait until it is done."""
        self.page.evaluate(
            "([id, args]) => window.jupyterapp.commands.execute(id, args).then(() => null)", [command, args or {}]
        )

    def start_command(self, command: str, args: dict[str, Any] | None = None) -> None:
        """Run a command of JupyterLab without waiting for its end."""
        self.page.evaluate("([id, args]) => { window.jupyterapp.commands.execute(id, args); }", [command, args or {}])

    def theme(self, name: str) -> None:
        """Change the theme: "JupyterLab Light" or "JupyterLab Dark"."""
        self.execute("apputils:change-theme", {"theme": name})
        light = str(name != "JupyterLab Dark").lower()
        self.page.wait_for_selector(f"body[data-jp-theme-light='{light}']", state="attached", timeout=START)

    # -- notebooks -----------------------------------------------------------------------------------------------------

    def write_notebook(self, cells: Sequence[str], name: str = "test.ipynb", *, kernel: str = "python3") -> str:
        """Write a notebook of code cells into the folder of the server and return its path there."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
        nbformat.write(notebook, self.server.folder / name)
        return name

    def open(self, path: str) -> None:
        """Open a file of the server's folder; for a notebook, wait until its kernel is ready."""
        self.execute("docmanager:open", {"path": path})
        if path.endswith(".ipynb"):
            self.wait_idle()

    def open_notebook(self, cells: Sequence[str], name: str = "test.ipynb", *, run: bool = True) -> None:
        """Write a notebook, open it and run all its cells."""
        self.open(self.write_notebook(cells, name))
        if run:
            self.run_all()

    def run_all(self, timeout: float = RUN) -> None:
        """Run every cell of the active notebook and wait until the kernel is idle again."""
        self.page.set_default_timeout(timeout)
        self.execute("notebook:run-all-cells")
        self.wait_idle(timeout)

    def wait_idle(self, timeout: float = RUN) -> None:
        """Wait until the kernel of the active notebook has nothing to do."""
        self.page.wait_for_function(IDLE, timeout=timeout)

    def save(self) -> None:
        """Save the active notebook."""
        self.execute("docmanager:save")

    def sources(self) -> list[str]:
        """The sources of the cells of the active notebook."""
        return self.page.evaluate(
            "() => [...window.jupyterapp.shell.currentWidget.content.model.cells].map(c => c.sharedModel.getSource())"
        )

    def cell(self, index: int) -> Locator:
        """A cell of the active notebook, by its index."""
        return self.page.locator(f".jp-NotebookPanel:visible .jp-Notebook .jp-Cell[data-windowed-list-index='{index}']")

    def output(self, index: int) -> Locator:
        """The output of a cell."""
        return self.cell(index).locator(".jp-Cell-outputArea")

    # -- looking -------------------------------------------------------------------------------------------------------

    def screenshot(self, name: str, locator: Locator | None = None) -> Path:
        """Save a picture of the page, or of a part of it, under build/browser."""
        path = self.pictures / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        (locator or self.page).screenshot(path=path)
        return path

    def worst_contrast(self, locator: Locator) -> tuple[float, str]:
        """The smallest contrast of any text within an element, and that text (4.5 is WCAG's AA)."""
        return worst_contrast(locator)
