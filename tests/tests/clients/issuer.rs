//! An OIDC issuer of the suite: it signs any token, and withholds or floods its key set.
//!
//! A real issuer cannot fail on demand. The forged tokens of the cases need the private key of an issuer.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use kindsight_server::access::{AccessSettings, Oidc, OidcSettings, Proxies, SignatureAlgorithm};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::transport::ANSWER_MAX;

/// The audience of tokens for kindsight.
const AUDIENCE: &str = "kindsight";
/// The user of a genuine token.
const SUBJECT: &str = "alice";
/// The id of the published key that signs tokens.
pub(crate) const KEY_ID: &str = "first";
/// The id of the published RSA key, which signs no token.
pub(crate) const RSA_KEY_ID: &str = "rsa";
/// A public RSA key of 2,048 bits in the form `SubjectPublicKeyInfo`. Its private key is not kept.
pub(crate) const RSA_PEM: &str = include_str!("rsa-public-key.pem");
/// The place of the modulus in the key.
const RSA_MODULUS: Range<usize> = 33..33 + 256;
/// Interval between two bytes of a key set that is sent slowly.
const BYTE_INTERVAL: Duration = Duration::from_millis(100);

/// A server on loopback. Its thread ends with the process.
pub(crate) struct Issuer {
    url: String,
    key: Ed25519KeyPair,
    shared: Arc<Shared>,
}

/// The answers to requests for the key set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeySet {
    /// The public key of the issuer, and an RSA key.
    Published,
    /// Valid keys without an end.
    Endless,
    /// One byte after another, without an end.
    Slow,
    /// No answer.
    Silent,
    /// No issuer: every connection is closed, also for the discovery document.
    Away,
}

struct Shared {
    key_set: Mutex<KeySet>,
    public_key: Value,
    /// Bytes of endless key sets that clients accepted.
    sent: AtomicUsize,
    /// Requests for the key set.
    requests: AtomicUsize,
}

impl Issuer {
    pub(crate) fn start(key_set: KeySet) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let key = new_key();
        let shared = Arc::new(Shared {
            key_set: Mutex::new(key_set),
            public_key: public_key(&key),
            sent: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
        });
        let (serving, base) = (Arc::clone(&shared), url.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, base) = (Arc::clone(&serving), base.clone());
                thread::spawn(move || shared.answer(stream, &base));
            }
        });
        Self { url, key, shared }
    }

    pub(crate) fn set(&self, key_set: KeySet) {
        *self.shared.lock() = key_set;
    }

    /// Bytes of endless key sets that the server accepted.
    pub(crate) fn sent(&self) -> usize {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// The number of requests for the key set.
    pub(crate) fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::SeqCst)
    }

    /// Adds the issuer to the methods of authentication of a server.
    pub(crate) fn enable(&self, access: &mut AccessSettings) {
        let oidc = Oidc::new(OidcSettings {
            issuer: self.url.parse().expect("a URL on loopback"),
            audience: AUDIENCE.to_owned(),
            username_claim: OidcSettings::USERNAME_CLAIM.to_owned(),
            groups_claim: OidcSettings::GROUPS_CLAIM.to_owned(),
            ca: None,
            proxies: Proxies::default(),
            algorithms: SignatureAlgorithm::DEFAULT.to_vec(),
        });
        access.verifiers.push(Arc::new(oidc.expect("a verifier")));
    }

    /// The flags of a server that add the issuer to its methods of authentication.
    pub(crate) fn flags(&self) -> [String; 2] {
        [
            format!("--oidc-issuer={}", self.url),
            format!("--oidc-audience={AUDIENCE}"),
        ]
    }

    /// The claims of a genuine token, with differences; null removes a claim.
    pub(crate) fn claims(&self, changes: &Value) -> Value {
        let now = now_s();
        let genuine = json!({
            "iss": self.url, "aud": AUDIENCE, "sub": SUBJECT, "iat": now, "exp": now + 3600,
        });
        changed(genuine, changes)
    }

    /// A token that the issuer signs: genuine, except for these claims.
    pub(crate) fn token(&self, changes: &Value) -> String {
        self.sign(&header(&json!({})), &self.claims(changes))
    }

    /// A token with the signature of the issuer.
    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = unsigned(header, claims);
        let signature = self.key.sign(message.as_bytes());
        format!("{message}.{}", base64(signature))
    }

    /// The URL of the key set.
    pub(crate) fn keys_url(&self) -> String {
        format!("{}/keys", self.url)
    }

    /// The published key: its raw bytes, and the member of the key set.
    pub(crate) fn public_key(&self) -> (&[u8], &Value) {
        (self.key.public_key().as_ref(), &self.shared.public_key)
    }
}

