/** Inserts code into the notebook as a visible cell, and runs it. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { CodeCell } from '@jupyterlab/cells';
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';

const OUTPUT_VIEW = 'notebook:create-output-view';

/** Insert a code cell below the active one and run it; returns whether it ran without error. */
export async function insertAndRun(panel: NotebookPanel, code: string): Promise<boolean> {
  const notebook = panel.content;
  const cells = notebook.model?.sharedModel;
  if (!cells) {
    return false;
  }
  const index = notebook.widgets.length === 0 ? 0 : notebook.activeCellIndex + 1;
  cells.insertCell(index, { cell_type: 'code', source: code, metadata: { trusted: true } });
  notebook.activeCellIndex = index;
  notebook.deselectAll();
  return NotebookActions.run(notebook, panel.sessionContext);
}

/** The same, and the output moves from the notebook to a tab on its right. */
export async function insertBeside(app: JupyterFrontEnd, panel: NotebookPanel, code: string): Promise<void> {
  const done = await insertAndRun(panel, code);
  const cell = panel.content.activeCell;
  if (!done || !(cell instanceof CodeCell) || !app.commands.hasCommand(OUTPUT_VIEW)) {
    return;
  }
  const before = new Set(app.shell.widgets('main'));
  app.shell.activateById(panel.id);
  await app.commands.execute(OUTPUT_VIEW);
  const opened = [...app.shell.widgets('main')].find(widget => !before.has(widget));
  if (opened) {
    // JupyterLab opens it below the notebook, where there is too little room for a panel
    app.shell.add(opened, 'main', { mode: 'split-right', ref: panel.id });
    opened.title.label = code.split('\n').at(-1) ?? '';
    cell.outputHidden = true;
  }
}
