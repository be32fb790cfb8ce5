/** Tutorials and the template of an analysis, in the launcher and the command palette. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, InputDialog } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator, type TranslationBundle } from '@jupyterlab/translation';
import { CATEGORY, COMMANDS } from './commands.js';
import { Documents } from './documents.js';
import { TUTORIALS } from './generated/tutorials.js';
import { newIcon, tutorialIcon } from './icon.js';
import { analysisNotebook } from './templates.js';
import { loadTranslations } from './translation.js';
import { contentOf } from './tutorials.js';

/** What the commands need: where notebooks are written, which folder is meant, and texts. */
interface Context {
  readonly documents: Documents;
  readonly folderOf: (args: { cwd?: unknown }) => string;
  readonly trans: TranslationBundle;
}

/** Ask for data to analyse: simulated data (null), a file of the folder, or the path that was typed. */
async function askForData({ documents, trans }: Context, folder: string): Promise<string | null | undefined> {
  const simulated = trans.__('Simulated cells that come with diffnb');
  const answer = await InputDialog.getItem({
    title: trans.__('New differential analysis'),
    label: trans.__('Which data? Choose, or type the path of an .h5ad or .zarr relative to the new notebook.'),
    items: [simulated, ...(await documents.dataFiles(folder))],
    current: 0,
    editable: true,
    okLabel: trans.__('Create')
  });
  if (!answer.button.accept || !answer.value?.trim()) {
    return undefined;
  }
  return answer.value === simulated ? null : answer.value.trim();
}

function addTutorialCommand({ commands }: JupyterFrontEnd, { documents, folderOf, trans }: Context): void {
  const tutorialOf = (file: unknown) => TUTORIALS.find(tutorial => tutorial.file === file);
  commands.addCommand(COMMANDS.openTutorial, {
    label: args => {
      const title = tutorialOf(args.file)?.title ?? trans.__('Open a Tutorial');
      return args.isPalette ? trans.__('Tutorial: %1', title) : title;
    },
    caption: trans.__('Open a new copy in the current folder'),
    icon: args => tutorialIcon(args.file),
    describedBy: {
      args: { type: 'object', properties: { file: { type: 'string' }, cwd: { type: 'string' } }, required: ['file'] }
    },
    execute: async args => {
      const tutorial = tutorialOf(args.file);
      if (!tutorial) {
        throw new Error(trans.__("There is no tutorial '%1'.", String(args.file)));
      }
      const stem = tutorial.file.replace(/\.ipynb$/, '');
      return documents.open(folderOf(args), stem, await contentOf(tutorial));
    }
  });
}

function addAnalysisCommand({ commands }: JupyterFrontEnd, context: Context): void {
  const { documents, folderOf, trans } = context;
  commands.addCommand(COMMANDS.newAnalysis, {
    label: args =>
      args.isPalette ? trans.__('New Differential Analysis Notebook') : trans.__('New differential analysis'),
    caption: trans.__('A notebook from loading to figures, for a file or simulated data'),
    icon: newIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: { cwd: { type: 'string' }, path: { type: ['string', 'null'] } }
      }
    },
    execute: async args => {
      const folder = folderOf(args);
      const given = typeof args.path === 'string' || args.path === null;
      const path = given ? (args.path as string | null) : await askForData(context, folder);
      return path === undefined ? null : documents.open(folder, 'differential_analysis', analysisNotebook(path, trans));
    }
  });
}

function activate(
  app: JupyterFrontEnd,
  manager: IDocumentManager,
  browser: IDefaultFileBrowser | null,
  launcher: ILauncher | null,
  palette: ICommandPalette | null,
  translator: ITranslator | null
): void {
  const context: Context = {
    documents: new Documents(manager),
    folderOf: args => (typeof args.cwd === 'string' ? args.cwd : (browser?.model.path ?? '')),
    trans: loadTranslations(translator)
  };
  addTutorialCommand(app, context);
  addAnalysisCommand(app, context);
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
  optional: [IDefaultFileBrowser, ILauncher, ICommandPalette, ITranslator],
  activate
};
