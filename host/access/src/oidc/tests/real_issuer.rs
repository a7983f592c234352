//! Tokens of a real issuer.

use std::time::Duration;

use kindsight_cluster::{Issuer, IssuerPrograms};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::*;

/// Claims of a token for kindsight.
fn own() -> Value {
    json!({"aud": AUDIENCE})
}

#[tokio::test]
async fn tokens_of_a_real_issuer_are_verified_with_each_algorithm() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start(&programs);
    let oidc = with_keys(settings(issuer.url())).await;
    for algorithm in SignatureAlgorithm::DEFAULT {
        let token = issuer.token(&algorithm.to_string(), &own());
        let verified = oidc.verify(&token).await.unwrap();
        assert_eq!(verified.user.name(), "oidc:alice");
        assert_eq!(verified.user.groups(), ["oidc:team-a", "oidc:everyone"]);
    }
    let now = Timestamp::now().as_second();
    let refused = [
        (
            json!({"aud": "another-client"}),
            "it is for another audience",
        ),
        (json!({"aud": AUDIENCE, "exp": now - 5}), "it has expired"),
        (
            json!({"aud": AUDIENCE, "nbf": now + 600}),
            "it is not valid yet",
        ),
        (
            json!({"aud": AUDIENCE, "iat": now + 600}),
            "it was issued in the future",
        ),
    ];
    for (claims, expected) in refused {
        let token = issuer.token("RS256", &claims);
        assert_eq!(reason_of(oidc.verify(&token).await), expected);
    }
}

#[tokio::test]
async fn an_hmac_with_a_published_rsa_key_is_refused() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start(&programs);
    let oidc = with_keys(settings(issuer.url())).await;
    let keys = issuer.keys();
    for key in keys["keys"].as_array().unwrap() {
        let header = json!({"alg": "HS256", "kid": key["kid"]});
        let message = unsigned(&header, &claims_of(issuer.url(), &json!({})));
        let secret = key.to_string();
        let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        let signature = ring::hmac::sign(&secret, message.as_bytes());
        let token = format!("{message}.{}", base64(signature));
        let refusal = reason_of(oidc.verify(&token).await);
        assert!(
            refusal.starts_with("its algorithm is not one of"),
            "{refusal}"
        );
    }
}

/// A task follows the keys, as in the server, while the issuer rotates them and ends.
#[tokio::test(flavor = "multi_thread")]
async fn rotated_keys_of_a_real_issuer_need_no_restart() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let mut issuer = Issuer::start(&programs);
    let oidc = Arc::new(Oidc::new(settings(issuer.url())).unwrap());
    let followed = Arc::clone(&oidc);
    let mut following = JoinSet::new();
    following.spawn(async move { followed.follow(&|| ()).await });
    let first = issuer.token("ES256", &own());
    oidc.verify(&first).await.unwrap();
    issuer.rotate_keys(true);
    let second = issuer.token("ES256", &own());
    let accepted = async {
        while oidc.verify(&second).await.is_err() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    let accepted = timeout(Duration::from_mins(2), accepted).await;
    accepted.expect("the new keys");
    oidc.verify(&first).await.unwrap();
    issuer.stop();
    oidc.verify(&second).await.unwrap();
    let unknown = Signer::new("unknown").token(issuer.url(), &json!({}));
    assert!(oidc.verify(&unknown).await.is_err());
}

#[tokio::test]
async fn an_issuer_with_tls_is_trusted_with_its_ca_alone() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start_with_tls(&programs);
    let mut settings = settings(issuer.url());
    let stranger = Oidc::new(settings.clone()).unwrap();
    stranger.keys.fetch_first(&stranger.client).await;
    let reason = stranger.keys.failure().unwrap();
    assert!(reason.contains("certificate"), "{reason}");
    settings.ca = Some(issuer.ca());
    let oidc = with_keys(settings).await;
    let token = issuer.token("RS256", &own());
    oidc.verify(&token).await.unwrap();
}

#[test]
fn a_file_that_is_no_ca_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.crt");
    let error = |path: &std::path::Path| {
        let mut settings = settings("https://login.example");
        settings.ca = Some(path.to_owned());
        Oidc::new(settings).err().unwrap().to_string()
    };
    assert!(error(&path).contains("ca.crt: use a file with certificates as PEM"));
    std::fs::write(&path, "-----BEGIN PRIVATE KEY-----").unwrap();
    assert!(error(&path).contains("ca.crt"));
    std::fs::write(&path, "").unwrap();
    assert!(error(&path).contains("it has no certificate"));
}
