//! A small blocking client of an API server.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::http::{Method, Request, Response};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use crate::authority::Identity;
use crate::process::PERIOD;

/// The time limit of one request.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// Maximum size of an answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 256 << 20;
/// Name under which [`Client::apply`] owns fields.
const FIELD_MANAGER: &str = "tests";

/// The credentials of a client.
#[derive(Debug, Clone)]
pub enum Credentials {
    /// No credentials: anonymous.
    Nobody,
    /// A bearer token.
    Token(String),
    /// A client certificate.
    Certificate(Identity),
}

/// An answer with any status.
#[derive(Debug)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// The body, as a string if it is not JSON.
    pub body: Value,
}

/// A client of one API server. Except for [`Client::request`], its methods panic with the server's
/// text if an answer has an unexpected status.
#[derive(Debug, Clone)]
pub struct Client {
    agent: Agent,
    url: String,
    /// Value of the header `Authorization`.
    token: Option<String>,
}

impl Client {
    /// Makes a client that trusts the servers of an authority, given as PEM.
    pub fn new(url: &str, authority: Option<&str>, credentials: &Credentials) -> Self {
        let certificate = |pem: &str| Certificate::from_pem(pem.as_bytes()).expect("a certificate");
        let trusted: Vec<_> = authority.into_iter().map(certificate).collect();
        let roots = RootCerts::new_with_certs(&trusted);
        let mut tls = TlsConfig::builder().root_certs(roots);
        let mut token = None;
        match credentials {
            Credentials::Nobody => {}
            Credentials::Token(text) => token = Some(format!("Bearer {text}")),
            Credentials::Certificate(identity) => {
                let key = PrivateKey::from_pem(identity.key.as_bytes()).expect("a key");
                let own = certificate(&identity.certificate);
                tls = tls.client_cert(Some(ClientCert::new_with_certs(&[own], key)));
            }
        }
        Self {
            agent: agent(tls.build(), ANSWER_MAX),
            url: url.to_owned(),
            token,
        }
    }

