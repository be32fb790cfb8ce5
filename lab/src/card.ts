/** One AnnData in the sidebar: choose conditions and a call, see the code, insert it. */

import { CALLS, type Call, codeOf, possible } from './calls.js';
import { button, element, labelled } from './dom.js';
import { type DataObject, describeColumn, describeShape, type Listing } from './listing.js';

export interface CardActions {
  /** put the code into a new cell and run it */
  insert(code: string): void;
  /** the same, with the output in a tab beside the notebook */
  beside(code: string): void;
}

/** What is chosen on a card. */
export interface Choice {
  call: string | null;
  column: string | null;
}

export class ObjectCard {
  readonly node: HTMLElement;

  constructor(
    private readonly object: DataObject,
    private readonly listing: Listing,
    private readonly choice: Choice,
    actions: CardActions
  ) {
    const { name } = object;
    this.besideButton = button('Open beside', this.focusable('beside', 'diffnb-Button'), () =>
      actions.beside(this.code())
    );
    this.node = element(
      'section',
      { class: 'diffnb-Card', 'aria-label': name },
      element(
        'div',
        { class: 'diffnb-Card-title' },
        element('h3', { title: name }, name),
        element('span', { class: 'diffnb-Card-shape' }, describeShape(object))
      ),
      ...this.columnControl(),
      this.callControl(),
      this.preview,
      element(
        'div',
        { class: 'diffnb-Card-actions' },
        button('Insert and run', this.focusable('insert', 'diffnb-Button diffnb-mod-main'), () =>
          actions.insert(this.code())
        ),
        this.besideButton
      )
    );
    this.update();
  }

  private columnControl(): HTMLElement[] {
    const { columns } = this.object;
    if (columns.length === 0) {
      return [element('p', { class: 'diffnb-Card-hint' }, 'No column of obs could hold conditions.')];
    }
    const select = element('select', this.focusable('column', 'diffnb-Select'));
    for (const column of columns) {
      select.append(element('option', { value: column.name }, describeColumn(column)));
    }
    const kept = columns.some(column => column.name === this.choice.column);
    this.choice.column = kept ? this.choice.column : (columns[0]?.name ?? null);
    select.value = this.choice.column ?? '';
    select.addEventListener('change', () => {
      this.choice.column = select.value;
      this.update();
    });
    return [labelled('Conditions', select)];
  }

  private callControl(): HTMLElement {
    const select = element('select', this.focusable('call', 'diffnb-Select'));
    for (const group of ['Panels', 'Lines of code'] as const) {
      const options = CALLS.filter(call => call.group === group).map(call => {
        const option = element('option', { value: call.id }, call.label);
        option.disabled = !possible(call, this.object);
        return option;
      });
      select.append(element('optgroup', { label: group }, ...options));
    }
    const chosen = CALLS.find(call => call.id === this.choice.call && possible(call, this.object)) ?? CALLS[0];
    this.choice.call = chosen?.id ?? null;
    select.value = this.choice.call ?? '';
    select.addEventListener('change', () => {
      this.choice.call = select.value;
      this.update();
    });
    return labelled('Do', select);
  }

  /** Names for the focus to be found again by, and for tests. */
  private focusable(part: string, className: string): Record<string, string> {
    return { class: className, 'data-part': part, 'data-focus': `${part}:${this.object.name}` };
  }

  private get call(): Call {
    return CALLS.find(call => call.id === this.choice.call) as Call;
  }

  private code(): string {
    return codeOf(this.call, this.object, this.choice.column, this.listing);
  }

  private update(): void {
    this.preview.textContent = this.code();
    this.besideButton.hidden = this.call.group !== 'Panels';
  }

  private readonly preview = element('pre', { class: 'diffnb-Card-code', 'aria-label': 'The code to insert' });
  private readonly besideButton: HTMLButtonElement;
}
