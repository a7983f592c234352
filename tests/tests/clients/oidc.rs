//! Tokens of an OIDC issuer: forged tokens, tokens for other purposes, and issuers that fail.

use std::time::{Duration, Instant};

use ring::hmac;
use serde_json::json;

use crate::http::Answer;
use crate::issuer::{
    Issuer, KEY_ID, KeySet, RSA_KEY_ID, RSA_PEM, base64, header, now_s, rsa_der, rsa_key, unsigned,
};
use crate::stage::Stage;
use crate::transport::{ANSWER_MAX, Transport};

/// Interval of repeated requests. Each may be a failed attempt, and the server allows few of them in a minute.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Lifetime of a token that expires during a case. It must outlast the first requests of the case.
const LIFETIME_S: i64 = 15;
/// Largest size of a key set that the server reads, with the buffers of the sockets.
const KEY_SET_BYTES_MAX: usize = 16 << 20;
/// Largest growth of the memory of the server during one case.
const GROWTH_MAX: usize = 64 << 20;
/// Tokens with unknown keys that arrive at the same time: more than the server lets wait for the issuer.
const UNKNOWN_KEYS: usize = 64;

/// Asks for the list of applications with a token.
fn ask(stage: &Stage, token: &str) -> Answer {
    let answer = stage.list(&[("Authorization", &format!("Bearer {token}"))]);
    assert!(!answer.body.contains(token), "{answer:?}");
    answer
}

