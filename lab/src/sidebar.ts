/** The sidebar: the AnnData objects of the active notebook, and what can be done with each. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { type CardActions, type Choice, ObjectCard } from './card.js';
import { button, element } from './dom.js';
import { isBroken, type Listing } from './listing.js';
import { NO_NOTEBOOK, type View, view } from './state.js';

export interface SidebarActions extends CardActions {
  refresh(): void;
  newAnalysis(): void;
}

export class Sidebar extends Widget {
  constructor(
    private readonly actions: SidebarActions,
    private readonly trans: TranslationBundle
  ) {
    super();
    this.addClass('diffnb-Sidebar');
    this.cards = element('ul', { class: 'diffnb-Sidebar-cards', 'aria-label': trans.__('AnnData objects') });
    this.node.append(this.header(), this.status, this.cards, this.footer());
    this.draw(view(NO_NOTEBOOK, trans));
  }

  /** Draw a view; elements that have not changed stay, and with them the focus and open lists. */
  draw(view: View): void {
    this.node.dataset.state = view.kind;
    if (this.status.textContent !== view.message) {
      this.status.textContent = view.message;
    }
    const drawn = JSON.stringify(view.listing);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.drawCards(view.listing);
    }
  }

  private header(): HTMLElement {
    const attributes = { class: 'diffnb-Button', title: this.trans.__('List the objects of the kernel again') };
    const refresh = button(this.trans.__('Refresh'), attributes, () => this.actions.refresh());
    return element('header', { class: 'diffnb-Sidebar-header' }, element('h2', {}, 'diffnb'), refresh);
  }

  private footer(): HTMLElement {
    const label = this.trans.__('New differential analysis …');
    const create = button(label, { class: 'diffnb-Button' }, () => this.actions.newAnalysis());
    return element('footer', { class: 'diffnb-Sidebar-footer' }, create);
  }

  private drawCards(listing: Listing | null): void {
    const focused = document.activeElement?.getAttribute('data-focus');
    this.cards.replaceChildren();
    for (const object of listing?.objects ?? []) {
      const item = isBroken(object)
        ? element('p', { class: 'diffnb-Card' }, this.trans.__('%1: cannot be read (%2)', object.name, object.error))
        : new ObjectCard(object, listing as Listing, this.choiceOf(object.name), this.actions, this.trans).node;
      this.cards.append(element('li', {}, item));
    }
    if (focused) {
      const controls = [...this.cards.querySelectorAll<HTMLElement>('[data-focus]')];
      controls.find(node => node.getAttribute('data-focus') === focused)?.focus();
    }
  }

  /** What the user has chosen for a name is kept when its card is replaced. */
  private choiceOf(name: string): Choice {
    const choice = this.choices.get(name) ?? { call: null, column: null };
    this.choices.set(name, choice);
    return choice;
  }

  private readonly status = element('p', { class: 'diffnb-Sidebar-status', role: 'status' });
  private readonly cards: HTMLElement;
  private readonly choices = new Map<string, Choice>();
  private drawn = '';
}
