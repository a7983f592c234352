/** The list of applications: state, time in that state, worst reason; with filter and search. */

import { announce, el, fill, message, name } from './dom.js';
import { identity, mergeApplications } from './merge.js';
import { applicationLink, replaceQuery, resourceLink } from './route.js';
import { follow } from './stream.js';
import { PHASES, age, applicationName, badge, badness, counts, staleMark } from './words.js';

/** Rows that are shown at first, and with each further step. */
const ROWS = 200;
const COLUMNS = ['Application', 'State', 'Since', 'Reason', 'Clusters', 'Resources'];

export function show(main, { query }) {
  const view = { list: null, rows: new Map(), limit: ROWS, search: query.get('q') ?? '', states: query.getAll('state'),
    cluster: query.get('cluster') ?? '' };
  frame(main, view);
  const stream = follow('/v2/applications/watch', {
    snapshot(list) {
      view.list = list;
      view.rows.clear();
      draw(view);
    },
    change(change) {
      for (const app of [...change.gone ?? [], ...change.applications ?? []]) view.rows.delete(identity(app));
      mergeApplications(view.list, change);
      tell(change.applications ?? []);
      draw(view);
    },
    ended(problem) {
      // The last known state would look live.
      view.list = null;
      for (const part of [view.body, view.chips, view.more]) fill(part);
      fill(view.notice, el('p', { class: 'error', role: 'alert' }, problem.message));
    },
  });
  return () => stream.close();
}

function frame(main, view) {
  const redraw = () => {
    view.limit = ROWS;
    replaceQuery({ q: view.search, state: view.states, cluster: view.cluster });
    draw(view);
  };
  const search = el('input', { type: 'search', id: 'search', value: view.search, placeholder: 'Name, reason or message',
    oninput: (event) => { view.search = event.target.value; redraw(); } });
  view.clusters = el('select', { id: 'cluster',
    onchange: (event) => { view.cluster = event.target.value; redraw(); } });
  view.chips = el('div', { class: 'chips', role: 'group', 'aria-label': 'States' });
  view.notice = el('div', { class: 'notices', role: 'status' });
  view.body = el('tbody');
  view.more = el('p');
  view.redraw = redraw;
  fill(main, el('h1', {}, 'Applications'),
    el('form', { class: 'filters', role: 'search', onsubmit: (event) => event.preventDefault() },
      el('label', { for: 'search' }, 'Search'), search, el('label', { for: 'cluster' }, 'Cluster'), view.clusters),
    view.chips, view.notice,
    el('div', { class: 'table-frame', tabindex: '0', role: 'region', 'aria-label': 'List of applications' },
      el('table', { class: 'applications' },
        el('thead', {}, el('tr', {}, COLUMNS.map((column) => el('th', { scope: 'col' }, column)))), view.body)),
    view.more);
  fill(view.body, el('tr', {}, el('td', { colspan: COLUMNS.length, class: 'quiet' }, 'Loading…')));
}

function draw(view) {
  if (!view.list) return;
  const all = view.list.applications;
  chips(view, all);
  clusterOptions(view, all);
  const chosen = all.filter((app) => matches(view, app));
  chosen.sort((a, b) => badness(phase(b)) - badness(phase(a)) || applicationName(a).localeCompare(applicationName(b)));
  const rows = chosen.slice(0, view.limit).map((app) => row(view, app));
  fill(view.body, rows.length > 0 ? rows : el('tr', {}, el('td', { colspan: COLUMNS.length, class: 'quiet' }, empty(all))));
  const rest = chosen.length - view.limit;
  fill(view.more, rest > 0 && el('button', { type: 'button',
    onclick: () => { view.limit += ROWS; draw(view); } }, `Show more (${rest} further applications)`));
  notices(view);
}

function empty(all) {
  return all.length > 0 ? 'No application matches the filter.'
    : 'No application was found yet. The view “Clusters” shows whether the clusters are connected.';
}

