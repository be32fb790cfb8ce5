"""The frame of all panels: controls, Run and Stop, progress, tabs, code.

A panel defines its controls, the calls that they make and draw, and the contents of its tabs; everything else is here,
and the static picture of a panel in `_snapshot`.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import ipywidgets as widgets
from anndata import AnnData

from .._anndata import adopt, light_copy
from .._calls import Call, literal, name_of
from .._validate import tables_in_memory
from ..get._presence import has_key
from ..get._remarks import Remark
from ..get._stale import collected_staleness
from ..get._stored_call import stored_call
from ..report._report import free_path
from ._advanced import Advanced
from ._banner import Banner
from ._controls import Control, control_row, describe, shown_value
from ._pictures import alt_text, mark_in_base64, render_png
from ._restore import changed_controls, restore
from ._snapshot import WithSnapshot
from ._views import CodeView, Picture, Status
from ._work import Outcome, Worker, on_main


class Panel(WithSnapshot):
    """A panel for an AnnData; base class of the panels of the methods."""

    #: whether the panel has Run and Stop
    runs: ClassVar[bool] = True
    #: controls that are not folded away, by the names of their arguments: question, conditions, samples, covariates
    first: ClassVar[tuple[str, ...]] = ()
    #: the function whose docstring describes the controls, by its name in code, and others that do
    tool: ClassVar[str] = ""
    also_described_by: ClassVar[tuple[str, ...]] = ()

    def __init__(self, adata: AnnData, **given: Any) -> None:
        if not isinstance(adata, AnnData):
            raise TypeError(f"a panel needs an AnnData, got {type(adata).__name__}.")
        tables_in_memory(adata)
        self.adata = adata
        self.prepare_picture()
        #: calls whose results are stored, by their key
        self._calls_by_key: dict[str, Call] = {}
        self._stale: set[str] = set()
        self._report_line: Call | None = None
        self._about: list[Remark] = []
        self._worker = Worker(self._on_progress, self._on_outcome)
        self.status = Status(mark=mark_in_base64(self._mark), message="Ready.")
        self.controls: dict[str, Control] = {c.name: c for c in self.make_controls(given)}
        self._defaults = {name: shown_value(control) for name, control in self.controls.items()}
        self.head = widgets.HTML()
        self._restore(given)
        self.banner = Banner()
        self.code_view = CodeView()
        self.pictures: dict[str, Picture] = {}
        self.tab_names: list[str] = []
        tabs = {**self.make_tabs(), "Code": self.code_view}
        self.tab_names = list(tabs)
        self._describe_controls()
        self.tabs = widgets.Tab(children=list(tabs.values()), titles=self.tab_names)
        super().__init__([self._head(), *self._settings(), self.banner, self.tabs, *self.below_tabs()])
        self.add_class("diffnb-panel")
        self._connect()
        self.refresh()

    # ---- what a panel defines ----

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make the controls; `given` holds the arguments of the caller."""
        return []

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs, one widget each."""
        return {}

    def calls(self) -> list[Call]:
        """Return the calls that Run makes."""
        return []

    def read(self) -> list[Call]:
        """Return the calls that read the tables on screen."""
        return []

    def has_results(self) -> bool:
        """Whether there are results to show."""
        return False

    def shown_keys(self) -> list[str]:
        """Return the keys of the results on screen."""
        return []

    def show(self) -> None:
        """Fill the tabs that are not pictures."""

    def about_results(self) -> list[Remark]:
        """Return sentences about the results on screen: whether they are tested, and by which units."""
        return []

    def more_lines(self, adata: str) -> list[str]:
        """Return lines for actions of the user, such as saving a selection."""
        return []

    # ---- for subclasses ----

    def picture(self, name: str) -> Picture:
        """Make the widget of a picture, which is drawn when its tab is opened."""
        self.pictures[name] = Picture()
        return self.pictures[name]

    def settings(self, *names: str) -> dict[str, Any]:
        """Return the values of controls by argument, of all controls by default."""
        return {name: self.controls[name].value for name in names or self.controls}

    # ---- for users ----

    def set(self, **values: Any) -> None:
        """Set controls by the names of their arguments."""
        for name, value in values.items():
            if name not in self.controls:
                raise ValueError(f"{name!r} is not a control of this panel; there are {', '.join(self.controls)}.")
            self.controls[name].put(value)

    def run(self) -> None:
        """Run with the current settings in a background thread; `wait` waits for it."""
        try:
            calls = self.calls()
        except Exception as error:
            self._fail(error, "")
            return
        before = light_copy(self.adata)
        worked = light_copy(before)  # a copy of the copy: the matrix of a view is materialised only once

        def work() -> tuple[list[Call], AnnData, AnnData]:
            for call in calls:
                call.run(worked)
            return calls, before, worked

        if not self._worker.busy:
            self._set_status("running", "Running", step="")  # first, since a short run may end before the next line
        self._worker.start(work)

    def stop(self) -> None:
        """Stop the run; the AnnData stays as it was."""
        if self._worker.busy:
            self._set_status("stopping", "Stopping")  # first, since the run may end before the next line
            self._worker.stop()

    def write_report(self) -> Path | None:
        """Write all results of the AnnData to a new HTML page in the current folder, and return its path."""
        path = free_path("report", ".html")
        call = Call("dn.report", (str(path),))
        try:
            call.run(self.adata)
        except Exception as error:
            self._fail(error, "")
            return None
        self._report_line = call
        self._set_status(self.status.state, f"Report written to {path}.", notes=self.status.notes)
        self._write_code()
        return path

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the run and show its results; return `False` when `timeout` seconds have passed first."""
        done = self._worker.wait(timeout)
        if done:
            self.finish_picture()  # the kernel may have no idle time before the end of the notebook
        return done

    @property
    def code(self) -> str:
        """The lines that reproduce what is on screen."""
        adata = name_of(self.adata)
        made = list(self._calls_by_key.values()) if self.has_results() else []
        steps = (made, self.read(), list(self.drawn().values()))
        scanpy = any(call.name.startswith("sc.") for calls in steps for call in calls)
        blocks = ["import diffnb as dn" + "\nimport scanpy as sc" * scanpy]
        earlier = [key for key in self.shown_keys() if has_key(self.adata, key) and key not in self._calls_by_key]
        if earlier:
            listed = ", ".join(map(literal, earlier))
            blocks.append(f"# stored before this panel was opened, and not made by these lines: {listed}")
        blocks += ["\n".join(call.line(adata) for call in calls) for calls in steps if calls]
        blocks += self.more_lines(adata)
        blocks += [] if self._report_line is None else [self._report_line.line(adata)]
        return "\n\n".join(blocks) + "\n"

    def changed_settings(self) -> list[str]:
        """Return the labels of the controls that were changed since the results on screen were made."""
        if not self.has_results():
            return []
        return changed_controls(self.controls, self._calls_by_key, self._next_calls())

    # ---- internals ----

    def _restore(self, given: Mapping[str, Any]) -> None:
        """Set the controls to the settings of stored results; what the caller gave stays."""
        if not self.has_results():
            return
        explicit = [name for name, value in given.items() if value is not None and value != "auto"]
        for key in self.shown_keys():
            call = stored_call(self.adata, key)
            if call is not None:
                self._calls_by_key[key] = call
                restore(self.controls, call, keep=explicit)

    def _head(self) -> Any:
        self.head.add_class("diffnb-head")
        self.write_head()
        return self.head

    def write_head(self) -> None:
        """Write the title and the question."""
        self.head.value = f"<h3>{html.escape(self.title)}</h3><p>{html.escape(self.question)}</p>"

    def _settings(self) -> list[Any]:
        self.run_button = widgets.Button(description="Run", button_style="primary", tooltip="Run with these settings")
        self.stop_button = widgets.Button(
            description="Stop", tooltip="Stop the run and leave the data unchanged", disabled=True
        )
        self.report_button = widgets.Button(
            description="Report", tooltip="Write all results of this AnnData to an HTML page, with dn.report"
        )
        buttons = [*([self.run_button, self.stop_button] if self.runs else []), self.report_button]
        actions = widgets.HBox([*buttons, self.status])
        actions.add_class("diffnb-actions")
        folded = [name for name in self.controls if self.first and name not in self.first]
        self.advanced = Advanced([self.controls[name] for name in folded], self._defaults)
        shown = [c.widget for name, c in self.controls.items() if name not in folded]
        return [control_row(shown), self.advanced, actions]

    def _describe_controls(self) -> None:
        """Give every control a tooltip from the docstring of its argument, and the page all of them."""
        names = [name for name in (self.tool, *self.also_described_by) if name]
        describe(list(self.controls.values()), [Call(name).function for name in names])
        describe(self.tab_controls(), [])
        controls = [*self.controls.values(), *self.tab_controls()]
        self.status.tooltips = {str(c.widget.description): c.widget.tooltip for c in controls if c.widget.tooltip}

    def below_tabs(self) -> list[Any]:
        """Return what is below the tabs."""
        return []

    def tab_controls(self) -> list[Control]:
        """Return the controls within tabs."""
        return [value for value in vars(self).values() if isinstance(value, Control)]

    def _connect(self) -> None:
        self.run_button.on_click(lambda _: None if self._worker.busy else self.run())
        self.stop_button.on_click(lambda _: self.stop())
        self.report_button.on_click(lambda _: on_main(self._on_report))
        self.tabs.observe(lambda _: on_main(self._draw_open), "selected_index")
        self.status.observe(lambda _: on_main(self._change_theme), "dark")
        for control in self.controls.values():
            control.widget.observe(lambda _: self._on_setting(), "value")

    def refresh(self) -> None:
        """Show the stored results: tables and maps now, pictures when their tab is opened."""
        with collected_staleness():  # the banner says it
            self.show()
            self._about = self.about_results()
            self._stale = set(self.pictures)
            self._draw_open()
        self._write_code()

    def recolor(self) -> None:
        """Update colours after the theme of the page has changed."""

    def _change_theme(self) -> None:
        self.recolor()
        self._stale = set(self.pictures)
        self._draw_open()

    def redraw(self, *names: str) -> None:
        """Redraw pictures after a change of the controls in their tab."""
        self._stale |= set(names)
        self._write_code()
        on_main(self._draw_open)

    def _on_setting(self) -> None:
        self.advanced.update_title()
        self._write_code()

    def _on_report(self) -> None:
        self.write_report()

    def _write_code(self) -> None:
        with collected_staleness():
            self.code_view.code = self.code
            changed = self.changed_settings()
        note = "These lines reproduce the results on screen. The settings have changed since; Run applies them."
        self.code_view.note = note if changed else ""
        self._write_banner(changed)

    def _write_banner(self, changed: Sequence[str]) -> None:
        lines = self._about
        if changed:
            names = ", ".join(changed)
            text = f"Results from earlier settings. Changed since: {names}. Press Run to apply the new settings."
            lines = [Remark("mind", text), *lines]
        if lines != self.banner.lines:
            self.banner.show(lines)

    def _on_view(self) -> None:
        """Update the code after a change within a tab, once there are tabs."""
        if self.tab_names:
            self._write_code()

    def _next_calls(self) -> list[Call]:
        """Return the calls that Run would make, none where the settings are invalid."""
        try:
            return self.calls()
        except Exception:
            return []

    def _draw_open(self) -> None:
        """Draw the pictures of the open tab that are out of date."""
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
            png, width = render_png(call, self.adata, self.status.dark)
        except Exception as error:
            picture.png, picture.empty = b"", error_message(error)
            return
        with picture.hold_sync():
            picture.png, picture.width, picture.alt = png, width, alt_text(call)

    def _on_progress(self, step: str, done: int, total: int, so_far: str) -> None:
        with self.status.hold_sync():
            self.status.step, self.status.done, self.status.total, self.status.so_far = step, done, total, so_far

    def _on_outcome(self, outcome: Outcome) -> None:
        if outcome.stopped:
            self._set_status("stopped", "Stopped. The data are unchanged.")
        elif outcome.error is not None:
            self._fail(outcome.error, outcome.trace)
        else:
            self._adopt_results(outcome)

    def _adopt_results(self, outcome: Outcome) -> None:
        calls, before, worked = outcome.value
        try:
            adopt(self.adata, before, worked)
            self._calls_by_key |= {call.key: call for call in calls}
            self.refresh()
        except Exception as error:
            import traceback

            self._fail(error, traceback.format_exc())
            return
        self._set_status("done", f"Done in {outcome.seconds:.1f} s.", notes=outcome.notes)
        self.update_picture()

    def _fail(self, error: BaseException, trace: str) -> None:
        self._set_status("failed", error_message(error), details=trace)

    def _set_status(
        self, state: str, message: str, *, step: str | None = None, details: str = "", notes: Sequence[str] = ()
    ) -> None:
        running = state in ("running", "stopping")
        self.run_button.disabled, self.stop_button.disabled = running, state != "running"
        with self.status.hold_sync():
            self.status.state, self.status.message = state, message
            self.status.details, self.status.notes = details, list(notes)
            if step is not None:
                self.status.step, self.status.done, self.status.total, self.status.so_far = step, 0, 0, ""

    def summary(self) -> list[str]:
        """Describe the static picture in a line or two."""
        shape = f"{self.adata.n_obs} observations × {self.adata.n_vars} features"
        return [shape if self.has_results() or not self.runs else f"{shape}. Not run yet."]

    def __repr__(self) -> str:
        return f"<diffnb panel {self.title}: {self.adata.n_obs} × {self.adata.n_vars}, {self.status.state}>"


def error_message(error: BaseException) -> str:
    """Return the message of an error on one line."""
    message = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return " ".join(message.split()) or type(error).__name__