/// Asks until the answer has this status. The server fetches the keys of an issuer at intervals.
fn wait_for(stage: &Stage, token: &str, status: u16) {
    let begin = Instant::now();
    loop {
        let answer = ask(stage, token);
        if answer.status == status {
            return;
        }
        assert!(begin.elapsed() < ANSWER_MAX, "{answer:?}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Every token is refused with 401, and a genuine token is still accepted. At most as many tokens as the server checks
/// from one address in a minute.
fn assert_refused(transport: Transport, forge: impl FnOnce(&Issuer) -> Vec<(String, String)>) {
    let issuer = Issuer::start(KeySet::Published);
    let stage = Stage::with_issuer(transport, &issuer);
    wait_for(&stage, &issuer.token(&json!({})), 200);
    for (name, token) in forge(&issuer) {
        let answer = ask(&stage, &token);
        assert_eq!(answer.status, 401, "{name}: {answer:?}");
    }
    let answer = ask(&stage, &issuer.token(&json!({"jti": "another"})));
    assert_eq!(answer.status, 200, "{answer:?}");
    stage.assert_healthy();
}

pub(crate) fn tokens_without_a_signature_are_refused(transport: Transport) {
    assert_refused(transport, |issuer| {
        let claims = issuer.claims(&json!({}));
        let genuine = issuer.token(&json!({}));
        let (_, signature) = genuine.rsplit_once('.').expect("a signature");
        let mut tokens = Vec::new();
        for algorithm in ["none", "None", "nOnE", "", "EdDSA"] {
            let message = unsigned(&header(&json!({"alg": algorithm})), &claims);
            tokens.push((
                format!("`{algorithm}`, no signature"),
                format!("{message}."),
            ));
            let two_parts = format!("`{algorithm}`, two parts");
            tokens.push((two_parts, message.clone()));
            if algorithm != "EdDSA" {
                let token = format!("{message}.{signature}");
                tokens.push((
                    format!("`{algorithm}`, the signature of another token"),
                    token,
                ));
            }
        }
        tokens
    });
}

/// A verifier that uses a published key as the secret of an HMAC would accept these tokens.
pub(crate) fn an_hmac_made_with_the_public_key_is_refused(transport: Transport) {
    assert_refused(transport, |issuer| {
        let (raw, published) = issuer.public_key();
        // The prefix of an Ed25519 key in the form SubjectPublicKeyInfo (RFC 8410).
        let der = [b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", raw].concat();
        let member = published.to_string().into_bytes();
        let own = [
            ("the raw key", raw.to_vec()),
            ("the key as DER", der),
            ("the member of the key set", member),
            ("the key in base64url", base64(raw).into_bytes()),
        ];
        own.iter()
            .flat_map(|secret| with_hmac(issuer, KEY_ID, "EdDSA", secret))
            .collect()
    });
}

/// The usual form of the attack: the key file of an issuer with RSA keys is the secret.
pub(crate) fn an_hmac_made_with_the_public_rsa_key_is_refused(transport: Transport) {
    assert_refused(transport, |issuer| {
        let secrets = [
            ("the key as PEM", RSA_PEM.as_bytes().to_vec()),
            (
                "the key as PEM without a final newline",
                RSA_PEM.trim_end().into(),
            ),
            ("the key as DER", rsa_der()),
            ("the member of the key set", rsa_key().to_string().into()),
        ];
        secrets
            .iter()
            .flat_map(|secret| with_hmac(issuer, RSA_KEY_ID, "RS256", secret))
            .collect()
    });
}

/// Two tokens that name a key of the issuer and have an HMAC with a secret: one names HMAC, the other the algorithm of
/// the key.
fn with_hmac(
    issuer: &Issuer,
    key_id: &str,
    algorithm: &str,
    (name, secret): &(&str, Vec<u8>),
) -> [(String, String); 2] {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    ["HS256", algorithm].map(|algorithm| {
        let head = header(&json!({"alg": algorithm, "kid": key_id}));
        let message = unsigned(&head, &issuer.claims(&json!({})));
        let signature = base64(hmac::sign(&key, message.as_bytes()));
        let name = format!("{algorithm} with {name}");
        (name, format!("{message}.{signature}"))
    })
}

/// The attacker has an issuer, whose key has the same id.
pub(crate) fn keys_and_claims_of_the_sender_are_refused(transport: Transport) {
    let attacker = Issuer::start(KeySet::Published);
    assert_refused(transport, |issuer| {
        let (genuine, claims) = (issuer.token(&json!({})), issuer.claims(&json!({})));
        let (message, signature) = genuine.rsplit_once('.').expect("a signature");
        let admin = issuer.claims(&json!({"sub": "admin"}));
        let admin = unsigned(&header(&json!({})), &admin);
        let mut tokens = vec![
            ("claims of another user", format!("{admin}.{signature}")),
            (
                "a shorter signature",
                genuine[..genuine.len() - 4].to_owned(),
            ),
            ("a longer token", format!("{genuine}.{signature}")),
            ("no signature", format!("{message}.")),
        ];
        let (_, key) = attacker.public_key();
        for (name, changes) in [
            ("the key of the attacker", json!({})),
            ("no key id", json!({"kid": null})),
            ("a key in the header", json!({"jwk": key})),
            ("a URL of keys", json!({"jku": attacker.keys_url()})),
            (
                "a critical extension",
                json!({"crit": ["b64"], "b64": false}),
            ),
        ] {
            tokens.push((name, attacker.sign(&header(&changes), &claims)));
        }
        for typ in ["logout+jwt", "secevent+jwt", "dpop+jwt"] {
            let token = issuer.sign(&header(&json!({"typ": typ})), &claims);
            tokens.push((typ, token));
        }
        named(tokens)
    });
    assert_eq!(
        attacker.requests(),
        0,
        "the server requested the attacker's keys"
    );
}

pub(crate) fn expired_future_and_foreign_tokens_are_refused(transport: Transport) {
    assert_refused(transport, |issuer| {
        let (now, hour) = (now_s(), 3600);
        let past = now - 1;
        let tokens = [
            ("expired a second ago", json!({"exp": past})),
            ("expired long ago", json!({"exp": 1})),
            ("without an end", json!({"exp": null})),
            ("an end that is no number", json!({"exp": "2999"})),
            ("an end before 1970", json!({"exp": -1})),
            ("not valid yet", json!({"nbf": now + hour})),
            (
                "issued in the future",
                json!({"iat": now + hour, "exp": now + 2 * hour}),
            ),
            ("for another audience", json!({"aud": "other"})),
            ("for no audience", json!({"aud": null})),
            ("for a longer audience", json!({"aud": "kindsight-cli"})),
            (
                "for several audiences, by another party",
                json!({"aud": ["kindsight", "other"], "azp": "other"}),
            ),
            ("of no user", json!({"sub": null})),
            ("of a user that is no text", json!({"sub": ["alice"]})),
            ("of another issuer", json!({"iss": "https://login.example"})),
            ("of no issuer", json!({"iss": null})),
        ];
        let tokens = tokens.map(|(name, changes)| (name, issuer.token(&changes)));
        named(tokens.to_vec())
    });
}

fn named(tokens: Vec<(&str, String)>) -> Vec<(String, String)> {
    let tokens = tokens.into_iter();
    tokens
        .map(|(name, token)| (name.to_owned(), token))
        .collect()
}

/// The tokens of such an issuer cannot be verified. Other clients notice nothing, and the server recovers.
pub(crate) fn a_key_set_that_is_huge_or_never_arrives_delays_no_other_client(transport: Transport) {
    for key_set in [KeySet::Endless, KeySet::Slow, KeySet::Silent] {
        let issuer = Issuer::start(key_set);
        let stage = Stage::with_issuer(transport, &issuer);
        stage.assert_healthy();
        let before = stage.resident_bytes();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| ask(&stage, &issuer.token(&json!({}))));
            while !waiting.is_finished() {
                stage.assert_healthy();
                assert_eq!(stage.list(&[]).status, 200, "a certificate needs no issuer");
            }
            let answer = waiting.join().expect("an answer");
            assert_eq!(answer.status, 503, "{key_set:?}: {answer:?}");
        });
        assert!(issuer.requests() > 0, "{key_set:?} was not requested");
        assert!(issuer.sent() < KEY_SET_BYTES_MAX, "{} bytes", issuer.sent());
        let growth = stage.resident_bytes().saturating_sub(before);
        assert!(growth < GROWTH_MAX, "{key_set:?}: {growth} bytes");
        issuer.set(KeySet::Published);
        wait_for(&stage, &issuer.token(&json!({})), 200);
        stage.assert_healthy();
    }
}

pub(crate) fn known_tokens_work_until_they_expire_without_their_issuer(transport: Transport) {
    let issuer = Issuer::start(KeySet::Published);
    let stage = Stage::with_issuer(transport, &issuer);
    let lasting = issuer.token(&json!({}));
    wait_for(&stage, &lasting, 200);
    let expires = now_s() + LIFETIME_S;
    let short = issuer.token(&json!({"exp": expires}));
    assert_eq!(ask(&stage, &short).status, 200);
    issuer.set(KeySet::Away);
    for token in [&lasting, &short, &issuer.token(&json!({"jti": "new"}))] {
        let answer = ask(&stage, token);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let unknown = header(&json!({"kid": "second"}));
    let unknown = issuer.sign(&unknown, &issuer.claims(&json!({})));
    // Until a few seconds after the last fetch, the key is known not to be published.
    wait_for(&stage, &unknown, 503);
    loop {
        let asked = now_s();
        match ask(&stage, &short).status {
            200 => assert!(asked < expires, "accepted {} s late", asked - expires),
            401 => break,
            status => panic!("{status}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(now_s() >= expires, "refused before its end");
    assert_eq!(ask(&stage, &lasting).status, 200);
}

/// Tokens with unknown keys make the server ask the issuer. They neither flood the issuer nor delay other clients.
pub(crate) fn tokens_with_unknown_keys_flood_neither_issuer_nor_server(transport: Transport) {
    let issuer = Issuer::start(KeySet::Published);
    let stage = Stage::with_issuer(transport, &issuer);
    let known = issuer.token(&json!({}));
    wait_for(&stage, &known, 200);
    let (before, begin) = (issuer.requests(), Instant::now());
    std::thread::scope(|scope| {
        let sent: Vec<_> = (0..UNKNOWN_KEYS)
            .map(|number| {
                let head = header(&json!({"kid": format!("unknown-{number}")}));
                let token = issuer.sign(&head, &issuer.claims(&json!({})));
                let stage = &stage;
                scope.spawn(move || ask(stage, &token).status)
            })
            .collect();
        while !sent.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            stage.assert_healthy();
        }
        for status in sent {
            let status = status.join().expect("an answer");
            assert!(matches!(status, 401 | 429 | 503), "{status}");
        }
    });
    // At most one request in five seconds, and one more.
    let most = usize::try_from(begin.elapsed().as_secs() / 5).expect("seconds") + 1;
    let requests = issuer.requests() - before;
    assert!(requests <= most, "{requests} requests");
    let answer = ask(&stage, &known);
    assert_eq!(answer.status, 200, "{answer:?}");
}
