/** The details of one resource beside the tree: verdict, explanation, claims, and the object. */

import { get } from './api.js';
import { el, fill, message, name } from './dom.js';
import { resourceKey } from './merge.js';
import { link } from './route.js';
import { age, badge, clusterName, kindOf, staleMark } from './words.js';

/**
 * Names that a query may have. A report can have others, which Kubernetes would not accept: then the page reads all
 * objects of the app in the cluster.
 */
const QUERY_NAME = /^[!-$&-.0-~]{1,253}$/;
/** Characters that change the direction of the text around them. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export class ResourceDetails {
  /**
   * @param {string} path path of the application
   * @param {Function} closed called when the user closes the details
   */
  constructor(path, closed) {
    this.path = path;
    this.element = el('aside', { class: 'details', 'aria-label': 'Details of a resource', hidden: true, tabindex: '-1' });
    this.element.addEventListener('keydown', (event) => { if (event.key === 'Escape') this.close(); });
    this.closed = closed;
    this.place = null;
  }

  /** Shows the resource of an app in a cluster. */
  open(place, status) {
    this.place = place;
    this.shown = null;
    this.element.hidden = false;
    this.refresh(status);
    this.element.focus();
  }

  close() {
    const key = JSON.stringify(this.place);
    this.place = null;
    this.element.hidden = true;
    this.closed();
    document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  /** Reads the object again if the status shows another verdict, or another freshness of its cluster. */
  async refresh(status) {
    if (!this.place) return;
    const key = JSON.stringify(this.place);
    const { cluster, resource } = find(status, this.place);
    const text = JSON.stringify([resource, cluster?.['stale-since'], cluster?.['stale-reason']]);
    if (text === this.shown) return;
    this.shown = text;
    if (!resource) {
      fill(this.element, this.head(null), el('p', {}, 'The application no longer has this resource.'));
      return;
    }
    const object = el('div', {}, el('p', { class: 'quiet' }, 'Loading the object…'));
    fill(this.element, this.head(resource), verdict(resource, cluster, this.place), el('h3', {}, 'Object'), object);
    const query = new URLSearchParams({ type: 'all', output: 'detail', app: this.place[0], cluster: this.place[1] });
    if (QUERY_NAME.test(resource.name)) query.set('resource', resource.name);
    try {
      const answer = await get(`${this.path}/status?${query}`);
      if (JSON.stringify(this.place) === key) fill(object, objectText(find(answer, this.place).resource?.detail));
    } catch (problem) {
      fill(object, el('p', { class: 'error' }, problem.message));
    }
  }

  head(resource) {
    return el('div', { class: 'details-head' },
      el('h2', {}, resource ? [el('bdi', { class: 'quiet' }, resource.GVK.Kind), ' ', name(resource.name)] : 'Resource'),
      el('button', { type: 'button', 'aria-label': 'Close the details', onclick: () => this.close() }, '×'));
  }
}

/** The resource of a place, and its cluster. */
function find(status, [appName, clusterWanted, key]) {
  const app = status.apps?.find((it) => it.name === appName);
  const cluster = app?.clusters.find((it) => clusterName(it) === clusterWanted);
  return { cluster, resource: cluster?.resources.find((it) => resourceKey(it) === key) };
}

function objectText(detail) {
  if (detail === undefined) return el('p', { class: 'quiet' }, 'There is no object: the cluster reports none, and none was sent.');
  const json = JSON.stringify(detail, null, 2).replace(DIRECTION, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return el('pre', { tabindex: '0', 'aria-label': 'Object as JSON' }, json);
}

function verdict(resource, cluster, [app, fullName]) {
  const by = resource.interpreter;
  const facts = [
    ['Actual state', [badge(resource.phase, resource['cluster-status']), ' ', staleMark(cluster)]],
    ['Stale because', message(cluster['stale-reason'])],
    ['Desired', resource.expected === false ? 'not sent: it exists only in the cluster' : resource['rsync-status'] ?? 'expected'],
    ['Reason', resource.reason && el('bdi', { class: 'word' }, resource.reason)],
    ['Message', message(resource.message)],
    ['Since', age(resource.since)],
    ['Restarts', resource.restarts],
    ['Kind', name(kindOf(resource.GVK))],
    ['Namespace', resource.namespace && name(resource.namespace)],
    ['App', name(app)],
    ['Cluster', name(fullName)],
    ['Owner', resource.owner && [name(resource.owner.GVK.Kind), ' ', name(resource.owner.name)]],
    ['Interpreter', by ? [el('a', { href: link('interpreter', [by.name]) }, name(by.name)), ' ', name(by.version), ' ',
      el('code', { class: 'quiet' }, (by.digest ?? '').slice(0, 19))] : 'kindsight itself'],
    ['Spec', resource.spec === 'manifest' && 'from the manifest, because the report has none'],
    ...explanation(resource.explanation),
    ['Claims', claims(resource.claims)],
  ];
  return el('dl', { class: 'facts' }, facts.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
    .map(([fact, value]) => [el('dt', {}, fact), el('dd', {}, value)]));
}

/** The interpreter's declaration of the reason and of the state. */
function explanation(it) {
  const url = it?.['help-url'];
  const isLink = typeof url === 'string' && /^https?:\/\//.test(url);
  return [
    ['Reason means', message(it?.summary)],
    ['Help', isLink && el('a', { href: url, rel: 'noreferrer noopener' }, url)],
    ['Final', it?.final && 'yes: this state does not change again'],
  ];
}

/** The evidence for this application, and the other applications that claim the resource. */
function claims(it) {
  if (!it) return null;
  return el('ul', { class: 'plain' }, el('li', {}, message(it.evidence)),
    it.others.map((other) => el('li', {}, 'also claimed by ', name(other.application), ': ', message(other.evidence))));
}
