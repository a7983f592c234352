//! Forged tokens.

use ring::{hmac, rand};

use super::*;

/// Tokens of the issuer that a sender without its key can make.
fn forged(stage: &Stage, header: &Value) -> String {
    let claims = claims_of(&stage.issuer.url, &json!({}));
    format!("{}.", unsigned(header, &claims))
}

#[tokio::test]
async fn a_token_without_a_signature_is_refused() {
    let stage = Stage::new().await;
    for algorithm in ["none", "None", "NONE", "", "HS256", "unknown"] {
        let token = forged(&stage, &json!({"alg": algorithm, "kid": "first"}));
        let refusal = reason_of(stage.oidc.verify(&token).await);
        let expected = "its algorithm is not one of RS256, ES256, EdDSA, PS256";
        assert_eq!(refusal, expected, "{algorithm}");
    }
    let token = forged(&stage, &json!({"alg": "EdDSA", "kid": "first"}));
    let refusal = reason_of(stage.oidc.verify(&token).await);
    assert_eq!(refusal, "its signature is wrong");
}

#[tokio::test]
async fn an_hmac_made_with_the_public_key_is_refused() {
    let stage = Stage::new().await;
    let public = stage.signer.key.public_key().as_ref().to_vec();
    let published = stage.signer.public_key().to_string().into_bytes();
    let encoded = base64(&public).into_bytes();
    for secret in [public, published, encoded] {
        for algorithm in ["HS256", "EdDSA"] {
            let header = json!({"alg": algorithm, "typ": "JWT", "kid": "first"});
            let message = unsigned(&header, &claims_of(&stage.issuer.url, &json!({})));
            let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
            let signature = hmac::sign(&key, message.as_bytes());
            let token = format!("{message}.{}", base64(signature));
            reason_of(stage.oidc.verify(&token).await);
        }
    }
}

#[tokio::test]
async fn a_token_cannot_bring_its_own_key() {
    let stage = Stage::new().await;
    let stranger = Signer::new("first");
    let claims = claims_of(&stage.issuer.url, &json!({}));
    let headers = [
        json!({"alg": "EdDSA", "kid": "first"}),
        json!({"alg": "EdDSA"}),
        json!({"alg": "EdDSA", "jwk": stranger.public_key()}),
        json!({"alg": "EdDSA", "kid": "first", "jku": "https://attacker.example/keys"}),
    ];
    for header in headers {
        let token = stranger.sign(&header, &claims);
        let refusal = reason_of(stage.oidc.verify(&token).await);
        assert_eq!(refusal, "its signature is wrong", "{header}");
    }
}

#[tokio::test]
async fn a_changed_token_is_refused() {
    let stage = Stage::new().await;
    let url = &stage.issuer.url;
    let token = stage.signer.token(url, &json!({}));
    stage.oidc.verify(&token).await.unwrap();
    let (_, signature) = token.rsplit_once('.').unwrap();
    let header = json!({"alg": "EdDSA", "typ": "JWT", "kid": "first"});
    let claims = claims_of(url, &json!({"sub": "root"}));
    let changed = format!("{}.{signature}", unsigned(&header, &claims));
    assert_eq!(
        reason_of(stage.oidc.verify(&changed).await),
        "its signature is wrong"
    );
    let longer = format!("{token}.{signature}");
    assert!(stage.oidc.verify(&longer).await.is_err());
}

#[tokio::test]
async fn other_tokens_of_the_issuer_are_refused() {
    let stage = Stage::new().await;
    let claims = claims_of(&stage.issuer.url, &json!({}));
    let sign = |changes: &Value| {
        let mut header = json!({"alg": "EdDSA", "kid": "first"});
        header
            .as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        stage.signer.sign(&header, &claims)
    };
    for typ in ["logout+jwt", "secevent+jwt", "dpop+jwt", ""] {
        let refusal = reason_of(stage.oidc.verify(&sign(&json!({"typ": typ}))).await);
        assert_eq!(refusal, "its type is neither JWT nor at+jwt", "{typ}");
    }
    let critical = sign(&json!({"crit": ["b64"], "b64": false}));
    let refusal = reason_of(stage.oidc.verify(&critical).await);
    assert_eq!(refusal, "its header has critical extensions");
    for header in [json!({}), json!({"typ": "jwt"}), json!({"typ": "at+jwt"})] {
        stage.oidc.verify(&sign(&header)).await.unwrap();
    }
}

#[tokio::test]
async fn an_algorithm_that_the_operator_does_not_allow_is_refused() {
    let only = vec!["ES256".parse().unwrap()];
    let stage = Stage::with(|settings| settings.algorithms = only).await;
    let refusal = stage.refusal(&json!({})).await;
    assert_eq!(refusal, "its algorithm is not one of ES256");
}

#[tokio::test]
async fn garbage_never_panics_and_is_never_accepted() {
    let stage = Stage::new().await;
    let token = stage.signer.token(&stage.issuer.url, &json!({}));
    let random = rand::SystemRandom::new();
    // No token waits for an unknown key, because the last fetch was a moment ago.
    tokio::time::pause();
    for _ in 0..2000 {
        let bytes: [u8; 4] = rand::generate(&random).unwrap().expose();
        let [a, b, new, _] = bytes;
        let at = usize::from(u16::from_be_bytes([a, b])) % token.len();
        let mut damaged = token.clone().into_bytes();
        damaged[at] = new & 0x7f;
        let damaged = String::from_utf8(damaged).unwrap();
        let accepted = stage.oidc.verify(&damaged).await.is_ok();
        assert_eq!(accepted, damaged == token, "{damaged}");
    }
}
