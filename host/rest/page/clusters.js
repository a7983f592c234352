/** The clusters: connection, version, coverage with its gaps. */

import { el, fill, message, name } from './dom.js';
import { poll, redraw } from './polling.js';
import { age, clusterName } from './words.js';

const SIGNS = { connected: '✓', connecting: '…', stale: '⚠' };

export function show(main) {
  const body = el('div', { class: 'cards' }, el('p', { class: 'quiet' }, 'Loading…'));
  const notice = el('p', { class: 'error', role: 'alert' });
  fill(main, el('h1', {}, 'Clusters'), notice, body);
  return poll('/v2/clusters', ({ clusters }) => {
    fill(notice);
    draw(body, clusters);
  }, (problem) => {
    fill(notice, problem.message);
    // The user may not see the clusters any more.
    if (problem.status >= 400 && problem.status < 500) draw(body, []);
  });
}

/** Draws the clusters if they differ. An opened list of gaps stays open. */
function draw(body, clusters) {
  const open = new Set([...body.querySelectorAll('details[open]')].map((details) => details.dataset.cluster));
  redraw(body, clusters, () => (clusters.length > 0 ? clusters.map((cluster) => card(cluster, open))
    : el('p', {}, 'No cluster is configured, or you may see none.')));
}

function card(cluster, open) {
  const fullName = clusterName(cluster);
  const gaps = cluster['not-covered'] ?? [];
  const facts = {
    'API server': cluster['server-version'],
    Context: cluster.origin && name(cluster.origin),
    Selector: cluster.selector && el('code', {}, cluster.selector),
    Objects: cluster.objects,
    Watches: cluster.watches,
    'Last event': cluster['last-event'] && [age(cluster['last-event']), ' ago'],
    Coverage: cluster.coverage,
  };
  return el('section', { class: `card connection-${cluster.connection}` },
    el('h2', {}, name(fullName)),
    el('p', {}, el('span', { class: `connection ${cluster.connection}` },
      el('span', { 'aria-hidden': 'true' }, `${SIGNS[cluster.connection] ?? '?'} `), cluster.connection), ' for ', age(cluster.since)),
    cluster.error && el('p', { class: 'error' }, message(cluster.error)),
    el('dl', { class: 'facts' }, Object.entries(facts).filter(([, value]) => value !== undefined && value !== '')
      .map(([fact, value]) => [el('dt', {}, fact), el('dd', {}, value)])),
    gaps.length > 0 && list(`${gaps.length} Kinds are not covered`, gaps, fullName, open),
    (cluster.faults ?? []).length > 0 && list(`${cluster.faults.length} faults of reports`, cluster.faults, `${fullName} faults`, open));
}

function list(title, items, key, open) {
  return el('details', { 'data-cluster': key, open: open.has(key) }, el('summary', {}, title),
    el('ul', {}, items.map((item) => el('li', {}, message(item)))));
}
