/** Words, times and marks that several views show. */

import { el } from './dom.js';

/** Phases from best to worst, as in the roll-up. */
export const PHASES = [
  'ready', 'present', 'suspended', 'degraded', 'pending', 'terminating', 'not-present', 'failed', 'unknown',
];

/** A sign for each phase, so that colour is never the only mark. */
const SIGNS = {
  ready: '✓', present: '•', suspended: '‖', degraded: '!', pending: '…', terminating: '×', 'not-present': '∅',
  failed: '✕', unknown: '?',
};

/** How bad a phase is; a missing phase is as bad as `unknown`. */
export function badness(phase) {
  const index = PHASES.indexOf(phase);
  return index < 0 ? PHASES.length : index;
}

/** The badge of a state. */
export function badge(phase, state) {
  const known = SIGNS[phase] ? phase : 'unknown';
  return el('span', { class: `badge phase-${known}` },
    el('span', { 'aria-hidden': 'true', class: 'sign' }, SIGNS[known]), el('bdi', {}, state ?? 'Unknown'));
}

/** A mark for an answer that may be out of date, with its cause. */
export function staleMark(part) {
  if (!part['stale-since']) return null;
  return el('span', { class: 'stale', title: part['stale-reason'] ?? 'may be out of date' },
    el('span', { 'aria-hidden': 'true' }, '⚠ '), 'stale for ', age(part['stale-since']));
}

/** A short mark for a row, whose group has the mark with the time. */
export function staleWord(part) {
  return part['stale-since'] ? el('span', { class: 'stale' }, el('span', { 'aria-hidden': 'true' }, '⚠ '), 'stale') : null;
}

/** The part that is stale for the longest time, or an empty object. */
export function stalest(parts) {
  const stale = parts.filter((part) => part['stale-since']);
  stale.sort((a, b) => Date.parse(a['stale-since']) - Date.parse(b['stale-since']));
  return stale[0] ?? {};
}

/** The time since a moment, which `refreshAges` keeps current. */
export function age(since) {
  if (!since) return el('span', { class: 'quiet' }, '–');
  const time = el('time', { datetime: since, title: new Date(since).toLocaleString() });
  time.textContent = duration(since);
  return time;
}

/** Writes the ages of the page again. */
export function refreshAges() {
  for (const time of document.querySelectorAll('time[datetime]')) {
    const text = duration(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
}

/** The time since a moment in two units at most, as the command line writes it. */
export function duration(since, now = Date.now()) {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}

/** Counts by state as badges, worst first; `counts` maps a word to a number and `phaseOf` a word to its phase. */
export function counts(of, phaseOf = (word) => word) {
  const words = Object.keys(of ?? {});
  words.sort((a, b) => badness(phaseOf(b)) - badness(phaseOf(a)));
  return el('span', { class: 'counts' }, words.map((word) => el('span', { class: `count phase-${phaseOf(word)}` },
    el('b', {}, of[word]), ' ', word)));
}

/** The Kind of a resource with its group, if it has one. */
export function kindOf(gvk) {
  return gvk.Group ? `${gvk.Kind}.${gvk.Group}` : gvk.Kind;
}

/** A cluster as `provider+name`. */
export function clusterName(cluster) {
  return `${cluster['cluster-provider']}+${cluster.cluster}`;
}

/** The name of an application for people: found applications are `namespace/name`. */
export function applicationName(app) {
  const { project, 'composite-app-name': composite, name } = app;
  if (project !== '-') return name;
  return name === '-' ? composite : `${name}/${composite}`;
}
