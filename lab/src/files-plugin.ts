/** "Explore with diffnb" on data files: by double click, from the context menu, and on entering a Zarr folder. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { COMMANDS } from './commands.js';
import { Documents, runAll } from './documents.js';
import { EXPLORE, FILE_TYPES, OfferFactory, UnreadModelFactory } from './files.js';
import { icon } from './icon.js';
import { exploring, reader } from './templates.js';

const OFFER_SECONDS = 15;

/** The folder and the name of a path, which may begin with the name of a drive. */
function parts(manager: IDocumentManager, path: string): { folder: string; name: string } {
  const { contents } = manager.services;
  const local = contents.localPath(path);
  const drive = contents.driveName(path);
  const folder = PathExt.dirname(local);
  return { folder: drive ? `${drive}:${folder}` : folder, name: PathExt.basename(local) };
}

function activate(app: JupyterFrontEnd, manager: IDocumentManager, browser: IDefaultFileBrowser | null): void {
  const { commands, docRegistry } = app;
  const documents = new Documents(manager);
  const selected = () => [...(browser?.selectedItems() ?? [])].map(item => item.path);

  commands.addCommand(COMMANDS.exploreFile, {
    label: EXPLORE,
    caption: 'Open a notebook beside the file that loads it and shows what is in it',
    icon,
    isVisible: args => typeof args.path === 'string' || selected().some(path => reader(path) !== null),
    describedBy: { args: { type: 'object', properties: { path: { type: 'string' } } } },
    execute: async args => {
      const paths = typeof args.path === 'string' ? [args.path] : selected().filter(path => reader(path) !== null);
      for (const path of paths) {
        const { folder, name } = parts(manager, path);
        const stem = `${name.replace(/\.(h5ad|zarr(\.zip)?)$/i, '')}-explore`;
        const panel = await documents.open(folder, stem, exploring(name));
        if (panel) {
          await runAll(panel);
        }
      }
    }
  });

  const explore = (path: string) => void commands.execute(COMMANDS.exploreFile, { path });
  const sizeOf = async (path: string) => (await manager.services.contents.get(path, { content: false })).size;
  docRegistry.addModelFactory(new UnreadModelFactory());
  for (const type of FILE_TYPES) {
    docRegistry.addFileType(type);
  }
  docRegistry.addWidgetFactory(new OfferFactory(explore, sizeOf));
  app.contextMenu.addItem({ command: COMMANDS.exploreFile, selector: '.jp-DirListing-item', rank: 1 });

  // a Zarr store is a folder: a double click goes into it, so the offer comes along
  browser?.model.pathChanged.connect((_, change) => {
    const path = change.newValue;
    if (/\.zarr$/i.test(path)) {
      Notification.info(`${PathExt.basename(path)} looks like a Zarr store.`, {
        autoClose: OFFER_SECONDS * 1000,
        actions: [{ label: EXPLORE, callback: () => explore(path) }]
      });
    }
  });
}

export const filesPlugin: JupyterFrontEndPlugin<void> = {
  id: 'diffnb:files',
  description: 'Offers to explore .h5ad and .zarr files.',
  autoStart: true,
  requires: [IDocumentManager],
  optional: [IDefaultFileBrowser],
  activate
};