/// Lets the user of a genuine token see everything.
pub(crate) fn bind_user(roles: &Path) {
    let own = fs::read_to_string(roles).expect("a role file");
    let binding = format!("\n[[binding]]\nrole = \"viewer\"\nusers = [\"oidc:{SUBJECT}\"]\n");
    fs::write(roles, own + &binding).expect("a file");
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, KeySet> {
        self.key_set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key_set(&self) -> KeySet {
        *self.lock()
    }

    /// Answers one request. A client that closes the connection ends it.
    fn answer(&self, mut stream: TcpStream, base: &str) {
        let target = target(&mut stream);
        let _ = match (target.as_deref(), self.key_set()) {
            (Err(_), _) | (_, KeySet::Away) => Ok(()),
            (Ok("/keys"), key_set) => {
                self.requests.fetch_add(1, Ordering::SeqCst);
                self.send_keys(&mut stream, key_set)
            }
            (Ok(_), _) => {
                let keys = format!("{base}/keys");
                send_json(&mut stream, &json!({"issuer": base, "jwks_uri": keys}))
            }
        };
    }

    fn send_keys(&self, stream: &mut TcpStream, key_set: KeySet) -> io::Result<()> {
        match key_set {
            KeySet::Published | KeySet::Away => {
                send_json(stream, &json!({"keys": [self.public_key, rsa_key()]}))
            }
            KeySet::Endless => {
                begin(stream, r#"{"keys": ["#)?;
                let key = format!("{},", self.public_key);
                loop {
                    stream.write_all(key.as_bytes())?;
                    self.sent.fetch_add(key.len(), Ordering::SeqCst);
                }
            }
            KeySet::Slow => {
                begin(stream, r#"{"keys": ["#)?;
                loop {
                    stream.write_all(b" ")?;
                    thread::sleep(BYTE_INTERVAL);
                }
            }
            // The client closes the connection.
            KeySet::Silent => stream.read(&mut [0]).map(drop),
        }
    }
}

/// Reads the head of a request; returns its target.
fn target(stream: &mut TcpStream) -> io::Result<String> {
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    Ok(head.split(' ').nth(1).unwrap_or_default().to_owned())
}

/// The head of an answer that ends with the connection, and the begin of its body.
fn begin(stream: &mut TcpStream, body: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{body}"
    )
}

fn send_json(stream: &mut TcpStream, document: &Value) -> io::Result<()> {
    begin(stream, &document.to_string())
}

fn new_key() -> Ed25519KeyPair {
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
    Ed25519KeyPair::from_pkcs8(key.as_ref()).expect("a key")
}

fn public_key(key: &Ed25519KeyPair) -> Value {
    let x = base64(key.public_key());
    json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": KEY_ID, "alg": "EdDSA"})
}

/// The RSA key without the lines and the encoding of its file.
pub(crate) fn rsa_der() -> Vec<u8> {
    let lines = RSA_PEM.lines().filter(|line| !line.starts_with('-'));
    let text: String = lines.collect();
    BASE64_STANDARD.decode(text).expect("base64")
}

/// The member of the key set with the RSA key.
pub(crate) fn rsa_key() -> Value {
    let modulus = base64(&rsa_der()[RSA_MODULUS]);
    json!({"kty": "RSA", "n": modulus, "e": "AQAB", "kid": RSA_KEY_ID, "alg": "RS256"})
}

/// The header of a genuine token, with differences; null removes a member.
pub(crate) fn header(changes: &Value) -> Value {
    changed(
        json!({"alg": "EdDSA", "typ": "JWT", "kid": KEY_ID}),
        changes,
    )
}

/// The signed part of a token.
pub(crate) fn unsigned(header: &Value, claims: &Value) -> String {
    let [header, claims] = [header, claims].map(|part| base64(part.to_string()));
    format!("{header}.{claims}")
}

pub(crate) fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Seconds since 1970.
pub(crate) fn now_s() -> i64 {
    kindsight_server::now_ms() / 1000
}

fn changed(mut document: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().expect("members") {
        document[name] = value.clone();
    }
    let members = document.as_object_mut().expect("members");
    members.retain(|_, value| !value.is_null());
    document
}
