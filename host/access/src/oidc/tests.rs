//! Tokens, genuine and forged, against issuers, real and misbehaving.

mod attacks;
mod fake_issuer;
mod fetching;
mod proxies;
mod real_issuer;

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::Timestamp;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

use self::fake_issuer::FakeIssuer;
use super::*;

/// The audience of kindsight in these tests.
const AUDIENCE: &str = "kindsight";

/// A private key, whose public key an issuer may publish.
struct Signer {
    id: &'static str,
    key: Ed25519KeyPair,
}

impl Signer {
    fn new(id: &'static str) -> Self {
        let random = ring::rand::SystemRandom::new();
        let key = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let key = Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap();
        Self { id, key }
    }

    fn public_key(&self) -> Value {
        let x = base64(self.key.public_key());
        json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.id, "alg": "EdDSA"})
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = unsigned(header, claims);
        format!("{message}.{}", base64(self.key.sign(message.as_bytes())))
    }

    /// A valid token of an issuer for `alice`, except for these claims; null removes a claim.
    fn token(&self, issuer: &str, claims: &Value) -> String {
        let header = json!({"alg": "EdDSA", "typ": "JWT", "kid": self.id});
        self.sign(&header, &claims_of(issuer, claims))
    }
}

fn claims_of(issuer: &str, changes: &Value) -> Value {
    let now = Timestamp::now().as_second();
    let mut claims = json!({
        "iss": issuer, "aud": AUDIENCE, "sub": "alice", "iat": now, "exp": now + 300,
    });
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    claims
}

