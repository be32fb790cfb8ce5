/** Tutorials and the template of an analysis, in the launcher and the command palette. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, InputDialog } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { CATEGORY, COMMANDS } from './commands.js';
import { Documents } from './documents.js';
import { TUTORIALS } from './generated/tutorials.js';
import { icon } from './icon.js';
import { analysis } from './templates.js';
import { contentOf } from './tutorials.js';

const SIMULATED = 'Simulated cells that come with diffnb';

/** Ask what to analyse: simulated data (null), a file of the folder, or a path that is typed in. */
async function askForData(documents: Documents, folder: string): Promise<string | null | undefined> {
  const answer = await InputDialog.getItem({
    title: 'New differential analysis',
    label: 'Which data? Choose, or type the path of an .h5ad or .zarr as seen from the new notebook.',
    items: [SIMULATED, ...(await documents.dataFiles(folder))],
    current: 0,
    editable: true,
    okLabel: 'Create'
  });
  if (!answer.button.accept || !answer.value?.trim()) {
    return undefined;
  }
  return answer.value === SIMULATED ? null : answer.value.trim();
}

function activate(
  app: JupyterFrontEnd,
  manager: IDocumentManager,
  browser: IDefaultFileBrowser | null,
  launcher: ILauncher | null,
  palette: ICommandPalette | null
): void {
  const { commands } = app;
  const documents = new Documents(manager);
  const folderOf = (args: { cwd?: unknown }) => (typeof args.cwd === 'string' ? args.cwd : (browser?.model.path ?? ''));

  commands.addCommand(COMMANDS.openTutorial, {
    label: args => {
      const title = TUTORIALS.find(tutorial => tutorial.file === args.file)?.title ?? 'Open a Tutorial';
      return args.isPalette ? `Tutorial: ${title}` : title;
    },
    caption: 'Open a fresh copy in the current folder',
    icon,
    describedBy: {
      args: { type: 'object', properties: { file: { type: 'string' }, cwd: { type: 'string' } }, required: ['file'] }
    },
    execute: async args => {
      const tutorial = TUTORIALS.find(({ file }) => file === args.file);
      if (!tutorial) {
        throw new Error(`There is no tutorial '${String(args.file)}'.`);
      }
      const stem = tutorial.file.replace(/\.ipynb$/, '');
      return documents.open(folderOf(args), stem, await contentOf(tutorial));
    }
  });

  commands.addCommand(COMMANDS.newAnalysis, {
    label: args => (args.isPalette ? 'New Differential Analysis Notebook' : 'New differential analysis'),
    caption: 'A notebook from loading to figures, on a file or on simulated data',
    icon,
    describedBy: {
      args: {
        type: 'object',
        properties: { cwd: { type: 'string' }, path: { type: ['string', 'null'] } }
      }
    },
    execute: async args => {
      const folder = folderOf(args);
      const given = typeof args.path === 'string' || args.path === null;
      const path = given ? (args.path as string | null) : await askForData(documents, folder);
      return path === undefined ? null : documents.open(folder, 'differential_analysis', analysis(path));
    }
  });

  launcher?.add({ command: COMMANDS.newAnalysis, category: CATEGORY, rank: 0 });
  palette?.addItem({ command: COMMANDS.newAnalysis, category: CATEGORY, args: { isPalette: true } });
  TUTORIALS.forEach(({ file }, i) => {
    launcher?.add({ command: COMMANDS.openTutorial, category: CATEGORY, args: { file }, rank: i + 1 });
    palette?.addItem({ command: COMMANDS.openTutorial, category: CATEGORY, args: { file, isPalette: true } });
  });
}

export const notebooksPlugin: JupyterFrontEndPlugin<void> = {
  id: 'diffnb:notebooks',
  description: 'Tutorials of diffnb and the template of a differential analysis.',
  autoStart: true,
  requires: [IDocumentManager],
  optional: [IDefaultFileBrowser, ILauncher, ICommandPalette],
  activate
};
