/** The lines of code that the sidebar offers for an object. */

import type { DataObject, Listing } from './listing.js';
import { literal, variable } from './python.js';

export interface Call {
  readonly id: string;
  readonly label: string;
  readonly group: 'Panels' | 'Lines of code';
  /** whether a column of conditions is said: never, where there is one, or always */
  readonly groupby: 'none' | 'optional' | 'required';
  /** the line that shows what the call has stored */
  readonly show?: string;
}

export const CALLS: readonly Call[] = [
  { id: 'panels.explore', label: 'Explore', group: 'Panels', groupby: 'none' },
  { id: 'panels.disc', label: 'DiSC panel', group: 'Panels', groupby: 'optional' },
  { id: 'panels.sparda', label: 'SPARDA panel', group: 'Panels', groupby: 'optional' },
  { id: 'panels.compare', label: 'Compare methods', group: 'Panels', groupby: 'required' },
  { id: 'panels.dufs', label: 'DUFS panel', group: 'Panels', groupby: 'none' },
  { id: 'panels.informed', label: 'Informed panel', group: 'Panels', groupby: 'none' },
  {
    id: 'tl.scorecard',
    label: 'Scorecard',
    group: 'Lines of code',
    groupby: 'required',
    show: 'get.scorecard'
  },
  { id: 'tl.disc', label: 'DiSC', group: 'Lines of code', groupby: 'required', show: 'get.disc' },
  { id: 'tl.sparda', label: 'SPARDA', group: 'Lines of code', groupby: 'required', show: 'get.sparda' },
  { id: 'tl.dufs', label: 'DUFS', group: 'Lines of code', groupby: 'none', show: 'get.dufs' },
  {
    id: 'tl.informed_distance',
    label: 'Informed distance',
    group: 'Lines of code',
    groupby: 'none',
    show: 'get.informed_distances'
  }
];

/** Whether a call can be made on an object: some need a column of conditions. */
export function possible(call: Call, object: DataObject): boolean {
  return call.groupby !== 'required' || object.columns.length > 0;
}

/** The code of a call, whole: it runs in a kernel that has not imported diffnb, too. */
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
