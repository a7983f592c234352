//! The keys of issuers that rotate them, misbehave, or fail.

use tokio::task::JoinSet;

use super::fake_issuer::{DISCOVERY, FakeIssuer, KEYS, ok};
use super::*;

/// Requests of one fetch: the discovery document, and the key set.
const REQUESTS: usize = 2;

/// The reason why the keys of an issuer are not fetched.
async fn failure(issuer: &FakeIssuer) -> String {
    let oidc = Oidc::new(settings(&issuer.url)).unwrap();
    oidc.keys.fetch_first(&oidc.client).await;
    oidc.keys.failure().expect("a failure")
}

fn is_unavailable(answer: &Result<Verified, TokenError>) -> bool {
    matches!(answer, Err(TokenError::Unavailable(_)))
}

#[tokio::test]
async fn an_unknown_key_is_fetched_and_a_withdrawn_key_is_refused() {
    let stage = Stage::new().await;
    let second = Signer::new("second");
    stage.issuer.publish(&[second.public_key()]);
    let token = second.token(&stage.issuer.url, &json!({}));
    let refused = stage.oidc.verify(&token).await;
    assert!(refused.is_err(), "the last fetch was a moment ago");
    stage.oidc.keys.end_pause();
    let fetch = stage.oidc.keys.fetch_when_wanted(&stage.oidc.client);
    let (verified, ()) = tokio::join!(stage.oidc.verify(&token), fetch);
    verified.unwrap();
    tokio::time::pause();
    assert_eq!(
        stage.refusal(&json!({})).await,
        "the issuer does not publish its key"
    );
}

#[tokio::test]
async fn many_tokens_with_unknown_keys_cause_one_fetch() {
    let stage = Stage::new().await;
    let before = stage.issuer.requests();
    let token = Signer::new("stranger").token(&stage.issuer.url, &json!({}));
    tokio::time::pause();
    for _ in 0..1000 {
        let refusal = reason_of(stage.oidc.verify(&token).await);
        assert_eq!(refusal, "the issuer does not publish its key");
    }
    tokio::time::resume();
    let requests = stage.issuer.requests();
    assert_eq!(requests, before, "the last fetch was a moment ago");
    stage.oidc.keys.end_pause();
    let attempts = attempts(&stage.oidc, &token);
    let fetch = stage.oidc.keys.fetch_when_wanted(&stage.oidc.client);
    let (answers, ()) = tokio::join!(attempts.join_all(), fetch);
    assert!(answers.iter().all(Result::is_err));
    assert_eq!(stage.issuer.requests(), before + REQUESTS);
    stage.verify(&json!({})).await.unwrap();
}

/// A thousand attempts with a token at the same time.
fn attempts(oidc: &Arc<Oidc>, token: &str) -> JoinSet<Result<Verified, TokenError>> {
    let mut attempts = JoinSet::new();
    for _ in 0..1000 {
        let (oidc, token) = (Arc::clone(oidc), token.to_owned());
        attempts.spawn(async move { oidc.verify(&token).await });
    }
    attempts
}

#[tokio::test(start_paused = true)]
async fn few_tokens_wait_for_keys_that_never_arrive_and_for_a_limited_time() {
    let issuer = FakeIssuer::start(&[]).await;
    let oidc = Arc::new(Oidc::new(settings(&issuer.url)).unwrap());
    let token = Signer::new("first").token(&issuer.url, &json!({}));
    let answers = attempts(&oidc, &token).join_all().await;
    assert!(answers.iter().all(is_unavailable));
    let refused = Err(TokenError::Unavailable(
        "too many tokens with unknown keys".to_owned(),
    ));
    let waited = answers.iter().filter(|answer| **answer != refused);
    assert_eq!(waited.count(), 16);
}

