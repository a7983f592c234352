/** The page: routes to views, the header, and the signed-in user. */

import { command, get } from './api.js';
import { el, fill } from './dom.js';
import { current, link } from './route.js';
import { refreshAges } from './words.js';
import * as applications from './applications.js';
import * as application from './application.js';
import * as clusters from './clusters.js';
import * as interpreters from './interpreters.js';
import * as signIn from './sign-in.js';

/** The answer to a link that no version of the page made. */
const unknown = {
  show(main, { view }) {
    fill(main, el('h1', {}, 'Unknown view'), el('p', { class: 'notice', role: 'alert' }, `There is no view “${view}”. `, el('a', { href: link('applications') }, 'Applications')));
  },
};
const VIEWS = {
  applications, application, clusters, interpreters, interpreter: interpreters.one, 'sign-in': signIn,
};
const TABS = { applications: 'Applications', clusters: 'Clusters', interpreters: 'Interpreters' };
const AGES_MS = 1000;

const main = document.getElementById('main');
/** The closing function of the shown view. */
let close = () => {};
/** The shown view with its parts: a change of parameters alone keeps the view. */
let shown = '';
let session = { 'access-control': false, 'sign-in': [], roles: [] };

async function start() {
  window.addEventListener('hashchange', show);
  window.addEventListener('signed-out', () => toSignIn(session.user && 'expired'));
  document.getElementById('skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  setInterval(refreshAges, AGES_MS);
  await readSession();
  show();
}

/** Reads who the user is. A server without this route has no access control. */
async function readSession() {
  try {
    session = await get('/v2/session');
  } catch (problem) {
    if (problem.status !== 404) fill(main, el('p', { class: 'notice', role: 'alert' }, problem.message));
  }
  header();
}

function show() {
  const route = current();
  const wanted = JSON.stringify([route.view, route.parts]);
  tabs(route.view);
  if (wanted === shown) return;
  if (session['access-control'] && !session.user && route.view !== 'sign-in') {
    toSignIn();
    return;
  }
  shown = wanted;
  close();
  const view = Object.hasOwn(VIEWS, route.view) ? VIEWS[route.view] : unknown;
  const title = view === unknown ? 'Unknown view' : TABS[route.view] ?? route.parts.at(-1) ?? 'Sign in';
  document.title = `${title} – kindsight`;
  close = view.show(main, route, { session, signedIn }) ?? (() => {});
  window.scrollTo(0, 0);
}

function tabs(view) {
  const of = { application: 'applications', interpreter: 'interpreters' }[view] ?? view;
  fill(document.getElementById('views'), el('ul', {}, Object.entries(TABS).map(([tab, text]) => el('li', {},
    el('a', { href: link(tab), 'aria-current': tab === of ? 'page' : undefined }, text)))));
}

function header() {
  const { user } = session;
  fill(document.getElementById('user'), user && [el('bdi', { class: 'user-name' }, user), ' ',
    session.credential === 'cookie' && [el('button', { type: 'button', onclick: signOut }, 'Sign out'),
      ' ', el('span', { id: 'user-notice', class: 'error', role: 'alert' })]]);
}

/** Leads to the form, which leads back to the present place. `error` is the code of the reason. */
function toSignIn(error) {
  const { view } = current();
  session = { ...session, user: undefined };
  header();
  if (view === 'sign-in') show();
  else window.location.hash = link('sign-in', [], { to: window.location.hash, error });
}

async function signedIn(answer, to) {
  session = answer;
  header();
  window.location.hash = to.startsWith('#/') && !to.startsWith('#/sign-in') ? to : link('applications');
}

async function signOut() {
  try {
    await command('DELETE', '/v2/session');
  } catch (problem) {
    fill(document.getElementById('user-notice'), `You are still signed in. ${problem.message}`);
    return;
  }
  await readSession();
  shown = '';
  toSignIn();
}

start();
