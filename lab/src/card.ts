/** One AnnData in the sidebar: choose conditions and a call, see the code, insert it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { allCalls, type Call, codeOf, isAvailable, likelySamples } from './calls.js';
import { button, element, labelled } from './dom.js';
import { type DataObject, describeColumn, describeShape, type Listing } from './listing.js';

export interface CardActions {
  /** put the code into a new cell and run it */
  insert(code: string): void;
  /** the same, with the output in a tab beside the notebook */
  insertBeside(code: string): void;
}

/** What is chosen on a card. */
export interface Choice {
  call: string | null;
  column: string | null;
  /** null for none, undefined until the user has chosen: the likely ones then */
  samples?: string | null;
  covariates?: readonly string[];
}

export class ObjectCard {
  readonly node: HTMLElement;

  constructor(
    private readonly object: DataObject,
    private readonly listing: Listing,
    private readonly choice: Choice,
    private readonly actions: CardActions,
    private readonly trans: TranslationBundle
  ) {
    this.calls = allCalls(trans);
    this.preview = element('pre', { class: 'diffnb-Card-code', 'aria-label': trans.__('The code to insert') });
    this.besideButton = button(trans.__('Open beside'), this.focusable('beside', 'diffnb-Button'), () =>
      actions.insertBeside(this.code())
    );
    const { name } = object;
    this.node = element(
      'section',
      { class: 'diffnb-Card', 'aria-label': name },
      this.title(),
      ...this.columnControl(),
      ...this.samplesControl(),
      ...this.covariatesControl(),
      this.callControl(),
      this.preview,
      this.buttons()
    );
    this.update();
  }

  private title(): HTMLElement {
    const { name } = this.object;
    return element(
      'div',
      { class: 'diffnb-Card-title' },
      element('h3', { title: name }, name),
      element('span', { class: 'diffnb-Card-shape' }, describeShape(this.object, this.trans))
    );
  }

  private columnControl(): HTMLElement[] {
    const { columns } = this.object;
    if (columns.length === 0) {
      const hint = this.trans.__('No column of obs could hold conditions.');
      return [element('p', { class: 'diffnb-Card-hint' }, hint)];
    }
    const select = element('select', this.focusable('column', 'diffnb-Select'));
    for (const column of columns) {
      select.append(element('option', { value: column.name }, describeColumn(column)));
    }
    const known = columns.some(column => column.name === this.choice.column);
    this.choice.column = known ? this.choice.column : (columns[0]?.name ?? null);
    select.value = this.choice.column ?? '';
    select.addEventListener('change', () => {
      this.choice.column = select.value;
      this.choice.samples = undefined;
      this.samplesSelect.value = this.samples ?? '';
      this.update();
    });
    return [labelled(this.trans.__('Conditions'), select)];
  }

  private samplesControl(): HTMLElement[] {
    const { columns, sampleColumns } = this.object;
    const select = this.samplesSelect;
    for (const [name, value] of Object.entries(this.focusable('samples', 'diffnb-Select'))) {
      select.setAttribute(name, value);
    }
    select.append(element('option', { value: '' }, this.trans.__('none: single observations')));
    for (const name of sampleColumns) {
      select.append(element('option', { value: name }, name));
    }
    select.value = this.samples ?? '';
    select.addEventListener('change', () => {
      this.choice.samples = select.value === '' ? null : select.value;
      this.update();
    });
    return columns.length === 0 ? [] : [labelled(this.trans.__('Samples'), select), this.unitsHint];
  }

  private covariatesControl(): HTMLElement[] {
    const { covariates } = this.object;
    if (covariates.length === 0) {
      return [];
    }
    const boxes = covariates.map(name => {
      const box = element('input', { type: 'checkbox', value: name });
      box.checked = this.covariates.includes(name);
      box.addEventListener('change', () => {
        const others = this.covariates.filter(other => other !== name);
        this.choice.covariates = box.checked ? [...others, name] : others;
        this.update();
      });
      return element('label', { class: 'diffnb-Card-covariate' }, box, name);
    });
    const summary = element('summary', {}, this.trans.__('Covariates'));
    const folded = element('details', { class: 'diffnb-Card-covariates' }, summary, ...boxes);
    folded.open = this.covariates.length > 0;
    return [folded];
  }

  private callControl(): HTMLElement {
    const select = element('select', this.focusable('call', 'diffnb-Select'));
    select.append(
      this.callGroup(this.trans.__('Panels'), 'panel'),
      this.callGroup(this.trans.__('Lines of code'), 'code')
    );
    const available = this.calls.filter(call => isAvailable(call, this.object));
    const chosen = available.find(call => call.id === this.choice.call) ?? this.calls[0];
    this.choice.call = chosen?.id ?? null;
    select.value = this.choice.call ?? '';
    select.addEventListener('change', () => {
      this.choice.call = select.value;
      this.update();
    });
    return labelled(this.trans.__('Do'), select);
  }

  private callGroup(label: string, kind: Call['kind']): HTMLElement {
    const options = this.calls
      .filter(call => call.kind === kind)
      .map(call => {
        const option = element('option', { value: call.id }, call.label);
        option.disabled = !isAvailable(call, this.object);
        return option;
      });
    return element('optgroup', { label }, ...options);
  }

  private buttons(): HTMLElement {
    const attributes = this.focusable('insert', 'diffnb-Button diffnb-mod-main');
    const insert = button(this.trans.__('Insert and run'), attributes, () => this.actions.insert(this.code()));
    return element('div', { class: 'diffnb-Card-actions' }, insert, this.besideButton);
  }

  /** Attributes by which the sidebar restores the focus after the card was replaced. */
  private focusable(part: string, className: string): Record<string, string> {
    return { class: className, 'data-part': part, 'data-focus': `${part}:${this.object.name}` };
  }

  private get call(): Call {
    return this.calls.find(call => call.id === this.choice.call) as Call;
  }

  private code(): string {
    const columns = { groupby: this.choice.column, samples: this.samples, covariates: this.covariates };
    return codeOf(this.call, this.object, columns, this.listing);
  }

  /** The column of samples: what the user has chosen, otherwise the likeliest. */
  private get samples(): string | null {
    const { samples, column } = this.choice;
    const usable = samples === null || (samples !== undefined && this.object.sampleColumns.includes(samples));
    return usable ? samples : likelySamples(this.object, column);
  }

  private get covariates(): readonly string[] {
    return (this.choice.covariates ?? []).filter(name => this.object.covariates.includes(name));
  }

  /** What the p-values count, where single observations are their units though there are samples. */
  private describeUnits(): string {
    const likely = likelySamples(this.object, this.choice.column);
    return this.samples === null && likely !== null && this.call.samples
      ? this.trans.__(
          'Observations of one %1 are alike: with single observations as units, p-values are too small.',
          likely
        )
      : '';
  }

  private update(): void {
    this.preview.textContent = this.code();
    this.unitsHint.textContent = this.describeUnits();
    this.unitsHint.hidden = this.unitsHint.textContent === '';
    this.besideButton.hidden = this.call.kind !== 'panel';
  }

  private readonly calls: readonly Call[];
  private readonly samplesSelect = element('select');
  private readonly unitsHint = element('p', { class: 'diffnb-Card-hint' });
  private readonly preview: HTMLElement;
  private readonly besideButton: HTMLButtonElement;
}
