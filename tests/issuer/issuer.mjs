// A real OpenID Connect issuer for tests.
//
//   node issuer.mjs [--port=PORT] [--certificate=FILE --key=FILE]
//
// The issuer listens on 127.0.0.1, on a free port by default, and prints its URL. With a certificate
// it serves HTTPS. Its state and keys exist only in memory.
//
// Tests control the issuer with `POST /control/NAME` and a JSON object. The table `controls` below
// lists the names. A real issuer has no such routes.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { json } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';

const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const TOKEN_SECONDS = 300;

const users = {
  alice: { name: 'Alice', email: 'alice@example.com', email_verified: true, groups: ['team-a', 'everyone'] },
  bob: { name: 'Bob', email: 'bob@example.com', email_verified: true, groups: ['team-b', 'everyone'] },
  carol: { name: 'Carol', email: 'carol@example.com', email_verified: false, groups: [] },
};

const publicClient = (client_id, id_token_signed_response_alg) => ({
  client_id,
  application_type: 'native',
  grant_types: [DEVICE_CODE_GRANT, 'refresh_token'],
  id_token_signed_response_alg,
  redirect_uris: [],
  response_types: [],
  token_endpoint_auth_method: 'none',
});

// A client that signs browsers in. The port of a redirect URI on loopback is free (RFC 8252, 7.3).
const webClient = {
  client_id: 'kindsight-web',
  client_secret: 'known to all tests',
  application_type: 'native',
  grant_types: ['authorization_code'],
  redirect_uris: ['127.0.0.1', 'localhost'].map((host) => `http://${host}/v2/session/oidc/callback`),
  response_types: ['code'],
  token_endpoint_auth_method: 'client_secret_basic',
};

// Lifetimes in seconds, which `POST /control/lifetimes` changes.
const lifetimes = { id_token: TOKEN_SECONDS, device_code: TOKEN_SECONDS };

const configuration = {
  // All providers of the process share its storage, so that codes survive a rotation of keys.
  adapter: createMemoryAdapter(),
  claims: {
    openid: ['sub'],
    profile: ['name'],
    email: ['email', 'email_verified'],
    groups: ['groups'],
  },
  clients: [
    publicClient('kindsight-cli', 'RS256'),
    publicClient('kindsight-cli-es256', 'ES256'),
    publicClient('another-client', 'RS256'),
    webClient,
  ],
  // ID tokens contain the claims of all granted scopes, as the tokens of most issuers do.
  conformIdTokenClaims: false,
  cookies: { keys: ['only for tests'] },
  features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true }, revocation: { enabled: true } },
  findAccount: (_, sub) => users[sub] && {
    accountId: sub,
    claims: () => ({ sub, ...users[sub] }),
  },
  ttl: {
    AccessToken: TOKEN_SECONDS,
    DeviceCode: () => lifetimes.device_code,
    Grant: 86400,
    IdToken: () => lifetimes.id_token,
    RefreshToken: 86400,
    Session: 86400,
  },
};

// Modes (`Sec-Fetch-Mode`) of the requests that pages of other origins made browsers send.
const browserRequests = [];

let issuer;
let keys;
let provider;

async function newKey(alg) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...await exportJWK(privateKey), alg, kid: crypto.randomUUID(), use: 'sig' };
}

// Signs with new keys from now on. The issuer publishes the keys in `kept` too.
async function useNewKeys(kept) {
  keys = await Promise.all(ALGORITHMS.map(newKey));
  provider = new Provider(issuer, { ...configuration, jwks: { keys: [...keys, ...kept] } });
  provider.use(async (context, next) => {
    await next();
    if (context.oidc?.route === 'device_authorization') {
      // RFC 8628, 3.2. The default of five seconds makes tests slow.
      context.body.interval = 1;
    }
  });
}

// Finds a device code that waits for its user.
async function pendingCode(userCode) {
  const code = await provider.DeviceCode.findByUserCode(userCode.replace(/\W/g, ''));
  if (!code || code.accountId || code.error) {
    throw new Error(`no device code waits for ${userCode}`);
  }
  return code;
}

const controls = {
  // Replaces the keys. With `keep`, the issuer still publishes the previous keys.
  async rotate({ keep = false }) {
    await useNewKeys(keep ? keys : []);
    return { keys: keys.map(({ kid }) => kid) };
  },
  // Signs a token with the key for `alg`. The members of `claims` and `header` replace the defaults;
  // null removes a claim.
  async token({ alg = 'RS256', claims = {}, header = {} }) {
    const key = keys.find((it) => it.alg === alg);
    if (!key) {
      throw new Error(`no key for ${alg}: use one of ${ALGORITHMS}`);
    }
    const iat = Math.floor(Date.now() / 1000);
    const sub = claims.sub ?? 'alice';
    const defaults = { iss: issuer, sub, aud: 'kindsight-cli', iat, exp: iat + TOKEN_SECONDS };
    const all = Object.entries({ ...defaults, ...users[sub], ...claims });
    const payload = Object.fromEntries(all.filter(([, value]) => value !== null));
    const signer = new SignJWT(payload).setProtectedHeader({ alg, kid: key.kid, typ: 'JWT', ...header });
    return { token: await signer.sign(key) };
  },
  // Approves a pending device code, as `user` does in a browser.
  async approve({ user_code, user = 'alice' }) {
    const code = await pendingCode(user_code);
    const { scope = 'openid' } = code.params;
    const grant = new provider.Grant({ accountId: user, clientId: code.clientId });
    grant.addOIDCScope(scope);
    const grantId = await grant.save();
    const authTime = Math.floor(Date.now() / 1000);
    Object.assign(code, { accountId: user, authTime, grantId, scope });
    await code.save();
    return {};
  },
  // Refuses a pending device code.
  async deny({ user_code }) {
    const code = await pendingCode(user_code);
    Object.assign(code, { error: 'access_denied', errorDescription: 'the user refused' });
    await code.save();
    return {};
  },
  // Lists the modes of the requests that pages of other origins made browsers send.
  async requests() {
    return { modes: browserRequests };
  },
  // Changes lifetimes: `id_token`, `device_code`, in seconds.
  async lifetimes(changed) {
    return Object.assign(lifetimes, changed);
  },
};

async function control(name, request, response) {
  const answer = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  if (!Object.hasOwn(controls, name)) {
    answer(404, { error: `no control ${name}: use one of ${Object.keys(controls)}` });
    return;
  }
  try {
    answer(200, await controls[name](await json(request)));
  } catch (error) {
    answer(400, { error: error.message });
  }
}

function handle(request, response) {
  const [, name] = request.url.match(/^\/control\/(.*)$/) ?? [];
  if (request.method === 'POST' && name) {
    return control(name, request, response);
  }
  const { 'sec-fetch-mode': mode, 'sec-fetch-site': site } = request.headers;
  if (mode && site !== 'same-origin') {
    browserRequests.push(mode);
  }
  return provider.callback()(request, response);
}

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    certificate: { type: 'string' },
    key: { type: 'string' },
  },
});
const isSecure = options.certificate !== undefined;
const server = isSecure
  ? https.createServer({ cert: readFileSync(options.certificate), key: readFileSync(options.key) })
  : http.createServer();
server.listen(Number(options.port), '127.0.0.1');
await once(server, 'listening');
issuer = `${isSecure ? 'https' : 'http'}://127.0.0.1:${server.address().port}`;
await useNewKeys([]);
// Requests that arrived before the first keys existed get no answer.
server.on('request', handle);
console.log(issuer);
