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
  /** whether the call takes a column of samples */
  readonly samples?: boolean;
  /** whether the call takes covariates */
  readonly covariates?: boolean;
  /** the function that returns the results of the call */
  readonly show?: string;
}

function panels(trans: TranslationBundle): readonly Call[] {
  return [
    {
      id: 'panels.explore',
      label: trans.__('Explore'),
      kind: 'panel',
      groupby: 'none'
    },
    {
      id: 'panels.scorecard',
      label: trans.__('Scorecard panel'),
      kind: 'panel',
      groupby: 'optional',
      samples: true,
      covariates: true
    },
    {
      id: 'panels.disc',
      label: trans.__('DiSC panel'),
      kind: 'panel',
      groupby: 'optional',
      samples: true,
      covariates: true
    },
    {
      id: 'panels.sparda',
      label: trans.__('SPARDA panel'),
      kind: 'panel',
      groupby: 'optional',
      samples: true,
      covariates: true
    },
    {
      id: 'panels.compare',
      label: trans.__('Compare methods'),
      kind: 'panel',
      groupby: 'required',
      samples: true,
      covariates: true
    },
    { id: 'panels.dufs', label: trans.__('DUFS panel'), kind: 'panel', groupby: 'none' },
    { id: 'panels.informed', label: trans.__('Informed panel'), kind: 'panel', groupby: 'none', covariates: true }
  ];
}

function tools(trans: TranslationBundle): readonly Call[] {
  return [
    {
      id: 'tl.scorecard',
      label: trans.__('Scorecard'),
      kind: 'code',
      groupby: 'required',
      samples: true,
      covariates: true,
      show: 'get.scorecard'
    },
    {
      id: 'tl.disc',
      label: trans.__('DiSC'),
      kind: 'code',
      groupby: 'required',
      samples: true,
      covariates: true,
      show: 'get.disc'
    },
    {
      id: 'tl.sparda',
      label: trans.__('SPARDA'),
      kind: 'code',
      groupby: 'required',
      samples: true,
      covariates: true,
      show: 'get.sparda'
    },
    { id: 'tl.dufs', label: trans.__('DUFS'), kind: 'code', groupby: 'none', show: 'get.dufs' },
    {
      id: 'tl.informed_distance',
      label: trans.__('Informed distance'),
      kind: 'code',
      groupby: 'none',
      covariates: true,
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

/** The columns that are chosen for a call; null for none. */
export interface Columns {
  readonly groupby: string | null;
  readonly samples: string | null;
  readonly covariates: readonly string[];
}

/** The samples that are selected where the user has not chosen: the likeliest of the conditions. */
export function likelySamples(object: DataObject, groupby: string | null): string | null {
  return object.columns.find(column => column.name === groupby)?.samples[0] ?? null;
}

/** The complete code of a call: it runs in a kernel that has not imported diffnb, too. */
export function codeOf(call: Call, object: DataObject, columns: Columns, listing: Listing): string {
  const dn = listing.alias ?? 'dn';
  const adata = variable(object.name, object.identifier);
  const lines = listing.alias === null ? ['import diffnb as dn', ''] : [];
  lines.push(`${dn}.${call.id}(${[adata, ...argumentsOf(call, object, columns)].join(', ')})`);
  if (call.show !== undefined) {
    lines.push(`${dn}.${call.show}(${adata})`);
  }
  return lines.join('\n');
}

function argumentsOf(call: Call, object: DataObject, { groupby, samples, covariates }: Columns): string[] {
  const found: string[] = [];
  if (call.groupby !== 'none' && groupby !== null) {
    found.push(literal(groupby));
  }
  if (call.samples && samples !== null) {
    found.push(`sample_key=${literal(samples)}`);
  } else if (call.samples && call.kind === 'panel' && likelySamples(object, groupby) !== null) {
    found.push('sample_key=None'); // a panel would select the likely ones
  }
  if (call.covariates && covariates.length > 0) {
    found.push(`covariates=[${covariates.map(literal).join(', ')}]`);
  }
  return found;
}
