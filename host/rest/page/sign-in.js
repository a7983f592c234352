/** The form of sign-in: a token, or the OpenID Connect issuer of the server. */

import { command, get } from './api.js';
import { announce, el, fill } from './dom.js';

/** Texts for the codes with which the server returns from the issuer. */
const ERRORS = {
  denied: 'The issuer did not sign you in.',
  state: 'The sign-in was begun in another browser, or took more than ten minutes. Try again.',
  issuer: 'The issuer cannot be reached. Try again later, or sign in with a token.',
  refused: 'The server does not accept the token of the issuer. An operator finds the reason in its log.',
  expired: 'Your session has ended, because your token has expired or was revoked. Sign in again.',
};

export function show(main, { query }, { session, signedIn }) {
  const to = query.get('to') ?? '';
  const error = el('p', { class: 'error', role: 'alert' }, query.has('error') ? ERRORS[query.get('error')] ?? ERRORS.refused : '');
  const methods = session['sign-in'] ?? [];
  const token = el('input', { type: 'password', id: 'token', name: 'token', autocomplete: 'off', required: true });
  const submit = async (event) => {
    event.preventDefault();
    try {
      const answer = await command('POST', '/v2/session', { token: token.value.trim() });
      token.value = '';
      announce('Signed in');
      signedIn(answer, to);
    } catch (problem) {
      fill(error, problem.message);
      // The next text replaces the refused token.
      token.select();
    }
  };
  const oidc = `/v2/session/oidc?return=${encodeURIComponent(`/${to || '#/applications'}`)}`;
  fill(main, el('section', { class: 'card sign-in' },
    el('h1', {}, 'Sign in'),
    error,
    methods.includes('oidc') && el('p', {}, el('a', { class: 'button', href: oidc }, 'Sign in with your organization')),
    methods.includes('token') && el('form', { onsubmit: submit },
      el('label', { for: 'token' }, 'Token'),
      token,
      el('button', { type: 'submit' }, 'Sign in with the token'),
      el('p', { class: 'quiet' }, 'An operator makes a token with ', el('code', {}, 'kindsight token new'), '.')),
    methods.length === 0 && el('p', {}, 'This server offers no sign-in for browsers.')));
  // The session may have begun in another tab.
  get('/v2/session').then((answer) => { if (answer.user) signedIn(answer, to); }, () => {});
}
