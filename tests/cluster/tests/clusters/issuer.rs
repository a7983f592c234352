//! An OIDC issuer without a cluster.

use kindsight_cluster::{Client, Credentials, Issuer, IssuerPrograms};
use serde_json::{Value, json};

/// The ids of the published keys.
fn key_ids(issuer: &Issuer) -> Vec<String> {
    let keys = issuer.keys();
    let keys = keys["keys"].as_array().expect("keys").iter();
    keys.map(|key| key["kid"].as_str().expect("an id").to_owned())
        .collect()
}

fn parts(token: &str) -> usize {
    token.split('.').count()
}

#[test]
fn an_issuer_signs_tokens_and_rotates_its_keys() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start(&programs);
    for algorithm in ["RS256", "ES256"] {
        let token = issuer.token(algorithm, &json!({"sub": "bob", "aud": "kindsight"}));
        assert_eq!(parts(&token), 3, "{token}");
    }
    let first = key_ids(&issuer);
    issuer.rotate_keys(true);
    let second = key_ids(&issuer);
    assert!(first.iter().all(|id| second.contains(id)), "{second:?}");
    assert_eq!(second.len(), 2 * first.len());
    issuer.rotate_keys(false);
    let third = key_ids(&issuer);
    assert!(second.iter().all(|id| !third.contains(id)), "{third:?}");
}

#[test]
fn an_issuer_with_tls_is_trusted_with_its_authority_alone() {
    let Some(programs) = IssuerPrograms::or_skip() else {
        return;
    };
    let issuer = Issuer::start_with_tls(&programs);
    let stranger = Client::new(issuer.url(), None, &Credentials::Nobody);
    assert!(!stranger.can_connect());
    let authority = std::fs::read_to_string(issuer.ca()).expect("its authority");
    let client = Client::new(issuer.url(), Some(&authority), &Credentials::Nobody);
    let document = client.get("/.well-known/openid-configuration");
    let document = document.expect("a discovery document");
    assert_eq!(document["issuer"], Value::from(issuer.url()));
    assert!(document["device_authorization_endpoint"].is_string());
}
