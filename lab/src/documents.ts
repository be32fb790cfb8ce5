/** New notebooks in a folder, which never overwrite a file. */

import type { IDocumentManager } from '@jupyterlab/docmanager';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { freeName, type NotebookContent, readerOf } from './templates.js';

export class Documents {
  constructor(private readonly manager: IDocumentManager) {}

  /** Write a notebook under a free name in a folder and open it. */
  async open(folder: string, stem: string, content: NotebookContent): Promise<NotebookPanel | null> {
    const { contents } = this.manager.services;
    const taken = new Set((await this.entries(folder)).map(entry => entry.name));
    const path = contents.resolvePath(folder, freeName(stem, taken));
    await contents.save(path, { type: 'notebook', format: 'json', content });
    const widget = this.manager.openOrReveal(path);
    return widget instanceof NotebookPanel ? widget : null;
  }

  /** Names of the files in a folder that hold an AnnData. */
  async dataFiles(folder: string): Promise<string[]> {
    return (await this.entries(folder)).map(entry => entry.name).filter(name => readerOf(name) !== null);
  }

  private async entries(folder: string): Promise<{ name: string }[]> {
    const listed = await this.manager.services.contents.get(folder, { content: true });
    return Array.isArray(listed.content) ? listed.content : [];
  }
}

/** Run all cells once the kernel is ready. */
export async function runAll(panel: NotebookPanel): Promise<void> {
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.revealed;
  await NotebookActions.runAll(panel.content, panel.sessionContext);
}
