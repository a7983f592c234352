//! An issuer behind an HTTP proxy.

use std::sync::Mutex;

use kindsight_cluster::{Issuer, IssuerPrograms};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::*;

/// `user:password`, as a proxy receives it.
const CREDENTIALS: &str = "Proxy-Authorization: Basic dXNlcjpwYXNzd29yZA==";

/// A proxy on loopback, which keeps the head of each request.
struct ConnectProxy {
    address: String,
    heads: Arc<Mutex<Vec<String>>>,
    _serving: JoinSet<()>,
}

impl ConnectProxy {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heads);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(connect(client, Arc::clone(&kept)));
            }
        });
        Self {
            address,
            heads,
            _serving: serving,
        }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

/// Connects a client to the server that its request names, or refuses a client without credentials.
async fn connect(client: TcpStream, heads: Arc<Mutex<Vec<String>>>) {
    let mut client = BufReader::new(client);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        client.read_line(&mut head).await.unwrap();
    }
    heads.lock().unwrap().push(head.clone());
    if !head.to_lowercase().contains(&CREDENTIALS.to_lowercase()) {
        let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
        client.write_all(refusal).await.unwrap();
        return;
    }
    let target = head.split(' ').nth(1).unwrap().to_owned();
    let mut server = TcpStream::connect(target).await.unwrap();
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    let _ = copy_bidirectional(&mut client, &mut server).await;
}

#[tokio::test]
async fn an_issuer_is_reached_through_the_proxy() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start_with_tls(&programs);
    let proxy = ConnectProxy::start().await;
    let mut settings = settings(issuer.url());
    settings.ca = Some(issuer.ca());
    settings.proxies = Proxies::all(&format!("http://user:password@{}", proxy.address));
    let oidc = with_keys(settings.clone()).await;
    let token = issuer.token("RS256", &json!({"aud": AUDIENCE}));
    oidc.verify(&token).await.unwrap();
    let heads = proxy.heads();
    let host = issuer.url().trim_start_matches("https://");
    // One connection for each document.
    assert_eq!(heads.len(), 2, "{heads:?}");
    assert!(
        heads
            .iter()
            .all(|head| head.starts_with(&format!("CONNECT {host} ")))
    );
    settings.proxies = Proxies::all(&format!("http://{}", proxy.address));
    let refused = Oidc::new(settings).unwrap();
    refused.keys.fetch_first(&refused.client).await;
    let reason = refused.keys.failure().unwrap();
    assert!(
        reason.contains(&proxy.address) && reason.contains("authorization required"),
        "{reason}"
    );
}

#[tokio::test]
async fn an_issuer_with_plain_http_is_on_this_machine_and_needs_no_proxy() {
    let stage = Stage::with(|settings| settings.proxies = Proxies::all("http://127.0.0.1:1")).await;
    stage.verify(&json!({})).await.unwrap();
}

#[test]
fn a_proxy_with_another_scheme_is_refused_without_its_password() {
    for scheme in ["https", "socks5", "socks5h"] {
        let mut settings = settings("https://login.example");
        settings.proxies = Proxies::all(&format!("{scheme}://user:secret@proxy.example:3128"));
        let error = Oidc::new(settings.clone()).err().unwrap().to_string();
        assert!(error.contains(&format!("the scheme `{scheme}`: use http://HOST:PORT")));
        assert!(
            !format!("{error}{settings:?}").contains("secret"),
            "{error}"
        );
    }
}
