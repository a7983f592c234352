/** The interpreters: versions, faults, and the changes that a candidate would cause. */

import { command } from './api.js';
import { el, fill, message, name } from './dom.js';
import { poll, redraw } from './polling.js';
import { link } from './route.js';
import { age } from './words.js';

/** The columns of the list: the data of a cell, and its content. */
const COLUMNS = {
  Interpreter: [(it) => it.name, (title) => el('a', { href: link('interpreter', [title]) }, name(title))],
  Status: [(it) => [it.status, it.candidate],
    ([word, candidate]) => [status(word), candidate && [' ', el('span', { class: 'mark' }, 'has a candidate')]]],
  Version: [(it) => it.version, (version) => name(version ?? '–')],
  Source: [(it) => it.source, (source) => source ?? '–'],
  Kinds: [(it) => it.kinds, (kinds) => el('div', { class: 'kinds' }, [...new Set(kinds)].map((kind) => el('code', {}, kind)))],
  Calls: [(it) => it.calls, (calls) => el('div', { class: 'number' }, calls ?? '–')],
  Faults: [(it) => it.faults, (count) => el('div', { class: count ? 'number error' : 'number' }, count ?? '–')],
};

export function show(main) {
  const notice = el('div', {}, el('p', { class: 'quiet' }, 'Loading…'));
  const body = el('tbody');
  const frame = el('div', { class: 'table-frame', tabindex: '0', role: 'region', 'aria-label': 'List of interpreters', hidden: true },
    el('table', {}, el('thead', {}, el('tr', {}, Object.keys(COLUMNS).map((column) => el('th', { scope: 'col' }, column)))), body));
  const uploads = el('div');
  const rows = new Map();
  fill(main, el('h1', {}, 'Interpreters'), notice, frame, uploads);
  return poll('/v2/interpreters', (list) => {
    fill(notice);
    frame.hidden = false;
    drawRows(body, rows, list.interpreters);
    redraw(uploads, list.refused ?? [], refused);
  }, (problem) => showRefusal(notice, problem, () => {
    frame.hidden = true;
    redraw(uploads, [], refused);
  }));
}

/** The view of one interpreter. */
export const one = {
  show(main, { parts: [title] }) {
    const notice = el('div', {}, el('p', { class: 'quiet' }, 'Loading…'));
    const parts = Object.keys(PARTS).map(() => el('div'));
    fill(main, el('p', {}, el('a', { href: link('interpreters') }, '‹ Interpreters')), el('h1', {}, name(title)), notice, parts);
    return poll(path(title), (detail) => {
      fill(notice);
      Object.values(PARTS).forEach(([data, draw], index) => redraw(parts[index], data(detail), draw));
    }, (problem) => showRefusal(notice, problem, () => parts.forEach((part) => redraw(part, null, () => []))));
  },
};

/** Draws the rows of the list, each cell only if its data differ. */
function drawRows(body, rows, interpreters) {
  for (const it of interpreters) {
    if (!rows.has(it.name)) {
      rows.set(it.name, el('tr', {}, Object.keys(COLUMNS).map((column, index) => (index === 0 ? el('th', { scope: 'row' }) : el('td')))));
    }
    Object.values(COLUMNS).forEach(([data, draw], index) => redraw(rows.get(it.name).children[index], data(it), draw));
  }
  const focused = document.activeElement;
  redraw(body, interpreters.map((it) => it.name), (names) => names.map((title) => rows.get(title)));
  if (body.contains(focused)) focused.focus({ preventScroll: true });
}

/** Shows why there is no answer. If the user may not see the interpreters any more, `remove` removes the last answer. */
function showRefusal(notice, problem, remove) {
  fill(notice, refusal(problem));
  if (problem.status >= 400 && problem.status < 500) remove();
}

function path(title) {
  return `/v2/interpreters/${encodeURIComponent(title)}`;
}

function refusal(problem) {
  const text = problem.status === 403
    ? 'Your roles do not include the interpreters. Their statistics are about the objects of all applications. Each resource of your applications names its interpreter.'
    : problem.message;
  return el('p', { class: 'notice', role: 'alert' }, text);
}

