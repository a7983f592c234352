//! Requests over TLS.

use std::convert::Infallible;
use std::io::Read as _;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::routing::get;
use hyper::body::Frame;
use kindsight_access::{ClientCertificate, TlsServer, TlsSettings};
use kindsight_cluster::{Authority, Client, Credentials};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::*;
use crate::serve;
use crate::serve::Ended;

/// Answers with the common name of the client's certificate.
async fn whoami(certificate: Option<Extension<Arc<ClientCertificate>>>) -> String {
    certificate.map_or_else(String::new, |certificate| certificate.common_name.clone())
}

/// An answer of one byte that does not end.
struct Endless {
    is_begun: bool,
}

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.is_begun {
            return Poll::Pending;
        }
        self.is_begun = true;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"!")))))
    }
}

async fn endless() -> Body {
    Body::new(Endless { is_begun: false })
}

#[tokio::test]
async fn a_connection_is_closed_when_its_certificate_is_no_longer_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let [company, staff, new] = ["company", "staff", "new"].map(Authority::new);
    let identity = company.server(None);
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let settings = TlsSettings {
        cert: file("server.crt", &identity.certificate),
        key: file("server.key", &identity.key),
        client_ca: Some(file("staff.crt", staff.certificate())),
        client_crl: None,
    };
    let tls = Arc::new(TlsServer::load(settings, now_ms).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let (done_tx, done_rx) = oneshot::channel::<()>();
    let authority = folder.path().join("staff.crt");
    let asking = tokio::task::spawn_blocking(move || {
        let client = |credentials| Client::new(&url, Some(company.certificate()), &credentials);
        let alice = Credentials::Certificate(staff.client("alice", "ops", None));
        let mut streams = [alice, Credentials::Nobody].map(|credentials| {
            let stream = client(credentials).with_timeout(Duration::from_secs(30));
            stream.stream("/endless")
        });
        let mut byte = [0];
        for stream in &mut streams {
            stream.read_exact(&mut byte).unwrap();
        }
        std::fs::write(authority, new.certificate()).unwrap();
        let [alice, nobody] = &mut streams;
        let ended = alice.read(&mut byte);
        let is_timeout = |error: &std::io::Error| error.kind() == std::io::ErrorKind::TimedOut;
        assert!(!ended.as_ref().is_err_and(is_timeout), "{ended:?}");
        assert!(ended.is_err(), "cut off: {ended:?}");
        // The client without a certificate waits until the stop.
        drop(done_tx);
        drop(nobody.read(&mut byte));
    });
    let router = Router::new().route("/endless", get(endless));
    let limits = Limits {
        drain_max: Duration::from_millis(100),
        ..Limits::default()
    };
    let stop = async move { drop(done_rx.await) };
    let serving = serve(
        listener,
        Some(Arc::clone(&tls)),
        router,
        limits,
        Slots::new(&limits),
        stop,
    );
    let ended = tokio::select! {
        ended = serving => ended.unwrap(),
        () = tls.follow() => unreachable!("it does not end"),
    };
    assert_eq!(
        ended,
        Ended::CutOff,
        "the client without a certificate was connected"
    );
    asking.await.unwrap();
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[tokio::test]
async fn a_request_has_the_certificate_that_its_client_proved_to_own() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("tests");
    let identity = authority.server(None);
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let settings = TlsSettings {
        cert: file("server.crt", &identity.certificate),
        key: file("server.key", &identity.key),
        client_ca: Some(file("ca.crt", authority.certificate())),
        client_crl: None,
    };
    let tls = Some(Arc::new(TlsServer::load(settings, || 0).unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let (done_tx, done_rx) = oneshot::channel::<()>();
    let asking = tokio::task::spawn_blocking(move || {
        let alice = Credentials::Certificate(authority.client("alice", "ops", None));
        let answers = [alice, Credentials::Nobody].map(|credentials| {
            let client = Client::new(&url, Some(authority.certificate()), &credentials);
            client.get("/whoami")
        });
        drop(done_tx);
        answers
    });
    let router = Router::new().route("/whoami", get(whoami));
    let stop = async move { drop(done_rx.await) };
    serve(
        listener,
        tls,
        router,
        Limits::default(),
        Slots::new(&Limits::default()),
        stop,
    )
    .await
    .unwrap();
    let answers = asking.await.unwrap();
    assert_eq!(answers, ["alice", ""].map(|name| Some(name.into())));
}
