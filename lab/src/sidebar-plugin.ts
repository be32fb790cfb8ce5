/** Puts the sidebar into JupyterLab and lets it follow the notebook in front. */

import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { CATEGORY, COMMANDS } from './commands.js';
import { icon } from './icon.js';
import { insertAndRun, insertBeside } from './insert.js';
import { follow } from './kernel.js';
import { Sidebar } from './sidebar.js';
import { Watcher } from './watcher.js';

function activate(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  restorer: ILayoutRestorer | null,
  palette: ICommandPalette | null
): void {
  const { commands, shell } = app;
  const sidebar = new Sidebar({
    refresh: () => watcher.touch(),
    newAnalysis: () => void commands.execute(COMMANDS.newAnalysis),
    insert: code => {
      const panel = tracker.currentWidget;
      if (panel) {
        void insertAndRun(panel, code);
      }
    },
    beside: code => {
      const panel = tracker.currentWidget;
      if (panel) {
        void insertBeside(app, panel, code);
      }
    }
  });
  sidebar.id = 'diffnb-sidebar';
  sidebar.title.icon = icon;
  sidebar.title.caption = 'diffnb: AnnData objects of this notebook';
  shell.add(sidebar, 'left', { rank: 550, type: 'diffnb' });
  restorer?.add(sidebar, sidebar.id);

  const watcher = new Watcher(view => sidebar.draw(view));
  let letGo = follow(watcher, tracker.currentWidget);
  tracker.currentChanged.connect((_, panel) => {
    letGo();
    letGo = follow(watcher, panel);
  });
  NotebookActions.executed.connect((_, { notebook }) => {
    if (notebook === tracker.currentWidget?.content) {
      watcher.touch();
    }
  });

  commands.addCommand(COMMANDS.show, {
    label: 'Show the AnnData Objects of This Notebook',
    icon,
    describedBy: { args: { type: 'object', properties: {} } },
    execute: () => shell.activateById(sidebar.id)
  });
  palette?.addItem({ command: COMMANDS.show, category: CATEGORY });
}

export const sidebarPlugin: JupyterFrontEndPlugin<void> = {
  id: 'diffnb:sidebar',
  description: 'Lists the AnnData objects of the current kernel and inserts calls on them.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ILayoutRestorer, ICommandPalette],
  activate
};