fn unsigned(header: &Value, claims: &Value) -> String {
    format!(
        "{}.{}",
        base64(header.to_string()),
        base64(claims.to_string())
    )
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn settings(issuer: &str) -> OidcSettings {
    OidcSettings {
        issuer: issuer.parse().unwrap(),
        audience: AUDIENCE.to_owned(),
        username_claim: OidcSettings::USERNAME_CLAIM.to_owned(),
        groups_claim: OidcSettings::GROUPS_CLAIM.to_owned(),
        ca: None,
        proxies: Proxies::default(),
        algorithms: SignatureAlgorithm::DEFAULT.to_vec(),
    }
}

/// A verifier that has the keys which its issuer publishes now.
async fn with_keys(settings: OidcSettings) -> Oidc {
    let oidc = Oidc::new(settings).unwrap();
    oidc.keys.fetch_first(&oidc.client).await;
    assert_eq!(oidc.keys.failure(), None);
    oidc
}

/// An issuer with one key, and a verifier of its tokens.
struct Stage {
    issuer: FakeIssuer,
    signer: Signer,
    oidc: Arc<Oidc>,
}

impl Stage {
    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// A stage with other settings.
    async fn with(change: impl FnOnce(&mut OidcSettings)) -> Self {
        let signer = Signer::new("first");
        let issuer = FakeIssuer::start(&[signer.public_key()]).await;
        let mut settings = settings(&issuer.url);
        change(&mut settings);
        let oidc = Arc::new(with_keys(settings).await);
        Self {
            issuer,
            signer,
            oidc,
        }
    }

    /// Verifies a valid token of the issuer with these differences.
    async fn verify(&self, claims: &Value) -> Result<Verified, TokenError> {
        let token = self.signer.token(&self.issuer.url, claims);
        self.oidc.verify(&token).await
    }

    /// The reason why such a token is refused.
    async fn refusal(&self, claims: &Value) -> String {
        reason_of(self.verify(claims).await)
    }
}

fn reason_of(result: Result<Verified, TokenError>) -> String {
    match result {
        Err(TokenError::Refused(reason)) => reason,
        other => panic!("not refused: {other:?}"),
    }
}

fn groups(verified: Result<Verified, TokenError>) -> Vec<String> {
    verified.unwrap().user.groups().to_vec()
}

#[tokio::test]
async fn a_token_names_its_user_its_groups_and_its_end() {
    let stage = Stage::new().await;
    let exp = Timestamp::now().as_second() + 100;
    let claims = json!({"groups": ["team-a", "ops"], "exp": exp});
    let verified = stage.verify(&claims).await.unwrap();
    assert_eq!(verified.user.name(), "oidc:alice");
    assert_eq!(verified.user.groups(), ["oidc:team-a", "oidc:ops"]);
    assert_eq!(verified.expires_ms, Some(exp * 1000));
}

#[tokio::test]
async fn groups_are_a_list_or_one_text() {
    let stage = Stage::new().await;
    let one = json!({"groups": "ops"});
    assert_eq!(groups(stage.verify(&one).await), ["oidc:ops"]);
    let none: [&str; 0] = [];
    assert_eq!(groups(stage.verify(&json!({})).await), none);
    for invalid in [json!({"groups": 1}), json!({"groups": ["ops", 1]})] {
        let refusal = stage.refusal(&invalid).await;
        assert_eq!(refusal, "its `groups` is not a list of texts");
    }
    let stage = Stage::with(|settings| settings.groups_claim = "roles".to_owned()).await;
    let claims = json!({"groups": ["a"], "roles": ["b"]});
    assert_eq!(groups(stage.verify(&claims).await), ["oidc:b"]);
}

#[tokio::test]
async fn an_email_address_names_a_user_only_if_it_is_verified() {
    let stage = Stage::with(|settings| settings.username_claim = "email".to_owned()).await;
    let verified = json!({"email": "alice@example.com", "email_verified": true});
    let verified = stage.verify(&verified).await.unwrap();
    assert_eq!(verified.user.name(), "oidc:alice@example.com");
    for email_verified in [json!(false), json!("true"), Value::Null] {
        let claims = json!({"email": "alice@example.com", "email_verified": email_verified});
        assert_eq!(stage.refusal(&claims).await, "its `email` is not verified");
    }
    let refusal = stage.refusal(&json!({"email_verified": true})).await;
    assert_eq!(refusal, "it has no text `email`");
}

#[tokio::test]
async fn names_that_are_no_users_are_refused() {
    let stage = Stage::new().await;
    for sub in [json!(""), json!("a\nb"), json!("a".repeat(1000))] {
        let refusal = stage.refusal(&json!({"sub": sub})).await;
        assert!(
            refusal.starts_with("a name of a user or group"),
            "{refusal}"
        );
    }
    for sub in [Value::Null, json!(1)] {
        assert_eq!(
            stage.refusal(&json!({"sub": sub})).await,
            "it has no text `sub`"
        );
    }
}

#[tokio::test]
async fn a_token_counts_only_between_its_times() {
    let stage = Stage::new().await;
    let now = Timestamp::now().as_second();
    let refused = [
        (json!({"exp": now - 1}), "it has expired"),
        (json!({"exp": now - 1000}), "it has expired"),
        (json!({"exp": -1}), "it has no valid claim `exp`"),
        (json!({"exp": null}), "it has no valid claim `exp`"),
        (json!({"exp": "tomorrow"}), "it has no valid claim `exp`"),
        (json!({"exp": 1e300}), "it has no valid claim `exp`"),
        (json!({"nbf": now + 300}), "it is not valid yet"),
        (json!({"iat": now + 300}), "it was issued in the future"),
        (json!({"iat": "now"}), "its `iat` is not a time"),
    ];
    for (claims, expected) in refused {
        assert_eq!(stage.refusal(&claims).await, expected, "{claims}");
    }
    // The clocks of issuers are not exact.
    let accepted = [
        json!({"nbf": now + 20, "iat": now + 20}),
        json!({"iat": null}),
        json!({"exp": 4_000_000_000.5}),
    ];
    for claims in accepted {
        stage.verify(&claims).await.unwrap();
    }
}

#[tokio::test]
async fn a_token_counts_only_for_its_audience() {
    let stage = Stage::new().await;
    for audience in [json!("another"), json!(["another"]), json!([])] {
        let refusal = stage.refusal(&json!({"aud": audience})).await;
        assert_eq!(refusal, "it is for another audience");
    }
    for audience in [Value::Null, json!(1), json!([AUDIENCE, 1])] {
        let refusal = stage.refusal(&json!({"aud": audience})).await;
        assert_eq!(refusal, "it has no valid claim `aud`");
    }
    stage.verify(&json!({"aud": [AUDIENCE]})).await.unwrap();
}

#[tokio::test]
async fn a_token_for_several_audiences_names_kindsight_as_its_authorized_party() {
    let stage = Stage::new().await;
    let several = json!([AUDIENCE, "another"]);
    let own = json!({"aud": several, "azp": AUDIENCE});
    stage.verify(&own).await.unwrap();
    for party in [Value::Null, json!("another")] {
        let refusal = stage.refusal(&json!({"aud": several, "azp": party})).await;
        assert!(refusal.contains("several audiences"), "{refusal}");
    }
}

#[tokio::test]
async fn a_token_of_another_issuer_is_left_to_other_methods() {
    let stage = Stage::new().await;
    let others = [
        json!({"iss": "https://kubernetes.default.svc"}),
        json!({"iss": format!("{}/", stage.issuer.url)}),
        json!({"iss": [stage.issuer.url]}),
        json!({"iss": null}),
    ];
    for claims in others {
        let answer = stage.verify(&claims).await;
        assert_eq!(answer, Err(TokenError::NotMine), "{claims}");
    }
    for token in ["", "a", "a.b.c", "kindsight.ci.c2VjcmV0", "...."] {
        let answer = stage.oidc.verify(token).await;
        assert_eq!(answer, Err(TokenError::NotMine), "{token}");
    }
}