#[tokio::test]
async fn known_keys_are_used_while_the_issuer_fails() {
    let stage = Stage::new().await;
    for answer in ["HTTP/1.1 503 Service Unavailable\r\n\r\n", "", &ok("{}")] {
        stage.issuer.set(KEYS, answer);
        stage.oidc.keys.fetch_first(&stage.oidc.client).await;
        assert!(stage.oidc.keys.failure().is_some(), "{answer}");
        stage.verify(&json!({})).await.unwrap();
        let expired = json!({"exp": Timestamp::now().as_second() - 1});
        assert_eq!(stage.refusal(&expired).await, "it has expired");
        let unknown = Signer::new("unknown").token(&stage.issuer.url, &json!({}));
        assert!(is_unavailable(&stage.oidc.verify(&unknown).await));
    }
}

#[tokio::test(start_paused = true)]
async fn keys_that_never_arrive_end_in_a_timeout() {
    let issuer = FakeIssuer::start(&[]).await;
    issuer.hang(KEYS);
    assert_eq!(failure(&issuer).await, "no answer within 5 s");
    issuer.set(KEYS, "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{");
    issuer.hang(DISCOVERY);
    assert_eq!(failure(&issuer).await, "no answer within 5 s");
}

#[tokio::test]
async fn keys_are_not_used_for_ever() {
    let stage = Stage::new().await;
    tokio::time::pause();
    let year = json!({"exp": Timestamp::now().as_second() + 31_536_000});
    tokio::time::advance(std::time::Duration::from_hours(23)).await;
    stage.verify(&year).await.unwrap();
    tokio::time::advance(std::time::Duration::from_hours(1)).await;
    assert!(is_unavailable(&stage.verify(&year).await));
}

#[tokio::test]
async fn documents_that_are_too_large_are_refused() {
    let issuer = FakeIssuer::start(&[]).await;
    let key = Signer::new("first").public_key();
    issuer.publish(&vec![key.clone(); 101]);
    let reason = failure(&issuer).await;
    assert!(reason.contains("101 keys; at most 100"), "{reason}");
    issuer.publish(&vec![key; 10_000]);
    let reason = failure(&issuer).await;
    assert!(reason.contains("larger than 262144 bytes"), "{reason}");
    let endless = "[".repeat(100_000);
    issuer.set(KEYS, &ok(&endless));
    let reason = failure(&issuer).await;
    assert!(reason.contains("not a JSON object"), "{reason}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let issuer = FakeIssuer::start(&[]).await;
    let elsewhere = FakeIssuer::start(&[]).await;
    let redirect = format!(
        "HTTP/1.1 302 Found\r\nlocation: {}{DISCOVERY}\r\ncontent-length: 0\r\n\r\n",
        elsewhere.url
    );
    issuer.set(DISCOVERY, &redirect);
    let reason = failure(&issuer).await;
    assert!(
        reason.contains("302 Found; redirects are not followed"),
        "{reason}"
    );
    assert_eq!(elsewhere.requests(), 0);
}

#[tokio::test]
async fn a_discovery_document_names_its_issuer_and_a_key_set_of_the_same_scheme() {
    let issuer = FakeIssuer::start(&[]).await;
    let keys = format!("{}{KEYS}", issuer.url);
    let cases = [
        (
            "https://another.example",
            keys.as_str(),
            "the issuer `https://another.example`",
        ),
        (&issuer.url, "https://127.0.0.1/keys", "another scheme"),
        (
            &issuer.url,
            "http://keys.example/keys",
            "cannot be used for OIDC",
        ),
        (&issuer.url, "file:///etc/passwd", "cannot be used for OIDC"),
        (&issuer.url, &keys, "no key for signatures"),
    ];
    for (named, keys, expected) in cases {
        issuer.set_discovery(named, keys);
        let reason = failure(&issuer).await;
        assert!(reason.contains(expected), "{reason}");
    }
    issuer.set(DISCOVERY, &ok("<html>"));
    let reason = failure(&issuer).await;
    assert!(reason.contains("`issuer` and `jwks_uri`"), "{reason}");
}

#[tokio::test]
async fn an_address_without_a_server_is_a_failure() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let oidc = Oidc::new(settings(&url)).unwrap();
    oidc.keys.fetch_first(&oidc.client).await;
    let reason = oidc.keys.failure().unwrap();
    assert!(reason.contains("refused"), "{reason}");
    let token = Signer::new("first").token(&url, &json!({}));
    assert!(is_unavailable(&oidc.verify(&token).await));
}
