//! Connections and requests: HTTP/2, or HTTP/1 for a client that does not offer HTTP/2, over TLS.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cluster::SimulatedCluster;
use crate::discovery;
use crate::failure::Failure;
use crate::gate::{Binding, Gate};
use crate::history::ObjectId;
use crate::list::{Form, formed, page};
use crate::objects;
use crate::query::Query;
use crate::selection::Selection;
use crate::target::{NoTarget, Target};
use crate::watch::Watch;

/// The bearer token that every client must send.
pub const TOKEN: &str = "simulated";
/// Streams on one connection at a time, as of an API server.
const STREAMS_MAX: u32 = 100;
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The clusters of one listener.
pub(crate) struct Served {
    pub(crate) by_name: HashMap<String, Arc<SimulatedCluster>>,
    pub(crate) tls: TlsAcceptor,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

impl Served {
    /// Accepts connections until the stop.
    pub(crate) async fn accept(self: Arc<Self>, listener: TcpListener) {
        let accepting = async {
            loop {
                // An error is an exhausted limit of the system. The client connects again.
                if let Ok((stream, _)) = listener.accept().await {
                    self.tasks.spawn(Arc::clone(&self).connection(stream));
                }
            }
        };
        self.stop.run_until_cancelled(accepting).await;
    }

    async fn connection(self: Arc<Self>, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let Ok(tls) = self.tls.accept(stream).await else {
            return;
        };
        let is_http2 = tls.get_ref().1.alpn_protocol() == Some(b"h2");
        let binding = Arc::new(Binding::default());
        let io = TokioIo::new(Gate::new(tls, Arc::clone(&binding)));
        let (served, bound) = (Arc::clone(&self), Arc::clone(&binding));
        let service = service_fn(move |request| {
            let (served, bound) = (Arc::clone(&served), Arc::clone(&bound));
            async move { Ok::<_, Infallible>(served.answer(&bound, &request)) }
        });
        // A client that disconnects is no error.
        let serving = async {
            if is_http2 {
                let mut builder = http2::Builder::new(TokioExecutor::new());
                builder.timer(TokioTimer::new());
                builder.max_concurrent_streams(STREAMS_MAX);
                let _ = builder.serve_connection(io, service).await;
            } else {
                let mut builder = http1::Builder::new();
                builder.timer(TokioTimer::new());
                let _ = builder.serve_connection(io, service).await;
            }
        };
        tokio::select! {
            () = serving => {}
            () = binding.reset.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }

    fn answer(&self, binding: &Arc<Binding>, request: &Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().trim_start_matches('/');
        let (name, path) = path.split_once('/').unwrap_or((path, ""));
        let Some(cluster) = self.by_name.get(name) else {
            return text(StatusCode::NOT_FOUND, "no cluster has this name");
        };
        binding.bind(cluster);
        let target = Target::read(path);
        cluster.count_request(matches!(target, Ok(Target::Health)));
        if let Some(fault) = cluster.faults().next() {
            return failed(&fault.failure());
        }
        if !is_authorized(request.headers()) {
            return failed(&Failure::unauthorized());
        }
        let query = request.uri().query().unwrap_or_default();
        let answer = match target {
            Err(NoTarget::UnknownPath) => {
                return text(StatusCode::NOT_FOUND, "404 page not found\n");
            }
            Err(NoTarget::Failure(failure)) => Err(failure),
            Ok(target) => answered(cluster, target, query, request.headers()),
        };
        answer.unwrap_or_else(|failure| failed(&failure))
    }
}

fn is_authorized(headers: &HeaderMap) -> bool {
    let token = headers.get(AUTHORIZATION);
    let token = token.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    token == Some(TOKEN)
}

/// The answer to a request with valid credentials.
fn answered(
    cluster: &Arc<SimulatedCluster>,
    target: Target,
    query: &str,
    headers: &HeaderMap,
) -> Result<Response<Body>, Failure> {
    let accepted = Accepted::of(headers)?;
    let form = accepted.form();
    Ok(match target {
        Target::Health => text(StatusCode::OK, "ok"),
        Target::Version => json_body(StatusCode::OK, &version()),
        Target::Groups { is_core } if accepted == Accepted::Aggregated => {
            let body = discovery::aggregated(is_core);
            answer_of(AGGREGATED, StatusCode::OK, body.to_string())
        }
        Target::Groups { is_core } => json_body(StatusCode::OK, &discovery::names(is_core)),
        Target::Resources { group, version } => {
            json_body(StatusCode::OK, &discovery::resources(&group, &version))
        }
        Target::Collection { kind, namespace } => {
            let query = Query::read(query)?;
            let seed = cluster.seed();
            let selection = Selection::new(&seed, (kind, namespace.as_deref()), &query)?;
            if query.is_watch {
                let watch = Watch::open(cluster, selection, &query, form)?;
                let body = StreamBody::new(watch.lines());
                return Ok(with_type(JSON, StatusCode::OK, body.boxed_unsync()));
            }
            let history = cluster.history();
            let body = page((&seed, &history), &selection, &query, form)?;
            json_body(StatusCode::OK, &body)
        }
        Target::Object {
            kind,
            namespace,
            name,
        } => {
            let (seed, history) = (cluster.seed(), cluster.history());
            let number = objects::find(&seed, kind, &namespace, &name);
            let id = number.map(|number| ObjectId { kind, number });
            let found = id.and_then(|id| Some((id, history.at(id, history.now())?)));
            let served = kind.kind();
            let (id, state) =
                found.ok_or_else(|| Failure::no_object(served.plural, served.group, &name))?;
            let object = formed(form, served, objects::item(&seed, id, state));
            json_body(StatusCode::OK, &Value::Object(object))
        }
    })
}

/// The media type of discovery in one answer.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The first representation in the header `Accept` that the server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accepted {
    Plain,
    Metadata,
    Aggregated,
}

impl Accepted {
    fn of(headers: &HeaderMap) -> Result<Self, Failure> {
        let accept = headers.get(ACCEPT);
        let accept = accept.and_then(|value| value.to_str().ok()).unwrap_or(JSON);
        let mut types = accept.split(',').map(str::trim);
        let found = types.find_map(|kind| {
            let (media, parameters) = kind.split_once(';').unwrap_or((kind, ""));
            let is_json = [JSON, "*/*", "application/*"].contains(&media.trim());
            let wanted = parameters
                .split(';')
                .find_map(|it| it.trim().strip_prefix("as="));
            let has_v2 = parameters.contains("v=v2") && !parameters.contains("v=v2beta1");
            match wanted.filter(|_| is_json) {
                None => is_json.then_some(Self::Plain),
                Some(form) if form.starts_with("PartialObjectMetadata") => Some(Self::Metadata),
                Some("APIGroupDiscoveryList") if has_v2 => Some(Self::Aggregated),
                Some(_) => None,
            }
        });
        found.ok_or_else(Failure::not_acceptable)
    }

