/** One application: its state, the tree of its resources, the details of one resource, its history. */

import { applicationPath } from './api.js';
import { announce, el, fill, message, name } from './dom.js';
import { mergeStatus } from './merge.js';
import { link, replaceQuery } from './route.js';
import { follow } from './stream.js';
import { applicationName, badge, counts, staleMark } from './words.js';
import { History } from './history.js';
import { ResourceDetails } from './resource.js';
import { Tree } from './tree.js';

const QUESTION = 'type=all&explain=true';
const TABS = { resources: 'Resources', history: 'History' };

export function show(main, { parts, query }) {
  const [project, composite, version, group] = parts;
  const app = { project, 'composite-app-name': composite, 'composite-app-version': version, name: group };
  const path = applicationPath(app);
  const view = { app, status: null, tab: query.get('tab') === 'history' ? 'history' : 'resources', query };
  view.details = new ResourceDetails(path, () => select(view, null));
  view.tree = new Tree((place) => select(view, place), query.get('q') ?? '', (search) => remember(view, { q: search }));
  view.history = new History(path);
  frame(main, view);
  const stream = follow(`${path}/status/watch?${QUESTION}`, {
    snapshot: (status) => take(view, status),
    change: (change) => take(view, mergeStatus(view.status, change)),
    ended: (problem) => end(main, view, problem),
  });
  return () => stream.close();
}

function frame(main, view) {
  view.head = el('div', { class: 'head' }, el('p', { class: 'quiet' }, 'Loading…'));
  view.resources = el('div', { class: 'split' }, view.tree.element, view.details.element);
  view.tabs = el('div', { class: 'tabs', role: 'group', 'aria-label': 'Parts of the application' });
  fill(main, el('p', {}, el('a', { href: link('applications') }, '‹ Applications')),
    el('h1', {}, name(applicationName(view.app))), view.head, view.tabs, view.resources, view.history.element);
  choose(view, view.tab);
}

/** Shows the problem alone: the last known state of an application that the user may not see any more is removed. */
function end(main, view, problem) {
  fill(main, main.firstElementChild, el('h1', {}, name(applicationName(view.app))),
    el('div', { class: 'head' }, el('p', { class: 'error', role: 'alert' }, problem.message)));
}

/** Shows the resources or the history. */
function choose(view, tab) {
  view.tab = tab;
  fill(view.tabs, Object.entries(TABS).map(([word, text]) => el('button', { type: 'button',
    'aria-pressed': String(word === tab), onclick: () => { choose(view, word); remember(view, { tab: word }); } }, text)));
  view.resources.hidden = tab !== 'resources';
  view.history.element.hidden = tab !== 'history';
  if (tab === 'history') view.history.load();
}

function take(view, status) {
  const before = view.status?.['ready-status'];
  const isFirst = view.status === null;
  view.status = status;
  fill(view.head, head(status));
  view.tree.draw(status);
  if (isFirst && view.query.has('r')) openLinked(view);
  else view.details.refresh(status);
  if (!isFirst && before !== status['ready-status']) announce(`${applicationName(view.app)} is ${status['ready-status']}`);
  if (view.tab === 'history') view.history.load();
}

/** Opens the resource that the URL names. */
function openLinked(view) {
  try {
    view.details.open(JSON.parse(view.query.get('r')), view.status);
  } catch {
    remember(view, { r: undefined });
  }
}

function select(view, place) {
  remember(view, { r: place ? JSON.stringify(place) : undefined });
  if (place) view.details.open(place, view.status);
}

/** Keeps parameters in the URL, so that the page can be linked. */
function remember(view, parameters) {
  view.kept = { ...Object.fromEntries(view.query), ...view.kept, ...parameters };
  const { tab, q, r } = view.kept;
  replaceQuery({ tab: tab === 'history' ? tab : undefined, q, r });
}

function head(status) {
  const actions = status.state?.Actions ?? [];
  const phases = phasesOf(status);
  return [
    el('p', {}, badge(status['ready-phase'], status['ready-status']), ' ', staleMark(status), ' ',
      status['ready-reason'] && el('span', { class: 'reason' }, message(status['ready-reason']))),
    status['stale-reason'] && el('p', { class: 'warning' }, message(status['stale-reason'])),
    status.message && el('p', { class: 'notice' }, message(status.message)),
    status.store && el('p', { class: 'warning' }, 'The store of applications cannot be reached: ', message(status.store.reason)),
    (status.unanswered ?? []).length > 0 && el('details', { class: 'warning' },
      el('summary', {}, `${status.unanswered.length} Kinds were not answered: resources of these Kinds may be missing here`),
      el('ul', {}, status.unanswered.map((text) => el('li', {}, message(text))))),
    (status.faults ?? []).map((text) => el('p', { class: 'warning' }, message(text))),
    el('p', {}, el('span', { class: 'quiet' }, 'Reported: '), counts(status['cluster-status'], (word) => phases[word] ?? 'unknown'),
      Object.keys(status['rsync-status'] ?? {}).length > 0 && [' ', el('span', { class: 'quiet' }, 'Sent: '),
        counts(status['rsync-status'], () => 'none')]),
    actions.length > 0 && el('p', { class: 'quiet' }, 'Actions: ', actions.map((action) => action.State).join(' → '),
      status.status && `; the AppContext is ${status.status}`),
  ];
}

/** The phase of each state that the resources have. */
function phasesOf(status) {
  const phases = {};
  for (const app of status.apps ?? []) {
    for (const cluster of app.clusters) for (const it of cluster.resources) phases[it['cluster-status']] = it.phase;
  }
  return phases;
}