function status(word) {
  return el('span', { class: `mark status-${word}` }, word);
}

function refused(list) {
  return list.length > 0 && el('section', {}, el('h2', {}, 'Refused uploads'),
    el('ul', {}, list.map((it) => el('li', {}, age(it.time), ' ago: ', name(it.name ?? it.file ?? it.digest), ': ', message(it.why)))));
}

/** The parts of the view of one interpreter: their data and their content. */
const PARTS = {
  head: [({ summary, status: word, version, digest, warnings, faulting }) => ({ summary, word, version, digest, warnings, faulting }), head],
  candidates: [({ name: title, versions: list }) => (list ?? []).filter((it) => it.outcome === 'candidate').map((it) => [title, it]),
    (list) => list.map(candidate)],
  versions: [(detail) => detail.versions ?? [], (list) => [el('h2', {}, 'Versions'), versions(list)]],
  faults: [(detail) => detail.statistics, (statistics) => [el('h2', {}, 'Faults'), faults(statistics)]],
  rules: [({ states, kinds }) => ({ states, kinds }), rules],
};

function head({ summary, word, version, digest, warnings, faulting }) {
  return [
    el('p', {}, summary),
    el('p', {}, status(word), ' ', name(version ?? ''), ' ', digest && el('code', { class: 'quiet' }, digest)),
    (warnings ?? []).map((text) => el('p', { class: 'warning' }, message(text))),
    faulting && el('p', { class: 'error' }, `${faulting.faults} of ${faulting.calls} calls failed since `, age(faulting.since)),
  ];
}

function rules({ states, kinds }) {
  return [
    el('h2', {}, 'States'),
    el('dl', { class: 'facts' }, (states ?? []).map((state) => [el('dt', {}, state.name), el('dd', {}, `${state.phase}: ${state.summary}`)])),
    el('h2', {}, 'Kinds'),
    el('ul', {}, (kinds ?? []).map((kind) => el('li', {}, el('code', {}, kind.pattern),
      kind.when && [' with ', el('code', {}, kind.when)]))),
  ];
}

function versions(list) {
  if (list.length === 0) return el('p', { class: 'quiet' }, 'It is built in and has one version.');
  return el('ul', { class: 'plain' }, list.map((it) => el('li', {}, status(it.outcome), ' ', name(it.version), ' ',
    el('code', { class: 'quiet' }, it.digest.slice(0, 19)), ' ', it.source, ', received ', age(it.received), ' ago ', message(it.why))));
}

function faults(statistics) {
  const kinds = Object.entries(statistics?.faults ?? {});
  return el('p', {}, statistics?.calls === undefined ? 'Calls are not shown to you' : `${statistics.calls} calls`, kinds.length > 0 ? kinds.map(([kind, count]) => `; ${count} ${kind}`) : '; no fault');
}

/** A candidate, with a button that compares it with the live version on every known object. */
function candidate([title, version]) {
  const report = el('div', { role: 'status' });
  const compare = async ({ currentTarget: button }) => {
    // A disabled button would lose the focus of the keyboard.
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    fill(report, 'Comparing on every known object…');
    try {
      fill(report, changes(await command('POST', `${path(title)}/shadow`)));
    } catch (problem) {
      fill(report, el('p', { class: 'error' }, problem.message));
    }
    button.removeAttribute('aria-disabled');
  };
  return el('section', { class: 'card' }, el('h2', {}, 'Candidate ', name(version.version)),
    el('button', { type: 'button', onclick: compare }, 'Show the changes that it would cause'), report);
}

function changes(report) {
  return [
    el('p', {}, `${report.changed} of ${report.objects} verdicts would change. Faults: ${report.faults.live} live, ${report.faults.candidate} candidate.`),
    el('ul', {}, report.changes.map((it) => el('li', {}, `${it.count} × `, name(it.kind), ': ', name(it.from), ' → ', name(it.to),
      el('ul', {}, it.samples.map((sample) => el('li', {}, name(`${sample.namespace}/${sample.name}`), ': ',
        name(sample.from.reason), ' → ', name(sample.to.reason), ' ', message(sample.to.message))))))),
  ];
}
