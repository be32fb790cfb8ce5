/** The request that lists the AnnData objects of a kernel, and its reply. */

import type { TranslationBundle } from '@jupyterlab/translation';
import source from './generated/listing.js';
import { literal } from './python.js';

export interface Column {
  readonly name: string;
  readonly levels: number;
  readonly exact: boolean;
  /** columns that likely hold the samples of these conditions, the likeliest first */
  readonly samples: readonly string[];
}

/** An AnnData of the kernel. */
export interface DataObject {
  readonly name: string;
  readonly identifier: boolean;
  readonly nObs: number;
  readonly nVars: number;
  readonly view: boolean;
  readonly backed: boolean;
  readonly columns: readonly Column[];
  /** columns that could hold samples, and those that could be covariates */
  readonly sampleColumns: readonly string[];
  readonly covariates: readonly string[];
}

/** An AnnData that could not be read, with the name of the exception. */
export interface BrokenObject {
  readonly name: string;
  readonly error: string;
}

export interface Listing {
  readonly objects: readonly (DataObject | BrokenObject)[];
  /** number of objects that are not in the list, which has a maximal length */
  readonly more: number;
  /** the name under which the kernel has imported diffnb */
  readonly alias: string | null;
  /** whether diffnb is installed in the Python of the kernel */
  readonly installed: boolean;
}

/** One Python expression that lists the AnnData objects of the namespace it is evaluated in. */
export const EXPRESSION = `(lambda own: (__import__("builtins").exec(${literal(source)}, own), own["listing"](__import__("builtins").globals()))[1])({})`;

/** What `user_expressions` holds of an evaluated expression. */
export type Reply =
  | { readonly status: 'ok'; readonly data: { readonly [mime: string]: unknown } }
  | { readonly status: 'error'; readonly ename: string; readonly evalue: string };

export function isBroken(object: DataObject | BrokenObject): object is BrokenObject {
  return 'error' in object;
}

/** The listing in the kernel's reply; throws an error for the user to read when there is none. */
export function parseReply(reply: Reply | undefined, trans: TranslationBundle): Listing {
  if (reply === undefined) {
    throw new Error(trans.__('The kernel did not answer.'));
  }
  if (reply.status === 'error') {
    throw new Error(trans.__('The kernel answered with %1: %2', reply.ename, reply.evalue));
  }
  const encoded = /^'([A-Za-z0-9+/=]*)'$/.exec(String(reply.data['text/plain']));
  if (encoded?.[1] === undefined) {
    throw new Error(trans.__('The answer of the kernel cannot be read.'));
  }
  return JSON.parse(atob(encoded[1])) as Listing;
}

const NUMBER = new Intl.NumberFormat('en-US');

/** `120 × 40`, and whether the object is a view or on disk. */
export function describeShape(object: DataObject, trans: TranslationBundle): string {
  const shape = `${NUMBER.format(object.nObs)} × ${NUMBER.format(object.nVars)}`;
  const marks = [object.view ? trans.__('view') : '', object.backed ? trans.__('on disk') : ''];
  return [shape, ...marks].filter(Boolean).join(', ');
}

/** `condition (2)`: the name and the number of levels. */
export function describeColumn(column: Column): string {
  return `${column.name} (${column.exact ? '' : '≥ '}${column.levels})`;
}