    /// The URL of its server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The same client with a different timeout per request.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        let tls = self.agent.config().tls_config().clone();
        Self {
            agent: agent(tls, timeout),
            ..self.clone()
        }
    }

    /// The same client with a different value of the header `Authorization`, such as a token of
    /// etcd.
    pub(crate) fn authorized(self, value: &str) -> Self {
        Self {
            token: Some(value.to_owned()),
            ..self
        }
    }

    /// Sends a request. A body is sent with the given media type.
    ///
    /// # Errors
    /// If no answer arrived.
    pub fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<(&str, &Value)>,
    ) -> Result<Answer, ureq::Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("Accept", "application/json");
        if let Some(token) = &self.token {
            request = request.header("Authorization", token);
        }
        let response = match body {
            Some((media_type, body)) => {
                let request = request.header("Content-Type", media_type);
                self.agent.run(request.body(body.to_string())?)
            }
            None => self.agent.run(request.body(())?),
        };
        let mut response = response?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
        let body = body.read_to_string()?;
        let body = serde_json::from_str(&body).unwrap_or(Value::String(body));
        Ok(Answer { status, body })
    }

    /// The body of an answer that does not end, such as the answer of a watch. It can be read until
    /// the [timeout](Self::with_timeout).
    ///
    /// # Panics
    /// If no answer begins.
    pub fn stream(&self, path: &str) -> impl Read + use<> {
        let mut request = Request::get(format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            request = request.header("Authorization", token);
        }
        let request = request.body(()).expect("a request");
        let answer = self.agent.run(request).expect("an answer that begins");
        answer.into_body().into_reader()
    }

    /// The answer to a read with this value of the header `Accept`, whose body is not read yet.
    ///
    /// # Errors
    /// If no answer begins.
    pub(crate) fn read(&self, path: &str, accept: &str) -> Result<Response<Body>, ureq::Error> {
        let mut request = Request::get(format!("{}{path}", self.url)).header("Accept", accept);
        if let Some(token) = &self.token {
            request = request.header("Authorization", token);
        }
        self.agent.run(request.body(())?)
    }

    /// Returns whether the server answers at all, and its certificate is accepted.
    pub fn can_connect(&self) -> bool {
        self.request(Method::GET, "/readyz", None).is_ok()
    }

    /// Returns the content of a path, such as `/api/v1/nodes`, or `None` for 404.
    pub fn get(&self, path: &str) -> Option<Value> {
        self.expect(&Method::GET, path, None)
    }

    /// Creates or changes an object as `kubectl apply --server-side` does, in the namespace
    /// `default` if it names none. Returns the object from the server's answer.
    pub fn apply(&self, object: &Value) -> Value {
        self.apply_below(object, "")
    }

    /// Changes the status of an object, as its controller would.
    pub fn apply_status(&self, object: &Value) -> Value {
        self.apply_below(object, "/status")
    }

    fn apply_below(&self, object: &Value, subresource: &str) -> Value {
        let path = self.path(object);
        let path = format!("{path}{subresource}?fieldManager={FIELD_MANAGER}&force=true");
        self.patch(&path, "application/apply-patch+yaml", object)
    }

    /// Sends a patch with this media type. Returns the object from the server's answer.
    pub fn patch(&self, path: &str, media_type: &str, patch: &Value) -> Value {
        let answer = self.expect(&Method::PATCH, path, Some((media_type, patch)));
        answer.unwrap_or_else(|| panic!("nothing to change at {path}"))
    }

    /// Creates an object in a collection. Returns the object from the server's answer.
    pub fn create(&self, collection: &str, object: &Value) -> Value {
        let answer = self.expect(
            &Method::POST,
            collection,
            Some(("application/json", object)),
        );
        answer.unwrap_or_else(|| panic!("no collection {collection}"))
    }

    /// Deletes the object at a path. Returns false if it does not exist. An object with finalizers
    /// is removed later.
    pub fn delete(&self, path: &str) -> bool {
        self.expect(&Method::DELETE, path, None).is_some()
    }

    /// Polls a path until its content meets the condition, and returns the content. If the path
    /// does not exist, the content is `null`: `wait(path, Value::is_null, …)` waits for a deletion.
    ///
    /// # Panics
    /// If the time has passed, with the last content.
    pub fn wait(&self, path: &str, is_so: impl Fn(&Value) -> bool, timeout: Duration) -> Value {
        let begin = Instant::now();
        loop {
            let value = self.get(path).unwrap_or(Value::Null);
            if is_so(&value) {
                return value;
            }
            assert!(
                begin.elapsed() < timeout,
                "not within {timeout:?}: {path} is {value:#}"
            );
            thread::sleep(PERIOD);
        }
    }

    /// Polls a path until the server answers with a status.
    ///
    /// # Panics
    /// If the time has passed, with the last answer.
    pub fn wait_for_status(&self, path: &str, status: u16, timeout: Duration) {
        let begin = Instant::now();
        loop {
            let answer = self.request(Method::GET, path, None);
            if matches!(&answer, Ok(answer) if answer.status == status) {
                return;
            }
            assert!(
                begin.elapsed() < timeout,
                "not within {timeout:?}: {path} answers with {answer:?}"
            );
            thread::sleep(PERIOD);
        }
    }

    /// The path of an object, determined from the Kinds that the server serves at present.
    ///
    /// # Panics
    /// If the server does not serve the Kind.
    pub fn path(&self, object: &Value) -> String {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
        let version = text("/apiVersion").expect("an apiVersion");
        let root = if version.contains('/') {
            format!("/apis/{version}")
        } else {
            format!("/api/{version}")
        };
        let served = self
            .get(&root)
            .unwrap_or_else(|| panic!("{version} is not served"));
        let kind = text("/kind").expect("a kind");
        let resources = served.pointer("/resources").and_then(Value::as_array);
        let mut resources = resources.into_iter().flatten();
        let resource = resources.find(|resource| {
            let plural = resource["name"].as_str().unwrap_or_default();
            resource["kind"] == kind && !plural.contains('/')
        });
        let resource = resource.unwrap_or_else(|| panic!("{version} has no {kind}"));
        let plural = resource["name"].as_str().unwrap_or_default();
        let name = text("/metadata/name").expect("a name");
        if resource["namespaced"] == true {
            let namespace = text("/metadata/namespace").unwrap_or("default");
            format!("{root}/namespaces/{namespace}/{plural}/{name}")
        } else {
            format!("{root}/{plural}/{name}")
        }
    }

    fn expect(&self, method: &Method, path: &str, body: Option<(&str, &Value)>) -> Option<Value> {
        let answer = self
            .request(method.clone(), path, body)
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        match answer.status {
            200..300 => Some(answer.body),
            404 => None,
            status => panic!("{method} {path}: {status} {:#}", answer.body),
        }
    }
}

fn agent(tls: TlsConfig, timeout: Duration) -> Agent {
    let config = Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(Some(timeout));
    config.build().into()
}