    fn form(self) -> Form {
        match self {
            Self::Metadata => Form::Metadata,
            Self::Plain | Self::Aggregated => Form::Whole,
        }
    }
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "34", "gitVersion": "v1.34.2", "gitCommit": "simulated", "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "none", "platform": "linux/amd64",
        "emulationMajor": "1", "emulationMinor": "34", "minCompatibilityMajor": "1", "minCompatibilityMinor": "33",
    })
}

fn failed(failure: &Failure) -> Response<Body> {
    let mut answer = json_body(failure.status, &failure.body());
    if let Some(seconds) = failure.retry_after {
        answer.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    answer
}

fn json_body(status: StatusCode, body: &Value) -> Response<Body> {
    answer_of(JSON, status, body.to_string())
}

fn text(status: StatusCode, body: &str) -> Response<Body> {
    answer_of(TEXT, status, body.to_owned())
}

fn answer_of(media: &str, status: StatusCode, body: String) -> Response<Body> {
    with_type(media, status, Full::from(body).boxed_unsync())
}

fn with_type(media: &str, status: StatusCode, body: Body) -> Response<Body> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    if let Ok(media) = media.parse() {
        headers.insert(CONTENT_TYPE, media);
    }
    if let Ok(caching) = "no-cache, private".parse() {
        headers.insert(CACHE_CONTROL, caching);
    }
    answer
}
