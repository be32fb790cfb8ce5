/** Data files in the file browser: a page that offers to explore a file, without reading it. */

import {
  ABCWidgetFactory,
  DocumentModel,
  type DocumentRegistry,
  DocumentWidget,
  TextModelFactory
} from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { button, element } from './dom.js';
import { icon } from './icon.js';

const MODEL = 'diffnb-unread';
/** the name of the page in saved workspaces, whatever the language */
const FACTORY = 'Explore with diffnb';

export function exploreLabel(trans: TranslationBundle): string {
  return trans.__('Explore with diffnb');
}

export function fileTypes(trans: TranslationBundle): readonly Partial<DocumentRegistry.IFileType>[] {
  const common = { contentType: 'file', fileFormat: 'base64', icon } as const;
  return [
    {
      ...common,
      name: 'h5ad',
      displayName: trans.__('AnnData (HDF5)'),
      extensions: ['.h5ad'],
      mimeTypes: ['application/x-hdf5']
    },
    {
      ...common,
      name: 'zarr-zip',
      displayName: trans.__('Zarr (zipped)'),
      extensions: ['.zarr.zip'],
      mimeTypes: ['application/zip']
    }
  ];
}

/** A model without the content of its file, which may have gigabytes; it is never written. */
class UnreadModel extends DocumentModel {
  constructor(private readonly trans: TranslationBundle) {
    super();
  }

  override get readOnly(): boolean {
    return true;
  }

  override set readOnly(_value: boolean) {}

  override toString(): string {
    throw new Error(this.trans.__('The file was not read, so it cannot be saved.'));
  }
}

/** Without a format JupyterLab asks the server for name and size only. */
export class UnreadModelFactory extends TextModelFactory {
  constructor(private readonly trans: TranslationBundle) {
    super();
  }

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
    return new UnreadModel(this.trans);
  }
}

function describeSize(bytes: number | undefined, trans: TranslationBundle): string {
  if (bytes === undefined) {
    return '';
  }
  return `${trans.__('%1 MB.', (bytes / 1e6).toLocaleString('en-US', { maximumFractionDigits: 1 }))} `;
}

/** The page that a double click opens. */
export class OfferFactory extends ABCWidgetFactory<DocumentWidget> {
  constructor(
    private readonly explore: (path: string) => void,
    private readonly sizeOf: (path: string) => Promise<number | undefined>,
    private readonly trans: TranslationBundle
  ) {
    const names = fileTypes(trans).map(type => type.name as string);
    super({
      name: FACTORY,
      label: exploreLabel(trans),
      modelName: MODEL,
      fileTypes: names,
      defaultFor: names,
      readOnly: true
    });
  }

  protected createNewWidget(context: DocumentRegistry.Context): DocumentWidget {
    const content = new Widget();
    content.addClass('diffnb-Offer');
    content.node.append(
      element('h1', {}, context.localPath.split('/').pop() ?? ''),
      element(
        'p',
        {},
        this.size(context.path),
        this.trans.__('Opens a notebook beside this file that loads it and shows what is in it.')
      ),
      button(exploreLabel(this.trans), { class: 'diffnb-Button diffnb-mod-main' }, () => this.explore(context.path))
    );
    const widget = new DocumentWidget({ content, context });
    widget.title.icon = icon;
    return widget;
  }

  /** The size of a file, as soon as it is known; the page works without it. */
  private size(path: string): HTMLElement {
    const node = element('span');
    this.sizeOf(path).then(
      bytes => {
        node.textContent = describeSize(bytes, this.trans);
      },
      () => {}
    );
    return node;
  }
}
