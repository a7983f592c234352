//! Requests over TLS.

use axum::Extension;
use axum::routing::get;
use kindsight_access::{ClientCertificate, TlsServer, TlsSettings};
use kindsight_cluster::{Authority, Client, Credentials};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::*;
use crate::serve;

/// Answers with the common name of the client's certificate.
async fn whoami(certificate: Option<Extension<Arc<ClientCertificate>>>) -> String {
    certificate.map_or_else(String::new, |it| it.common_name.clone())
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