function notices(view) {
  const { store, 'state-store': states, more } = view.list;
  fill(view.notice,
    store && el('p', { class: 'warning' }, 'The store of applications cannot be reached: ', message(store.reason)),
    states && el('p', { class: 'warning' }, 'The store of lifecycle states cannot be reached.'),
    more && el('p', {}, `${more} further applications are not in this list.`));
}

/** Buttons that filter by state, with the number of applications. */
function chips(view, all) {
  const numbers = {};
  for (const app of all) numbers[phase(app)] = (numbers[phase(app)] ?? 0) + 1;
  const phases = PHASES.toReversed().filter((word) => numbers[word] || view.states.includes(word));
  const text = JSON.stringify([phases, numbers, view.states]);
  if (text === view.chipsText) return;
  view.chipsText = text;
  const focused = view.chips.contains(document.activeElement) ? document.activeElement.dataset.phase : null;
  fill(view.chips, phases.map((word) => el('button', { type: 'button', class: `chip phase-${word}`, 'data-phase': word,
    'aria-pressed': String(view.states.includes(word)), onclick: () => toggle(view, word) },
  el('b', {}, numbers[word] ?? 0), ' ', word)));
  if (focused) view.chips.querySelector(`[data-phase="${focused}"]`)?.focus();
}

function toggle(view, word) {
  view.states = view.states.includes(word) ? view.states.filter((other) => other !== word) : [...view.states, word];
  view.redraw();
}

function clusterOptions(view, all) {
  const names = [...new Set([...all.flatMap((app) => app.clusters), view.cluster].filter(Boolean))].sort();
  const text = names.join('\n');
  if (text === view.clustersText) return;
  view.clustersText = text;
  fill(view.clusters, el('option', { value: '' }, 'all clusters'),
    names.map((cluster) => el('option', { value: cluster, selected: cluster === view.cluster }, cluster)));
}

function matches(view, app) {
  if (view.states.length > 0 && !view.states.includes(phase(app))) return false;
  if (view.cluster && !app.clusters.includes(view.cluster)) return false;
  const wanted = view.search.trim().toLowerCase();
  const texts = [app.project, app['composite-app-name'], app['composite-app-version'], app.name, app.message,
    app.worst?.reason, app.worst?.message];
  return !wanted || texts.some((text) => text?.toLowerCase().includes(wanted)) || applicationName(app).toLowerCase().includes(wanted);
}

/** The row of an application, which is made again only after a change of the application. */
function row(view, app) {
  const key = identity(app);
  let known = view.rows.get(key);
  if (!known) {
    known = makeRow(app);
    view.rows.set(key, known);
  }
  return known;
}

function makeRow(app) {
  const worst = app.worst;
  return el('tr', { class: app['stale-since'] ? 'is-stale' : undefined },
    el('th', { scope: 'row' }, el('a', { href: applicationLink(app) }, name(applicationName(app))),
      app.project !== '-' && el('div', { class: 'quiet' }, name(`${app.project}/${app['composite-app-name']}/${app['composite-app-version']}`))),
    el('td', {}, badge(phase(app), app['ready-status']), staleMark(app)),
    el('td', {}, age(app.since)),
    el('td', { class: 'reason' }, worst ? [el('bdi', { class: 'word' }, worst.reason), ' ',
      el('a', { href: resourceLink(app, worst) }, name(worst.GVK.Kind), ' ', name(worst.name)), message(worst.message)] : message(app.message)),
    el('td', { class: 'clusters' }, app.clusters.length > 2 ? `${app.clusters.length} clusters` : app.clusters.map((cluster) => el('div', {}, name(cluster)))),
    el('td', {}, counts(app['ready-counts'])));
}

function phase(app) {
  return app['ready-phase'] ?? 'unknown';
}

/** Reads the changed states to users of a screen reader, if they are few. */
function tell(changed) {
  if (changed.length > 0 && changed.length <= 3) {
    announce(changed.map((app) => `${applicationName(app)} is ${app['ready-status'] ?? 'unknown'}`).join('; '));
  }
}
