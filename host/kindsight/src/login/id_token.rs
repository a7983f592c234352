//! The claims of an ID token.
//!
//! The client reads the claims without verification of the signature: the token arrived over TLS from the token
//! endpoint of the issuer (OIDC Core 1.0, 3.1.3.7). The server verifies the signature.

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::Deserialize;

use crate::client::Token;
use crate::client_config::OidcClient;

/// The claims that the client uses.
#[derive(Deserialize)]
pub(super) struct Claims {
    iss: String,
    pub(super) sub: String,
    aud: Audience,
    exp: i64,
    preferred_username: Option<String>,
    email: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Claims {
    /// Reads the claims.
    ///
    /// # Errors
    /// The token is no ID token, or belongs to another issuer or client.
    pub(super) fn read(token: &Token, client: &OidcClient) -> anyhow::Result<Self> {
        let claims = decoded(token.reveal())
            .context("the issuer sent an ID token that is no JSON Web Token with claims")?;
        let OidcClient {
            issuer, client_id, ..
        } = client;
        anyhow::ensure!(
            claims.iss == *issuer,
            "the ID token is of the issuer `{}`; expected `{issuer}`",
            claims.iss
        );
        let is_audience = match &claims.aud {
            Audience::One(audience) => audience == client_id,
            Audience::Several(audiences) => audiences.contains(client_id),
        };
        anyhow::ensure!(
            is_audience,
            "the ID token is for another audience than the client `{client_id}`"
        );
        Ok(claims)
    }

    pub(super) fn expires(&self) -> anyhow::Result<Timestamp> {
        Timestamp::from_second(self.exp).context("the ID token has an invalid expiry")
    }

    /// A name of the user, for people.
    pub(super) fn user(&self) -> &str {
        let name = self.preferred_username.as_ref().or(self.email.as_ref());
        name.unwrap_or(&self.sub)
    }
}

fn decoded(token: &str) -> Option<Claims> {
    let mut parts = token.split('.');
    let (Some(_), Some(claims), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    serde_json::from_slice(&claims).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(claims: &Value) -> anyhow::Result<Claims> {
        let claims = URL_SAFE_NO_PAD.encode(claims.to_string());
        let client = OidcClient {
            issuer: "https://login.example".to_owned(),
            client_id: "cli".to_owned(),
            scopes: None,
            ca: None,
        };
        Claims::read(&Token::parse(&format!("h.{claims}.s"))?, &client)
    }

    #[test]
    fn the_claims_must_be_of_the_issuer_and_for_the_client() {
        let claims = |iss: &str, aud: Value| json!({"iss": iss, "aud": aud, "sub": "a", "exp": 7});
        let read_of = |iss: &str, aud: Value| read(&claims(iss, aud)).map(|claims| claims.exp);
        let issuer = "https://login.example";
        assert_eq!(read_of(issuer, json!("cli")).unwrap(), 7);
        assert_eq!(read_of(issuer, json!(["x", "cli"])).unwrap(), 7);
        for (iss, aud, expected) in [
            (
                "https://other.example",
                json!("cli"),
                "the ID token is of the issuer `https://other.example`",
            ),
            (issuer, json!("x"), "another audience than the client `cli`"),
            (issuer, json!([]), "another audience"),
            (issuer, json!(7), "no JSON Web Token"),
        ] {
            let error = read_of(iss, aud).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn text_that_is_no_id_token_is_refused() {
        for text in ["opaque", "a.b", "a.!.c", "a.e30.c", "a.e30.c.d"] {
            assert!(decoded(text).is_none(), "{text}");
        }
    }
}
