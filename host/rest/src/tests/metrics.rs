//! Metrics, and the listener of metrics.

use std::sync::Mutex;

use super::connections::ask;
use super::*;
use crate::{AnsweredRequest, Metrics, metrics_router, serve};

/// Keeps route, method and status of each request.
#[derive(Default)]
pub(super) struct SampleMetrics(Mutex<Vec<(String, String, u16)>>);

impl Metrics for SampleMetrics {
    fn answered(&self, request: &AnsweredRequest<'_>) {
        let route = request.route.unwrap_or("-").to_owned();
        let answered = (route, request.method.to_owned(), request.status);
        self.0.lock().unwrap().push(answered);
    }

    fn text(&self) -> String {
        "a 1\n".to_owned()
    }
}

fn with_metrics() -> (AppState, Arc<SampleMetrics>) {
    let metrics = Arc::new(SampleMetrics::default());
    let state = AppState {
        metrics: Arc::clone(&metrics) as Arc<dyn Metrics>,
        ..state(Limits::default())
    };
    (state, metrics)
}

#[tokio::test]
async fn requests_are_counted_by_the_path_of_their_route() {
    let (state, metrics) = with_metrics();
    let router = router(state);
    for (method, uri) in [
        ("GET", STATUS),
        ("GET", "/nowhere"),
        ("BREW", "/healthz"),
        ("GET", "/metrics"),
    ] {
        send(router.clone(), method, uri, Body::empty()).await;
    }
    let status = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/status";
    let counted = metrics.0.lock().unwrap().clone();
    let counted: Vec<_> = counted
        .iter()
        .map(|(route, method, status)| (route.as_str(), method.as_str(), *status))
        .collect();
    let expected = [
        (status, "GET", 200),
        ("-", "GET", 404),
        ("/healthz", "BREW", 405),
        ("/metrics", "GET", 200),
    ];
    assert_eq!(counted, expected);
}

#[tokio::test]
async fn metrics_are_text() {
    let answer = get("/metrics").await;
    assert_eq!(answer.text, "a 1\n");
    let format = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(answer.header(header::CONTENT_TYPE), format);
}

#[tokio::test]
async fn the_listener_of_metrics_has_no_other_routes() {
    let (state, _) = with_metrics();
    let router = metrics_router(state);
    for (uri, status) in [
        ("/metrics", 200),
        ("/healthz", 200),
        ("/readyz", 404),
        ("/v2/applications", 404),
    ] {
        let answer = send(router.clone(), "GET", uri, Body::empty()).await;
        assert_eq!(answer.status, status, "{uri}");
    }
    let answer = send(router, "GET", "/", Body::empty()).await;
    let detail = answer.problem(StatusCode::NOT_FOUND);
    assert!(detail.ends_with("there are /healthz, /metrics"), "{detail}");
}

#[tokio::test]
async fn open_connections_and_streams_are_counted() {
    let state = state(Limits::default());
    let slots = state.slots.clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop_tx, stop_rx) = tokio::sync::oneshot::channel::<()>();
    let stop = async move { drop(stop_rx.await) };
    let router = router(state);
    let serving = serve(
        listener,
        None,
        router,
        Limits::default(),
        slots.clone(),
        stop,
    );
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(serving);
    let client = move || {
        let request = "GET /v2/applications/watch HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        std::io::Read::read_exact(&mut stream, &mut [0; 200]).unwrap();
        stream
    };
    let stream = tokio::task::spawn_blocking(client).await.unwrap();
    assert_eq!(slots.connections().taken, 1);
    assert_eq!(slots.streams().taken, 1);
    assert_eq!(slots.requests().taken, 0);
    drop(stream);
    let healthz = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = tokio::task::spawn_blocking(move || ask(address, healthz));
    assert!(answer.await.unwrap().contains("x-request-id: "));
    drop(stop_tx);
    tasks.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(slots.connections().taken, 0);
    assert_eq!(slots.streams().taken, 0);
}
