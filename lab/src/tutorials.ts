/** The tutorials that come with diffnb; each is loaded when it is opened. */

import type { NotebookContent } from './templates.js';

export interface Tutorial {
  readonly file: string;
  readonly title: string;
  load(): Promise<{ default: string }>;
}

/** A new copy of a tutorial, without outputs. */
export async function contentOf(tutorial: Tutorial): Promise<NotebookContent> {
  return JSON.parse((await tutorial.load()).default) as NotebookContent;
}
