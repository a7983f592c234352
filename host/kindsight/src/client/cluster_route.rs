//! The way to a server through the API server of its cluster.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use kindsight_server::clusters::{
    IssuedToken, NamespacedName, ProxiedService, ServiceAnswer, ServiceName, UserCluster,
};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout, timeout_at};
use ureq::http::{Request, Response, StatusCode, header};

use super::server::Deadline;

/// Audience of the tokens of a `ServiceAccount`: the audience that the server requires.
const AUDIENCE: &str = "kindsight";
/// Lifetime of such a token: the shortest that API servers accept.
const TOKEN_LIFETIME: Duration = Duration::from_mins(10);
/// Timeout of the search for the server, and of the request for a token.
const PREPARATION_MAX: Duration = Duration::from_mins(2);
/// Media type of refusals of kindsight. A refusal of the API server has another one.
const PROBLEM: &str = "application/problem+json";

/// A context of a kubeconfig.
#[derive(Debug, Clone, Default)]
pub(crate) struct KubeContext {
    /// The file; without it, the file that `kubectl` uses.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The name of the context; without it, the current context.
    pub(crate) context: Option<String>,
}

impl KubeContext {
    async fn connect(&self) -> anyhow::Result<UserCluster> {
        let (path, context) = (self.kubeconfig.as_deref(), self.context.as_deref());
        Ok(UserCluster::connect(path, context).await?)
    }
}

/// The way to the Service of a server.
pub(crate) struct ClusterRoute {
    of: KubeContext,
    /// `None` after the API server refused the credentials, or did not answer: the next request connects again.
    cluster: Mutex<Option<UserCluster>>,
    service: ProxiedService,
    runtime: Runtime,
}

impl ClusterRoute {
    /// Connects to the API server of a context, and finds the Service.
    ///
    /// # Errors
    /// The kubeconfig is unusable, the API server refuses or cannot be reached, or there is no such Service.
    pub(crate) fn find(
        of: KubeContext,
        service: Option<&ServiceName>,
    ) -> anyhow::Result<Arc<Self>> {
        // One thread, for connections between requests.
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let found = async {
            let cluster = of.connect().await?;
            let service = cluster.service(service).await?;
            anyhow::Ok((cluster, service))
        };
        let found = runtime.block_on(async { timeout(PREPARATION_MAX, found).await });
        let (cluster, service) = found.context("the API server of the cluster is too slow")??;
        Ok(Arc::new(Self {
            of,
            cluster: Mutex::new(Some(cluster)),
            service,
            runtime,
        }))
    }

    /// The path on the API server that the paths of requests follow.
    pub(super) fn path(&self) -> &str {
        self.service.path()
    }

    /// Requests a token of a `ServiceAccount` with the audience `kindsight`.
    ///
    /// # Errors
    /// The API server refuses or cannot be reached.
    pub(crate) fn token(&self, account: &NamespacedName) -> anyhow::Result<IssuedToken> {
        let issued = async {
            let cluster = self.cluster().await?;
            let token = cluster.service_account_token(account, AUDIENCE, TOKEN_LIFETIME);
            anyhow::Ok(token.await?)
        };
        let issued = self
            .runtime
            .block_on(async { timeout(PREPARATION_MAX, issued).await });
        issued.context("the API server of the cluster is too slow")?
    }

    /// Sends a request whose target follows [`ClusterRoute::path`].
    ///
    /// # Errors
    /// The API server cannot be reached, or there is no answer in time.
    pub(super) fn send(
        self: &Arc<Self>,
        request: Request<Option<&[u8]>>,
        deadline: Deadline,
    ) -> anyhow::Result<Response<ureq::Body>> {
        let mut request = request.map(|body| body.unwrap_or_default().to_vec());
        // The body is sent at once.
        request.headers_mut().remove(header::EXPECT);
        let (head_max, end) = match deadline {
            Deadline::Answer(time) => (time, Instant::now().checked_add(time)),
            Deadline::Head(time) => (time, None),
        };
        let answer = async {
            let cluster = self.cluster().await?;
            anyhow::Ok(cluster.send(request).await?)
        };
        let answer = self
            .runtime
            .block_on(async { timeout(head_max, answer).await });
        let answer = answer.with_context(|| format!("no answer in {head_max:?}"));
        let answer = answer
            .and_then(|answer| answer)
            .inspect_err(|_| self.forget())?;
        if answer.status() == StatusCode::UNAUTHORIZED && !is_of_kindsight(&answer) {
            self.forget();
        }
        let route = Arc::clone(self);
        Ok(answer.map(|body| {
            ureq::Body::builder().reader(AnswerReader {
                route,
                body: Mutex::new(body),
                end,
                part: io::Cursor::default(),
            })
        }))
    }

    async fn cluster(&self) -> anyhow::Result<UserCluster> {
        let known = self.known().clone();
        if let Some(cluster) = known {
            return Ok(cluster);
        }
        let cluster = self.of.connect().await?;
        Ok(self.known().insert(cluster).clone())
    }

    fn forget(&self) {
        self.known().take();
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Option<UserCluster>> {
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for ClusterRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterRoute")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

/// Returns whether kindsight sent a refusal, and not the API server.
fn is_of_kindsight<T>(answer: &Response<T>) -> bool {
    let media_type = answer.headers().get(header::CONTENT_TYPE);
    media_type.is_some_and(|media_type| media_type.as_bytes().starts_with(PROBLEM.as_bytes()))
}

/// The body of an answer.
struct AnswerReader {
    route: Arc<ClusterRoute>,
    /// In a mutex because the HTTP client shares readers between threads. Only this reader uses it.
    body: Mutex<ServiceAnswer>,
    /// The time at which the body must have ended; `None` for a stream.
    end: Option<Instant>,
    /// The part that is read.
    part: io::Cursor<Vec<u8>>,
}

impl Read for AnswerReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.part.read(to)?;
            if read > 0 || to.is_empty() {
                return Ok(read);
            }
            let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
            let end = self.end;
            let next = self.route.runtime.block_on(async {
                match end {
                    Some(end) => timeout_at(end, body.next()).await,
                    None => Ok(body.next().await),
                }
            });
            let next = next.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
            match next.map_err(io::Error::other)? {
                Some(part) => self.part = io::Cursor::new(part),
                None => return Ok(0),
            }
        }
    }
}
