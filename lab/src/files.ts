/** Data files in the file browser: a page that offers to explore one, without reading it. */

import {
  ABCWidgetFactory,
  DocumentModel,
  type DocumentRegistry,
  DocumentWidget,
  TextModelFactory
} from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import { Widget } from '@lumino/widgets';
import { button, element } from './dom.js';
import { icon } from './icon.js';

export const EXPLORE = 'Explore with diffnb';
const MODEL = 'diffnb-unread';

export const FILE_TYPES: readonly Partial<DocumentRegistry.IFileType>[] = [
  { name: 'h5ad', displayName: 'AnnData (HDF5)', extensions: ['.h5ad'], mimeTypes: ['application/x-hdf5'] },
  { name: 'zarr-zip', displayName: 'Zarr (zipped)', extensions: ['.zarr.zip'], mimeTypes: ['application/zip'] }
].map(type => ({ ...type, contentType: 'file', fileFormat: 'base64', icon }));

/** A model of a file that stays on disk: it may hold gigabytes, and must never be written from here. */
class UnreadModel extends DocumentModel {
  override get readOnly(): boolean {
    return true;
  }

  override set readOnly(_value: boolean) {}

  override toString(): string {
    throw new Error('This file is not read here, so it cannot be saved from here.');
  }
}

/** Without a format JupyterLab asks the server for name and size only. */
export class UnreadModelFactory extends TextModelFactory {
  override get name(): string {
    return MODEL;
  }

  override get contentType(): Contents.ContentType {
    return 'file';
  }

  override get fileFormat(): Contents.FileFormat {
    return null;
  }

  override createNew(): DocumentRegistry.ICodeModel {
    return new UnreadModel();
  }
}

function megabytes(size: number | undefined): string {
  return size === undefined ? '' : `${(size / 1e6).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB. `;
}

/** The page that a double click opens. */
export class OfferFactory extends ABCWidgetFactory<DocumentWidget> {
  constructor(
    private readonly explore: (path: string) => void,
    private readonly sizeOf: (path: string) => Promise<number | undefined>
  ) {
    const names = FILE_TYPES.map(type => type.name as string);
    super({ name: EXPLORE, modelName: MODEL, fileTypes: names, defaultFor: names, readOnly: true });
  }

  protected createNewWidget(context: DocumentRegistry.Context): DocumentWidget {
    const content = new Widget();
    content.addClass('diffnb-Offer');
    const size = element('span');
    this.sizeOf(context.path).then(
      bytes => {
        size.textContent = megabytes(bytes);
      },
      () => {} // the page is as useful without
    );
    content.node.append(
      element('h1', {}, context.localPath.split('/').pop() ?? ''),
      element('p', {}, size, 'Opens a notebook beside this file that loads it and shows what is in it.'),
      button(EXPLORE, { class: 'diffnb-Button diffnb-mod-main' }, () => this.explore(context.path))
    );
    const widget = new DocumentWidget({ content, context });
    widget.title.icon = icon;
    return widget;
  }
}
