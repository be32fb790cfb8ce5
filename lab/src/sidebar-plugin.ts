/** Adds the sidebar to JupyterLab and lets it follow the active notebook. */

import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { ITranslator, type TranslationBundle } from '@jupyterlab/translation';
import { CATEGORY, COMMANDS } from './commands.js';
import { icon } from './icon.js';
import { insertAndRun, insertBeside } from './insert.js';
import { follow } from './kernel.js';
import { Sidebar, type SidebarActions } from './sidebar.js';
import { view } from './state.js';
import { loadTranslations } from './translation.js';
import { Watcher } from './watcher.js';

function activate(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  restorer: ILayoutRestorer | null,
  palette: ICommandPalette | null,
  translator: ITranslator | null
): void {
  const trans = loadTranslations(translator);
  const sidebar = new Sidebar(
    sidebarActions(app, tracker, () => watcher.invalidate()),
    trans
  );
  sidebar.id = 'diffnb-sidebar';
  sidebar.title.icon = icon;
  sidebar.title.caption = trans.__('diffnb: AnnData objects of this notebook');
  app.shell.add(sidebar, 'left', { rank: 550, type: 'diffnb' });
  restorer?.add(sidebar, sidebar.id);

  const watcher = new Watcher(situation => sidebar.draw(view(situation, trans)));
  followActiveNotebook(tracker, watcher, trans);

  app.commands.addCommand(COMMANDS.show, {
    label: trans.__('Show the AnnData Objects of This Notebook'),
    icon,
    describedBy: { args: { type: 'object', properties: {} } },
    execute: () => app.shell.activateById(sidebar.id)
  });
  palette?.addItem({ command: COMMANDS.show, category: CATEGORY });
}

function sidebarActions(app: JupyterFrontEnd, tracker: INotebookTracker, refresh: () => void): SidebarActions {
  const withActiveNotebook = (act: (panel: NotebookPanel) => Promise<unknown>) => {
    if (tracker.currentWidget) {
      void act(tracker.currentWidget);
    }
  };
  return {
    refresh,
    newAnalysis: () => void app.commands.execute(COMMANDS.newAnalysis),
    insert: code => withActiveNotebook(panel => insertAndRun(panel, code)),
    insertBeside: code => withActiveNotebook(panel => insertBeside(app, panel, code))
  };
}

function followActiveNotebook(tracker: INotebookTracker, watcher: Watcher, trans: TranslationBundle): void {
  let unfollow = follow(watcher, tracker.currentWidget, trans);
  tracker.currentChanged.connect((_, panel) => {
    unfollow();
    unfollow = follow(watcher, panel, trans);
  });
  NotebookActions.executed.connect((_, { notebook }) => {
    if (notebook === tracker.currentWidget?.content) {
      watcher.invalidate();
    }
  });
}

export const sidebarPlugin: JupyterFrontEndPlugin<void> = {
  id: 'diffnb:sidebar',
  description: 'Lists the AnnData objects of the current kernel and inserts calls on them.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ILayoutRestorer, ICommandPalette, ITranslator],
  activate
};
