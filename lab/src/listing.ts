/** The silent question to a kernel, and its answer. */

import source from './generated/listing.js';
import { literal } from './python.js';

export interface Column {
  readonly name: string;
  readonly levels: number;
  readonly exact: boolean;
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
}

/** An AnnData that could not be read, with the name of the exception. */
export interface BrokenObject {
  readonly name: string;
  readonly error: string;
}

export interface Listing {
  readonly objects: readonly (DataObject | BrokenObject)[];
  /** how many were left out */
  readonly more: number;
  /** the name that diffnb has in the kernel */
  readonly alias: string | null;
  /** whether the kernel's Python has diffnb */
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

/** The listing in the kernel's reply; throws with a readable sentence when there is none. */
export function parseReply(reply: Reply | undefined): Listing {
  if (reply === undefined) {
    throw new Error('The kernel did not answer.');
  }
  if (reply.status === 'error') {
    throw new Error(`The kernel answered with ${reply.ename}: ${reply.evalue}`);
  }
  const coded = /^'([A-Za-z0-9+/=]*)'$/.exec(String(reply.data['text/plain']));
  if (coded?.[1] === undefined) {
    throw new Error('The kernel gave an answer that cannot be read.');
  }
  return JSON.parse(atob(coded[1])) as Listing;
}

const NUMBER = new Intl.NumberFormat('en-US');

/** `120 × 40`, and what is special about the object. */
export function describeShape(object: DataObject): string {
  const marks = [object.view ? 'view' : '', object.backed ? 'on disk' : ''].filter(Boolean);
  return [`${NUMBER.format(object.nObs)} × ${NUMBER.format(object.nVars)}`, ...marks].join(', ');
}

/** `condition (2)`: the name and the number of levels, in the little room of a sidebar. */
export function describeColumn(column: Column): string {
  return `${column.name} (${column.exact ? '' : '≥ '}${column.levels})`;
}
