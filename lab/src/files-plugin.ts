/** "Explore with diffnb" on data files: by double click, from the context menu, and on entering a Zarr folder. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ITranslator, type TranslationBundle } from '@jupyterlab/translation';
import { COMMANDS } from './commands.js';
import { Documents, runAll } from './documents.js';
import { exploreLabel, fileTypes, OfferFactory, UnreadModelFactory } from './files.js';
import { icon } from './icon.js';
import { explorationNotebook, readerOf } from './templates.js';
import { loadTranslations } from './translation.js';

const OFFER_MS = 15_000;

/** The folder and the name of a path, which may begin with the name of a drive. */
function splitPath(manager: IDocumentManager, path: string): { folder: string; name: string } {
  const { contents } = manager.services;
  const local = contents.localPath(path);
  const drive = contents.driveName(path);
  const folder = PathExt.dirname(local);
  return { folder: drive ? `${drive}:${folder}` : folder, name: PathExt.basename(local) };
}

/** Write a notebook that explores a file, beside the file, and run it. */
async function exploreFile(manager: IDocumentManager, path: string): Promise<void> {
  const { folder, name } = splitPath(manager, path);
  const stem = `${name.replace(/\.(h5ad|zarr(\.zip)?)$/i, '')}-explore`;
  const panel = await new Documents(manager).open(folder, stem, explorationNotebook(name));
  if (panel) {
    await runAll(panel);
  }
}

function addExploreCommand(
  { commands }: JupyterFrontEnd,
  manager: IDocumentManager,
  browser: IDefaultFileBrowser | null,
  trans: TranslationBundle
): void {
  const selectedData = () =>
    [...(browser?.selectedItems() ?? [])].map(item => item.path).filter(path => readerOf(path) !== null);
  commands.addCommand(COMMANDS.exploreFile, {
    label: exploreLabel(trans),
    caption: trans.__('Open a notebook beside the file that loads it and shows what is in it'),
    icon,
    isVisible: args => typeof args.path === 'string' || selectedData().length > 0,
    describedBy: { args: { type: 'object', properties: { path: { type: 'string' } } } },
    execute: async args => {
      for (const path of typeof args.path === 'string' ? [args.path] : selectedData()) {
        await exploreFile(manager, path);
      }
    }
  });
}

/** Offer to explore a Zarr store on entering it: it is a folder, which a double click opens. */
function offerOnEnteringZarr(
  browser: IDefaultFileBrowser,
  explore: (path: string) => void,
  trans: TranslationBundle
): void {
  browser.model.pathChanged.connect((_, change) => {
    const path = change.newValue;
    if (/\.zarr$/i.test(path)) {
      Notification.info(trans.__('%1 looks like a Zarr store.', PathExt.basename(path)), {
        autoClose: OFFER_MS,
        actions: [{ label: exploreLabel(trans), callback: () => explore(path) }]
      });
    }
  });
}

function activate(
  app: JupyterFrontEnd,
  manager: IDocumentManager,
  browser: IDefaultFileBrowser | null,
  translator: ITranslator | null
): void {
  const trans = loadTranslations(translator);
  const { commands, docRegistry } = app;
  const explore = (path: string) => void commands.execute(COMMANDS.exploreFile, { path });
  const sizeOf = async (path: string) => (await manager.services.contents.get(path, { content: false })).size;
  addExploreCommand(app, manager, browser, trans);
  docRegistry.addModelFactory(new UnreadModelFactory(trans));
  for (const type of fileTypes(trans)) {
    docRegistry.addFileType(type);
  }
  docRegistry.addWidgetFactory(new OfferFactory(explore, sizeOf, trans));
  app.contextMenu.addItem({ command: COMMANDS.exploreFile, selector: '.jp-DirListing-item', rank: 1 });
  if (browser) {
    offerOnEnteringZarr(browser, explore, trans);
  }
}

export const filesPlugin: JupyterFrontEndPlugin<void> = {
  id: 'diffnb:files',
  description: 'Offers to explore .h5ad and .zarr files.',
  autoStart: true,
  requires: [IDocumentManager],
  optional: [IDefaultFileBrowser, ITranslator],
  activate
};
