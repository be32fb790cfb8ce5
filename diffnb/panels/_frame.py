"""The frame of all panels: controls, Run and Stop, progress, tabs, code.

A panel says which controls it has, which calls they make and draw, and what its tabs show; everything else is here,
and in `_pictured` how it leaves a picture where nothing is alive.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import ipywidgets as widgets
from anndata import AnnData

from .._anndata import adopt, light_copy
from .._validate import tables_in_memory
from ._calls import Call, literal, name_of
from ._controls import Control, describe
from ._pictured import Pictured
from ._pictures import draw, mark_in_base64
from ._views import CodeView, Picture, Status
from ._work import Outcome, Worker, on_main


class Panel(Pictured):
    """A panel on an AnnData; the methods' own panels derive from it."""

    #: whether there is something to run
    runs: ClassVar[bool] = True
    #: the function whose docs describe the controls, as lines name it
    tool: ClassVar[str] = ""

    def __init__(self, adata: AnnData, **given: Any) -> None:
        if not isinstance(adata, AnnData):
            raise TypeError(f"a panel needs an AnnData, got {type(adata).__name__}.")
        tables_in_memory(adata)
        self.adata = adata
        self.prepare_picture()
        #: the last run, and by key of its results every call whose results are there
        self._ran: list[Call] = []
        self._made: dict[str, Call] = {}
        self._stale: set[str] = set()
        self._worker = Worker(self._on_progress, self._on_outcome)
        self.status = Status(mark=mark_in_base64(self._mark), message="Ready.")
        self.controls: dict[str, Control] = {c.name: c for c in self.make_controls(given)}
        if self.tool:
            describe(list(self.controls.values()), Call(self.tool).function)
        self.code_view = CodeView()
        self.pictures: dict[str, Picture] = {}
        self.tab_names: list[str] = []
        tabs = {**self.make_tabs(), "Code": self.code_view}
        self.tab_names = list(tabs)
        self.tabs = widgets.Tab(children=list(tabs.values()), titles=self.tab_names)
        super().__init__([self._head(), *self._settings(), self.tabs])
        self.add_class("diffnb-panel")
        self._listen()
        self.refresh()

    # ---- what a panel says of itself ----

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make the controls, with what the caller gave."""
        return []

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs, each a widget."""
        return {}

    def calls(self) -> list[Call]:
        """Return what Run runs."""
        return []

    def read(self) -> list[Call]:
        """Return the calls that read the tables on screen."""
        return []

    def has_results(self) -> bool:
        """Whether there is something to show."""
        return False

    def shown_keys(self) -> list[str]:
        """Return the keys of `adata.uns` whose results are on screen."""
        return []

    def show(self) -> None:
        """Fill the tabs that are no pictures."""

    def more_lines(self, adata: str) -> list[str]:
        """Return lines for what was done by hand: a selection that was saved, say."""
        return []

    # ---- for the panels ----

    def picture(self, name: str) -> Picture:
        """Make a place for a picture, which is drawn when its tab is opened."""
        self.pictures[name] = Picture()
        return self.pictures[name]

    def settings(self, *names: str) -> dict[str, Any]:
        """Return the values of controls by the name of the argument, all of them by default."""
        return {name: self.controls[name].value for name in names or self.controls}

    # ---- for users ----

    def set(self, **values: Any) -> None:
        """Set controls by the names of their arguments."""
        for name, value in values.items():
            if name not in self.controls:
                raise ValueError(f"{name!r} is not a control of this panel; there are {', '.join(self.controls)}.")
            self.controls[name].put(value)

    def run(self) -> None:
        """Run with the settings as they are, beside the kernel; `wait` waits for it."""
        try:
            calls = self.calls()
        except Exception as error:
            self._fail(error, "")
            return
        before = light_copy(self.adata)
        worked = light_copy(before)  # of the first copy: the matrix of a view is made only once

        def work() -> tuple[list[Call], AnnData, AnnData]:
            for call in calls:
                call.run(worked)
            return calls, before, worked

        if not self._worker.busy:
            self._say("running", "Running", step="")  # before it starts: a quick one ends before the next line
        self._worker.start(work)

    def stop(self) -> None:
        """Stop the run; the AnnData stays as it was."""
        if self._worker.busy:
            self._say("stopping", "Stopping")  # first: it may be over before the next line
            self._worker.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the run and show what it gave; `False` when `timeout` seconds passed first."""
        done = self._worker.wait(timeout)
        if done:
            self.finish_picture()  # who waits in a cell may have no later moment
        return done

    @property
    def code(self) -> str:
        """The lines that reproduce what is on screen."""
        adata = name_of(self.adata)
        made = list(self._made.values()) if self.has_results() else []
        drawn = list(self.drawn().values())
        calls = [*made, *self.read(), *drawn]
        imports = ["import diffnb as dn"] + ["import scanpy as sc"] * any(c.name.startswith("sc.") for c in calls)
        parts = ["\n".join(imports)]
        there = [key for key in self.shown_keys() if key in self.adata.uns and key not in self._made]
        if there:
            listed = ", ".join(map(literal, there))
            parts.append(f"# stored before this panel was opened, and not made by these lines: {listed}")
        parts += ["\n".join(call.line(adata) for call in group) for group in (made, self.read(), drawn) if group]
        parts += self.more_lines(adata)
        return "\n\n".join(parts) + "\n"

    # ---- inside ----

    def _head(self) -> Any:
        shown = f"<h3>{html.escape(self.title)}</h3><p>{html.escape(self.question)}</p>"
        head = widgets.HTML(shown)
        head.add_class("diffnb-head")
        return head

    def _settings(self) -> list[Any]:
        box = widgets.Box([c.widget for c in self.controls.values()])
        box.add_class("diffnb-controls")
        self.run_button = widgets.Button(description="Run", button_style="primary", tooltip="Run with these settings")
        self.stop_button = widgets.Button(
            description="Stop", tooltip="Stop the run and leave the data as it was", disabled=True
        )
        buttons = [self.run_button, self.stop_button] if self.runs else []
        actions = widgets.HBox([*buttons, self.status])
        actions.add_class("diffnb-actions")
        return [box, actions]

    def _listen(self) -> None:
        self.run_button.on_click(lambda _: None if self._worker.busy else self.run())
        self.stop_button.on_click(lambda _: self.stop())
        self.tabs.observe(lambda _: on_main(self._draw_open), "selected_index")
        self.status.observe(lambda _: on_main(self._turn_dark), "dark")
        for control in self.controls.values():
            control.widget.observe(lambda _: self._write_code(), "value")

    def refresh(self) -> None:
        """Show what is stored: tables and maps now, pictures when their tab is open."""
        self.show()
        self._stale = set(self.pictures)
        self._draw_open()
        self._write_code()

    def recolor(self) -> None:
        """Choose colours anew after the page has become dark or light."""

    def _turn_dark(self) -> None:
        self.recolor()
        self._stale = set(self.pictures)
        self._draw_open()

    def redraw(self, *names: str) -> None:
        """Draw pictures anew after a choice in their tab."""
        self._stale |= set(names)
        self._write_code()
        on_main(self._draw_open)

    def _write_code(self) -> None:
        self.code_view.code = self.code
        changed = bool(self._ran) and self.has_results() and self._lines(self._ran) != self._lines(self._planned())
        self.code_view.note = (
            "These lines made what is shown. The settings have changed since: Run brings both together."
            if changed
            else ""
        )

    def _on_view(self) -> None:
        """Follow what was chosen within a tab, once there are tabs."""
        if self.tab_names:
            self._write_code()

    def _planned(self) -> list[Call]:
        try:
            return self.calls()
        except Exception:
            return []

    @staticmethod
    def _lines(calls: Sequence[Call]) -> list[str]:
        return [call.line() for call in calls]

    def _draw_open(self) -> None:
        """Draw the pictures of the open tab that are not up to date."""
        if not self.tab_names or self.tabs.selected_index is None:
            return
        tab = self.tab_names[self.tabs.selected_index]
        for name in [n for n in self.pictures if n == tab or n.startswith(f"{tab}:")]:
            if name in self._stale:
                self._draw(name)

    def _draw(self, name: str) -> None:
        self._stale.discard(name)
        picture, call = self.pictures[name], self.drawn().get(name)
        if call is None:
            picture.png = b""
            return
        try:
            png, width = draw(call, self.adata, self.status.dark)
        except Exception as error:
            picture.png, picture.empty = b"", sentence(error)
            return
        with picture.hold_sync():
            picture.png, picture.width, picture.alt = png, width, _alt(call)

    def _on_progress(self, step: str, done: int, total: int) -> None:
        with self.status.hold_sync():
            self.status.step, self.status.done, self.status.total = step, done, total

    def _on_outcome(self, outcome: Outcome) -> None:
        if outcome.stopped:
            self._say("stopped", "Stopped. The data is as it was.")
        elif outcome.error is not None:
            self._fail(outcome.error, outcome.trace)
        else:
            self._take(outcome)

    def _take(self, outcome: Outcome) -> None:
        calls, before, worked = outcome.value
        try:
            adopt(self.adata, before, worked)
            self._ran = calls
            self._made |= {call.key: call for call in calls}
            self.refresh()
        except Exception as error:
            import traceback

            self._fail(error, traceback.format_exc())
            return
        self._say("done", f"Done in {outcome.seconds:.1f} s.", notes=outcome.notes)
        self.leave_picture()

    def _fail(self, error: BaseException, trace: str) -> None:
        self._say("failed", sentence(error), details=trace)

    def _say(
        self, state: str, message: str, *, step: str | None = None, details: str = "", notes: Sequence[str] = ()
    ) -> None:
        running = state in ("running", "stopping")
        self.run_button.disabled, self.stop_button.disabled = running, state != "running"
        with self.status.hold_sync():
            self.status.state, self.status.message = state, message
            self.status.details, self.status.notes = details, list(notes)
            if step is not None:
                self.status.step, self.status.done, self.status.total = step, 0, 0

    def summary(self) -> list[str]:
        """Say in a line or two what the static picture shows."""
        shape = f"{self.adata.n_obs} observations × {self.adata.n_vars} features"
        return [shape if self.has_results() or not self.runs else f"{shape}. Not run yet."]

    def __repr__(self) -> str:
        return f"<diffnb panel {self.title}: {self.adata.n_obs} × {self.adata.n_vars}, {self.status.state}>"


def sentence(error: BaseException) -> str:
    """Tell an error in one sentence."""
    said = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return " ".join(said.split()) or type(error).__name__


def _alt(call: Call) -> str:
    doc = (call.function.__doc__ or "").strip().splitlines()
    return f"{doc[0] if doc else call.name} Drawn by {call.line()}"


def saved_selection(column: str, names: str, adata: str) -> str:
    """Write the line that saves a selection of features."""
    return f"{adata}.var[{literal(column)}] = {adata}.var_names.isin({names})"
