/** The tree of an application: apps, their clusters, resources and children. Only opened groups have rows. */

import { el, fill, message, name } from './dom.js';
import { resourceKey } from './merge.js';
import { age, badge, badness, clusterName, counts, kindOf, staleMark, staleWord, stalest } from './words.js';

/** Rows of a group that are shown at first, and with each further step. */
const ROWS = 200;
/** Groups of at most this many resources are open at first, and so are groups with a problem. */
const OPEN_MAX = 20;

export class Tree {
  /**
   * @param {Function} select called with the place of a resource that the user opens
   * @param {string} search text that rows must contain
   * @param {Function} searched called with a changed text
   */
  constructor(select, search, searched) {
    this.select = select;
    this.search = search;
    /** The groups by app and cluster, with their elements and what the user chose. */
    this.groups = new Map();
    this.list = el('ul', { class: 'tree' });
    const input = el('input', { type: 'search', id: 'tree-search', value: search, placeholder: 'Kind, name, state or reason',
      oninput: (event) => {
        this.search = event.target.value;
        searched(this.search);
        if (this.status) this.draw(this.status);
      } });
    this.element = el('section', { class: 'tree-frame', 'aria-label': 'Resources' },
      el('form', { class: 'filters', role: 'search', onsubmit: (event) => event.preventDefault() },
        el('label', { for: 'tree-search' }, 'Search'), input), this.list);
  }

  draw(status) {
    this.status = status;
    const items = worstFirst(status.apps ?? []).map((app) => el('li', {},
      el('h2', { class: 'tree-app' }, name(app.name), ' ', badge(app['ready-phase'], app['ready-status']), ' ',
        staleMark(stalest(app.clusters)), ' ', counts(app['ready-counts'])),
      el('ul', {}, worstFirst(app.clusters).map((cluster) => el('li', {}, this.group(app, cluster))))));
    const focused = document.activeElement?.dataset?.key;
    fill(this.list, items.length > 0 ? items : el('li', { class: 'quiet' }, 'It has no resources.'));
    if (focused) this.list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  /** The element of an app in a cluster, which is made again only if its data differ. */
  group(app, cluster) {
    const key = JSON.stringify([app.name, clusterName(cluster)]);
    let group = this.groups.get(key);
    if (!group) {
      const isLarge = cluster.resources.length > OPEN_MAX && badness(cluster['ready-phase']) < badness('degraded');
      group = { isOpen: !isLarge, limit: ROWS };
      this.groups.set(key, group);
    }
    const text = this.search + JSON.stringify(cluster);
    if (group.text !== text) {
      group.text = text;
      group.element = this.groupElement(group, app.name, cluster);
    }
    return group.element;
  }

  groupElement(group, app, cluster) {
    const body = el('div', { class: 'rows' });
    const render = () => fill(body, this.rows(group, app, cluster));
    const details = el('details', { class: 'group', open: group.isOpen, ontoggle: () => {
      // A group that is made open gets this event too. Its rows exist already, and one of them may have the focus.
      if (details.open === group.isOpen) return;
      group.isOpen = details.open;
      if (details.open) render();
      else fill(body);
    } },
    el('summary', { 'data-key': `${app} ${clusterName(cluster)}` }, name(clusterName(cluster)), ' ',
      badge(cluster['ready-phase'], cluster['ready-status']), ' ', staleMark(cluster), ' ', counts(cluster['ready-counts']),
      el('span', { class: 'quiet' }, ` ${cluster.resources.length} resources`)),
    cluster['stale-reason'] && el('p', { class: 'warning' }, message(cluster['stale-reason'])),
    (cluster.faults ?? []).map((fault) => el('p', { class: 'warning' }, message(fault))),
    body);
    if (group.isOpen) render();
    group.render = render;
    return details;
  }

  rows(group, app, cluster) {
    const chosen = cluster.resources.filter((resource) => this.matches(resource));
    const { roots, children } = families(chosen);
    roots.sort((a, b) => badness(b.phase) - badness(a.phase));
    const shown = roots.slice(0, group.limit);
    const rest = roots.length - shown.length;
    return [
      chosen.length > 0 && el('div', { class: 'row row-head', 'aria-hidden': 'true' },
        ['State', 'Resource', 'Reason', 'Sent', 'Since'].map((text) => el('span', {}, text))),
      el('ul', {}, shown.map((resource) => this.item(app, cluster, resource, children, 0))),
      chosen.length === 0 && el('p', { class: 'quiet' }, 'No resource matches the search.'),
      rest > 0 && el('button', { type: 'button', onclick: () => { group.limit += ROWS; group.render(); } },
        `Show more (${rest} further resources)`),
    ];
  }

  item(app, cluster, resource, children, depth) {
    const own = children.get(resourceKey(resource)) ?? [];
    const isOpen = own.some((child) => badness(child.phase) >= badness('degraded'));
    return el('li', {}, this.row(app, cluster, resource),
      own.length > 0 && depth < 8 && el('details', { class: 'children', open: isOpen },
        el('summary', {}, `${own.length} owned: `, name([...new Set(own.map((child) => child.GVK.Kind))].join(', '))),
        el('ul', {}, own.map((child) => this.item(app, cluster, child, children, depth + 1)))));
  }

  row(app, cluster, resource) {
    const place = [app, clusterName(cluster), resourceKey(resource)];
    return el('button', { type: 'button', class: 'row', 'data-key': JSON.stringify(place), onclick: () => this.select(place) },
      el('span', {}, badge(resource.phase, resource['cluster-status']), ' ', staleWord(cluster)),
      el('span', {}, el('bdi', { class: 'quiet' }, resource.GVK.Kind), ' ', name(resource.name),
        resource.hook && el('span', { class: 'mark' }, 'hook'),
        resource.GVK.Group && el('bdi', { class: 'quiet group-name' }, resource.GVK.Group)),
      el('span', { class: 'reason' }, el('bdi', { class: 'word' }, resource.reason ?? ''), ' ', message(resource.message),
        resource.restarts && el('span', { class: 'mark' }, `${resource.restarts} restarts`)),
      el('span', { class: 'quiet' }, resource['rsync-status'] ?? ''),
      age(resource.since));
  }

  matches(resource) {
    const wanted = this.search.trim().toLowerCase();
    const texts = [kindOf(resource.GVK), resource.name, resource.namespace, resource['cluster-status'], resource.reason];
    return !wanted || texts.some((text) => text?.toLowerCase().includes(wanted));
  }
}

/** Apps or clusters by their state. Those with the same state keep their order. */
function worstFirst(parts) {
  return [...parts].sort((a, b) => badness(b['ready-phase']) - badness(a['ready-phase']));
}

/** Resources without a listed owner, and the children of each resource. */
function families(resources) {
  const keys = new Set(resources.map(resourceKey));
  const children = new Map();
  const roots = [];
  for (const resource of resources) {
    const owner = resource.owner && resourceKey(resource.owner);
    if (!owner || !keys.has(owner) || owner === resourceKey(resource)) roots.push(resource);
    else if (children.has(owner)) children.get(owner).push(resource);
    else children.set(owner, [resource]);
  }
  return { roots, children };
}
