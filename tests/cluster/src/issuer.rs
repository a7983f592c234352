//! A real OIDC issuer.

mod programs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::http::Method;

use crate::authority::{Authority, write};
use crate::client::{Client, Credentials};
use crate::etcd::{READY_MAX, new_folder};
use crate::ports::free_port;
use crate::process::Process;

pub use programs::IssuerPrograms;

/// The time limit of the request that finds out whether the issuer answers.
const HEALTH_MAX: Duration = Duration::from_secs(1);

/// A running issuer. It is stopped when it is dropped.
///
/// Its users are `alice` (groups `team-a` and `everyone`), `bob` (`team-b` and `everyone`) and
/// `carol` (no groups, an email address that is not verified). Its clients `kindsight-cli` and
/// `another-client` get ID tokens with RS256, and `kindsight-cli-es256` with ES256. All clients use
/// the device flow without a secret. The client `kindsight-web` with the secret [`Issuer::WEB_SECRET`] signs browsers in,
/// and returns them to `/v2/session/oidc/callback` on any port of 127.0.0.1 or `localhost`.
#[derive(Debug)]
pub struct Issuer {
    process: Process,
    url: String,
    client: Client,
    /// The folder of its certificate. Removed after the process has ended.
    folder: TempDir,
}

impl Issuer {
    /// The secret of the client `kindsight-web`.
    pub const WEB_SECRET: &str = "known to all tests";

    /// Starts an issuer that serves HTTP on loopback.
    ///
    /// # Panics
    /// If it does not listen, with the end of its log.
    pub fn start(programs: &IssuerPrograms) -> Self {
        Self::launch(programs, None)
    }

    /// Starts an issuer that serves HTTPS, with a certificate of its own authority.
    ///
    /// # Panics
    /// If it does not listen, with the end of its log.
    pub fn start_with_tls(programs: &IssuerPrograms) -> Self {
        Self::launch(programs, Some(&Authority::new("issuer tests")))
    }

    fn launch(programs: &IssuerPrograms, authority: Option<&Authority>) -> Self {
        let folder = new_folder("issuer");
        let port = free_port();
        let mut arguments = programs.arguments(port);
        if let Some(authority) = authority {
            arguments.extend(write_certificate(authority, folder.path()));
        }
        let scheme = authority.map_or("http", |_| "https");
        let url = format!("{scheme}://127.0.0.1:{port}");
        let pem = authority.map(Authority::certificate);
        let client = Client::new(&url, pem, &Credentials::Nobody);
        let mut issuer = Self {
            process: Process::start("issuer", programs.node(), arguments, folder.path()),
            url,
            client,
            folder,
        };
        issuer.wait_until_it_answers();
        issuer
    }

    /// The issuer identifier, `http://127.0.0.1:PORT` or `https://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The file with the certificate of its authority. The file exists only with TLS.
    pub fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// Signs a token with a published key. Members of `claims` replace the claims of an ID token of
    /// `alice` for `kindsight-cli`, which expires in five minutes; null removes a claim.
    ///
    /// # Panics
    /// If the issuer does not answer.
    pub fn token(&self, algorithm: &str, claims: &Value) -> String {
        self.token_with_header(algorithm, claims, &json!({}))
    }

    /// Signs a token whose header has additional or different members.
    ///
    /// # Panics
    /// If the issuer does not answer.
    pub fn token_with_header(&self, algorithm: &str, claims: &Value, header: &Value) -> String {
        let body = json!({"alg": algorithm, "claims": claims, "header": header});
        let answer = self.control("token", &body);
        answer["token"].as_str().expect("a token").to_owned()
    }

    /// The published keys, as a JSON Web Key Set.
    ///
    /// # Panics
    /// If the issuer does not answer.
    pub fn keys(&self) -> Value {
        self.client.get("/jwks").expect("a key set")
    }

    /// Makes new keys, which sign from now on. With `keep`, the issuer still publishes the previous
    /// keys.
    ///
    /// # Panics
    /// If the issuer does not answer.
    pub fn rotate_keys(&self, keep: bool) {
        self.control("rotate", &json!({"keep": keep}));
    }

    /// Approves a pending device code, as the user does in a browser.
    ///
    /// # Panics
    /// If no device code is pending for this user code.
    pub fn approve(&self, user_code: &str, user: &str) {
        self.control("approve", &json!({"user_code": user_code, "user": user}));
    }

    /// Refuses a pending device code.
    ///
    /// # Panics
    /// If no device code is pending for this user code.
    pub fn deny(&self, user_code: &str) {
        self.control("deny", &json!({"user_code": user_code}));
    }

    /// Changes the lifetimes of ID tokens and device codes that are issued from now on, in seconds.
    ///
    /// # Panics
    /// If the issuer does not answer.
    pub fn set_lifetimes(&self, id_token: u32, device_code: u32) {
        let lifetimes = json!({"id_token": id_token, "device_code": device_code});
        self.control("lifetimes", &lifetimes);
    }

    /// The modes (`Sec-Fetch-Mode`) of the requests that pages of other origins made browsers send, such as `navigate`
    /// or `cors`.
    ///
    /// # Panics
    /// If the issuer does not answer.
    pub fn browser_requests(&self) -> Vec<String> {
        let answer = self.control("requests", &json!({}));
        let modes = answer["modes"].as_array().expect("a list").iter();
        modes.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Stops the issuer. It loses its keys, codes and refresh tokens.
    pub fn stop(&mut self) {
        self.process.stop();
    }

    /// Starts the issuer with the same URL and new keys.
    pub fn start_again(&mut self) {
        self.process.start_again();
        self.wait_until_it_answers();
    }

    /// Freezes the issuer: connections stay open but get no answers.
    pub fn pause(&mut self) {
        self.process.pause();
    }

    /// Continues the frozen issuer.
    pub fn resume(&mut self) {
        self.process.resume();
    }

    /// Sends a command that only this issuer knows.
    fn control(&self, name: &str, body: &Value) -> Value {
        let path = format!("/control/{name}");
        let body = Some(("application/json", body));
        let answer = self.client.request(Method::POST, &path, body);
        let answer = answer.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    fn wait_until_it_answers(&mut self) {
        let client = self.client.with_timeout(HEALTH_MAX);
        let answers = || client.request(Method::GET, "/jwks", None).is_ok();
        self.process.wait_until("it answers", READY_MAX, answers);
    }
}

/// Writes a certificate, and returns the arguments that name its files.
fn write_certificate(authority: &Authority, folder: &Path) -> [String; 2] {
    write(folder, "ca.crt", authority.certificate());
    authority.server(None).write(folder, "server");
    [("certificate", "server.crt"), ("key", "server.key")]
        .map(|(option, file)| format!("--{option}={}", folder.join(file).display()))
}
