/** The sidebar: the AnnData objects of the notebook in front, and what can be done with each. */

import { Widget } from '@lumino/widgets';
import { type CardActions, type Choice, ObjectCard } from './card.js';
import { button, element } from './dom.js';
import { isBroken, type Listing } from './listing.js';
import { NOTHING, type View, view } from './state.js';

export interface SidebarActions extends CardActions {
  refresh(): void;
  newAnalysis(): void;
}

export class Sidebar extends Widget {
  constructor(private readonly actions: SidebarActions) {
    super();
    this.addClass('diffnb-Sidebar');
    const again = button('Refresh', { class: 'diffnb-Button', title: 'Look into the kernel again' }, () =>
      actions.refresh()
    );
    this.node.append(
      element('header', { class: 'diffnb-Sidebar-header' }, element('h2', {}, 'diffnb'), again),
      this.status,
      this.cards,
      element(
        'footer',
        { class: 'diffnb-Sidebar-footer' },
        button('New differential analysis …', { class: 'diffnb-Button' }, () => actions.newAnalysis())
      )
    );
    this.draw(view(NOTHING));
  }

  /** Draw a view; nothing is touched where nothing has changed, so that focus and open lists stay. */
  draw(view: View): void {
    const key = JSON.stringify(view);
    if (key === this.shown) {
      return;
    }
    this.shown = key;
    this.node.dataset.state = view.kind;
    this.status.textContent = view.message;
    const drawn = JSON.stringify(view.listing);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.drawCards(view.listing);
    }
  }

  private drawCards(listing: Listing | null): void {
    const focused = document.activeElement?.getAttribute('data-focus');
    this.cards.replaceChildren();
    for (const object of listing?.objects ?? []) {
      const item = isBroken(object)
        ? element('p', { class: 'diffnb-Card' }, `${object.name}: cannot be read (${object.error})`)
        : new ObjectCard(object, listing as Listing, this.choiceOf(object.name), this.actions).node;
      this.cards.append(element('li', {}, item));
    }
    if (focused) {
      const same = [...this.cards.querySelectorAll<HTMLElement>('[data-focus]')];
      same.find(node => node.getAttribute('data-focus') === focused)?.focus();
    }
  }

  /** What the user has chosen on the card of a name stays chosen when the card is drawn anew. */
  private choiceOf(name: string): Choice {
    const choice = this.choices.get(name) ?? { call: null, column: null };
    this.choices.set(name, choice);
    return choice;
  }

  private readonly status = element('p', { class: 'diffnb-Sidebar-status', role: 'status' });
  private readonly cards = element('ul', { class: 'diffnb-Sidebar-cards', 'aria-label': 'AnnData objects' });
  private readonly choices = new Map<string, Choice>();
  private shown = '';
  private drawn = '';
}
