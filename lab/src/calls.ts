/** The calls that the sidebar offers for an object, and their code. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { DataObject, Listing } from './listing.js';
import { literal, variable } from './python.js';

export interface Call {
  readonly id: string;
  readonly label: string;
  readonly kind: 'panel' | 'code';
  /** whether the call names a column of conditions: never, where there is one, or always */
  readonly groupby: 'none' | 'optional' | 'required';
  /** the function that returns the results of the call */
  readonly show?: string;
}

function panels(trans: TranslationBundle): readonly Call[] {
  return [
    { id: 'panels.explore', label: trans.__('Explore'), kind: 'panel', groupby: 'none' },
    { id: 'panels.disc', label: trans.__('DiSC panel'), kind: 'panel', groupby: 'optional' },
    { id: 'panels.sparda', label: trans.__('SPARDA panel'), kind: 'panel', groupby: 'optional' },
    { id: 'panels.compare', label: trans.__('Compare methods'), kind: 'panel', groupby: 'required' },
    { id: 'panels.dufs', label: trans.__('DUFS panel'), kind: 'panel', groupby: 'none' },
    { id: 'panels.informed', label: trans.__('Informed panel'), kind: 'panel', groupby: 'none' }
  ];
}

function tools(trans: TranslationBundle): readonly Call[] {
  return [
    {
      id: 'tl.scorecard',
      label: trans.__('Scorecard'),
      kind: 'code',
      groupby: 'required',
      show: 'get.scorecard'
    },
    { id: 'tl.disc', label: trans.__('DiSC'), kind: 'code', groupby: 'required', show: 'get.disc' },
    { id: 'tl.sparda', label: trans.__('SPARDA'), kind: 'code', groupby: 'required', show: 'get.sparda' },
    { id: 'tl.dufs', label: trans.__('DUFS'), kind: 'code', groupby: 'none', show: 'get.dufs' },
    {
      id: 'tl.informed_distance',
      label: trans.__('Informed distance'),
      kind: 'code',
      groupby: 'none',
      show: 'get.informed_distances'
    }
  ];
}

/** All calls, in the order in which they are offered. */
export function allCalls(trans: TranslationBundle): readonly Call[] {
  return [...panels(trans), ...tools(trans)];
}

/** Whether a call can be made on an object: some need a column of conditions. */
export function isAvailable(call: Call, object: DataObject): boolean {
  return call.groupby !== 'required' || object.columns.length > 0;
}

/** The complete code of a call: it runs in a kernel that has not imported diffnb, too. */
export function codeOf(call: Call, object: DataObject, column: string | null, listing: Listing): string {
  const dn = listing.alias ?? 'dn';
  const adata = variable(object.name, object.identifier);
  const groupby = call.groupby === 'none' || column === null ? '' : `, ${literal(column)}`;
  const lines = listing.alias === null ? ['import diffnb as dn', ''] : [];
  lines.push(`${dn}.${call.id}(${adata}${groupby})`);
  if (call.show !== undefined) {
    lines.push(`${dn}.${call.show}(${adata})`);
  }
  return lines.join('\n');
}
