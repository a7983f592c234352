/** The history of an application as a timeline, newest first. */

import { get } from './api.js';
import { el, fill, message, name } from './dom.js';
import { badge } from './words.js';

const PAGE = 100;
/** The pause after a read of the newest page, in milliseconds. */
const PAUSE_MS = 1000;

export class History {
  /** @param {string} path path of the application */
  constructor(path) {
    this.path = path;
    /** The transitions by id, newest first. */
    this.transitions = [];
    this.list = el('ol', { class: 'timeline' });
    this.more = el('p');
    this.element = el('section', { 'aria-label': 'History', hidden: true }, this.list, this.more);
  }

  /** Reads the newest page: now, or after the pause of the last read. */
  async load() {
    this.isDue = true;
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.isDue) {
      this.isDue = false;
      await this.read();
      await new Promise((done) => { setTimeout(done, PAUSE_MS); });
    }
    this.isBusy = false;
  }

  async read(before) {
    const query = new URLSearchParams({ limit: PAGE, ...before && { before } });
    try {
      const page = await get(`${this.path}/history?${query}`);
      this.take(page, before);
    } catch (problem) {
      fill(this.more, el('span', { class: 'error', role: 'alert' }, problem.message));
    }
  }

  take(page, before) {
    const known = new Set(this.transitions.map((it) => it.id));
    const fresh = page.transitions.filter((it) => !known.has(it.id));
    // Without a known transition, others may be missing between this page and the list.
    const isNew = !before && fresh.length === page.transitions.length;
    if (before) this.transitions = [...this.transitions, ...fresh];
    else this.transitions = isNew ? fresh : [...fresh, ...this.transitions];
    if (before || isNew) this.next = page.next;
    fill(this.list, this.transitions.length > 0 ? this.transitions.map(item) : el('li', { class: 'quiet' }, page.message ?? 'There is no transition yet.'));
    fill(this.more, this.next && el('button', { type: 'button', onclick: () => this.read(this.next) }, 'Show earlier transitions'),
      page.dropped && el('span', { class: 'quiet' }, ` ${page.dropped} earlier transitions were dropped.`));
  }
}

function item(it) {
  const subject = it.GVK ? [el('bdi', { class: 'quiet' }, it.GVK.Kind), ' ', name(it.name), el('span', { class: 'quiet' }, ' of ', name(it.app), ' in ', name(it.cluster))]
    : el('strong', {}, 'the application');
  return el('li', { class: it.GVK ? undefined : 'whole' },
    el('div', { class: 'when' }, it.at && new Date(it.at).toLocaleString()),
    el('div', {}, subject, ' ', it.from && [badge(it.from.phase, it.from.state), ' → '],
      it.to ? badge(it.to.phase, it.to.state) : el('span', { class: 'quiet' }, 'no longer listed'), ' ',
      it.cause === 'interpreters' && el('span', { class: 'mark' }, 'an interpreter changed')),
    el('div', { class: 'reason' }, el('bdi', { class: 'word' }, it.reason ?? ''), ' ', message(it.message)));
}
