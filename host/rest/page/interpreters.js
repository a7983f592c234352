/** The interpreters: versions, faults, and the changes that a candidate would cause. */

import { command, get } from './api.js';
import { el, fill, message, name } from './dom.js';
import { link } from './route.js';
import { age } from './words.js';

const COLUMNS = ['Interpreter', 'Status', 'Version', 'Source', 'Kinds', 'Calls', 'Faults'];

export function show(main) {
  const body = el('div', {}, el('p', { class: 'quiet' }, 'Loading…'));
  fill(main, el('h1', {}, 'Interpreters'), body);
  get('/v2/interpreters').then((list) => fill(body, table(list), refused(list.refused ?? [])), (problem) => fill(body, refusal(problem)));
}

/** The view of one interpreter. */
export const one = {
  show(main, { parts: [title] }) {
    const body = el('div', {}, el('p', { class: 'quiet' }, 'Loading…'));
    fill(main, el('p', {}, el('a', { href: link('interpreters') }, '‹ Interpreters')), el('h1', {}, name(title)), body);
    get(path(title)).then((detail) => fill(body, sections(detail)), (problem) => fill(body, refusal(problem)));
  },
};

function path(title) {
  return `/v2/interpreters/${encodeURIComponent(title)}`;
}

function refusal(problem) {
  const text = problem.status === 403
    ? 'Your roles do not include the interpreters. Their statistics are about the objects of all applications. Each resource of your applications names its interpreter.'
    : problem.message;
  return el('p', { class: 'notice', role: 'alert' }, text);
}

function table({ interpreters }) {
  return el('div', { class: 'table-frame', tabindex: '0', role: 'region', 'aria-label': 'List of interpreters' }, el('table', {},
    el('thead', {}, el('tr', {}, COLUMNS.map((column) => el('th', { scope: 'col' }, column)))),
    el('tbody', {}, interpreters.map((it) => el('tr', {},
      el('th', { scope: 'row' }, el('a', { href: link('interpreter', [it.name]) }, name(it.name))),
      el('td', {}, status(it.status), it.candidate && [' ', el('span', { class: 'mark' }, 'has a candidate')]),
      el('td', {}, name(it.version ?? '–')),
      el('td', {}, it.source ?? '–'),
      el('td', {}, el('div', { class: 'kinds' }, it.kinds.map((kind) => el('code', {}, kind)))),
      el('td', { class: 'number' }, it.calls ?? '–'),
      el('td', { class: it.faults ? 'number error' : 'number' }, it.faults ?? '–'))))));
}

function status(word) {
  return el('span', { class: `mark status-${word}` }, word);
}

function refused(list) {
  return list.length > 0 && el('section', {}, el('h2', {}, 'Refused uploads'),
    el('ul', {}, list.map((it) => el('li', {}, age(it.time), ' ago: ', name(it.name ?? it.file ?? it.digest), ': ', message(it.why)))));
}

function sections(detail) {
  return [
    el('p', {}, detail.summary),
    el('p', {}, status(detail.status), ' ', name(detail.version ?? ''), ' ', detail.digest && el('code', { class: 'quiet' }, detail.digest)),
    (detail.warnings ?? []).map((text) => el('p', { class: 'warning' }, message(text))),
    detail.faulting && el('p', { class: 'error' }, `${detail.faulting.faults} of ${detail.faulting.calls} calls failed since `, age(detail.faulting.since)),
    candidates(detail),
    el('h2', {}, 'Versions'), versions(detail.versions ?? []),
    el('h2', {}, 'Faults'), faults(detail.statistics),
    el('h2', {}, 'States'),
    el('dl', { class: 'facts' }, (detail.states ?? []).map((state) => [el('dt', {}, state.name), el('dd', {}, `${state.phase}: ${state.summary}`)])),
    el('h2', {}, 'Kinds'),
    el('ul', {}, (detail.kinds ?? []).map((kind) => el('li', {}, el('code', {}, kind.pattern)))),
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

/** For each candidate, a button that compares it with the live version on every known object. */
function candidates(detail) {
  const list = (detail.versions ?? []).filter((version) => version.outcome === 'candidate');
  return list.map((candidate) => {
    const report = el('div', { role: 'status' });
    const compare = async (event) => {
      event.target.disabled = true;
      fill(report, 'Comparing on every known object…');
      try {
        fill(report, changes(await command('POST', `${path(detail.name)}/shadow`)));
      } catch (problem) {
        fill(report, el('p', { class: 'error' }, problem.message));
      }
      event.target.disabled = false;
    };
    return el('section', { class: 'card' }, el('h2', {}, 'Candidate ', name(candidate.version)),
      el('button', { type: 'button', onclick: compare }, 'Show the changes that it would cause'), report);
  });
}

function changes(report) {
  return [
    el('p', {}, `${report.changed} of ${report.objects} verdicts would change. Faults: ${report.faults.live} live, ${report.faults.candidate} candidate.`),
    el('ul', {}, report.changes.map((it) => el('li', {}, `${it.count} × `, name(it.kind), ': ', name(it.from), ' → ', name(it.to),
      el('ul', {}, it.samples.map((sample) => el('li', {}, name(`${sample.namespace}/${sample.name}`), ': ',
        name(sample.from.reason), ' → ', name(sample.to.reason), ' ', message(sample.to.message))))))),
  ];
}
