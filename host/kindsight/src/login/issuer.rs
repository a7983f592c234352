//! Requests to an OIDC issuer: discovery, the device authorization grant (RFC 8628), refresh tokens and their
//! revocation (RFC 7009).

use std::fmt;
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use ureq::http::{Response, Uri};

use crate::client::{TlsFiles, Token, advice, agent, is_loopback};
use crate::client_config::OidcClient;

/// Timeout of a request to an issuer.
const ISSUER_WAIT_MAX: Duration = Duration::from_secs(30);

/// Most bytes of an answer of an issuer.
const ISSUER_ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// The scope that makes an issuer send an ID token.
const OPENID: &str = "openid";

/// Scopes that are requested if the issuer supports them: names, groups, and a refresh token.
const OPTIONAL_SCOPES: [&str; 3] = ["profile", "groups", "offline_access"];

/// An issuer, as it describes itself.
pub(super) struct Issuer<'a> {
    client: &'a OidcClient,
    agent: ureq::Agent,
    metadata: Metadata,
}

/// Members of the discovery document.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    token_endpoint: String,
    device_authorization_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    scopes_supported: Option<Vec<String>>,
}

/// A code that the user approves in a browser.
#[derive(Deserialize)]
pub(crate) struct DeviceCode {
    #[expect(clippy::struct_field_names, reason = "the name of RFC 8628")]
    pub(super) device_code: Token,
    pub(crate) user_code: String,
    pub(crate) verification_uri: String,
    /// The same address with the code in it.
    pub(crate) verification_uri_complete: Option<String>,
    /// Lifetime in seconds.
    pub(super) expires_in: u64,
    /// Seconds between two requests.
    pub(super) interval: Option<u64>,
}

/// An answer of the token endpoint.
#[derive(Deserialize)]
pub(super) struct TokenAnswer {
    pub(super) id_token: Option<Token>,
    pub(super) refresh_token: Option<Token>,
}

/// A refusal by an issuer (RFC 6749, 5.2).
#[derive(Debug, Deserialize)]
pub(super) struct OAuthError {
    pub(super) error: String,
    error_description: Option<String>,
}

impl std::error::Error for OAuthError {}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the issuer answers {}", self.error)?;
        match &self.error_description {
            Some(description) => write!(f, ": {description}"),
            None => Ok(()),
        }
    }
}

impl<'a> Issuer<'a> {
    /// Reads the discovery document of the issuer.
    ///
    /// # Errors
    /// The issuer cannot be reached, names itself otherwise, or an address is neither `https` nor on this machine.
    pub(super) fn discover(client: &'a OidcClient) -> anyhow::Result<Self> {
        let issuer = checked(&client.issuer)?;
        let tls = TlsFiles {
            ca: client.ca.clone(),
            ..TlsFiles::default()
        };
        let agent = agent(issuer.host().unwrap_or_default(), &tls)?;
        let agent = agent.timeout_global(Some(ISSUER_WAIT_MAX)).build();
        let agent = ureq::Agent::from(agent);
        let issuer = client.issuer.trim_end_matches('/');
        let url = format!("{issuer}/.well-known/openid-configuration");
        let metadata: Metadata = parse(&url, &read(&url, agent.get(&url).call())?)?;
        anyhow::ensure!(
            metadata.issuer == client.issuer,
            "the issuer at {issuer} is `{}` by its own description; `issuer` must be equal to it",
            metadata.issuer
        );
        checked(&metadata.token_endpoint)?;
        Ok(Self {
            client,
            agent,
            metadata,
        })
    }

    /// Requests a code for the user.
    ///
    /// # Errors
    /// The issuer has no device authorization grant, refuses, or cannot be reached.
    pub(super) fn device_code(&self) -> anyhow::Result<DeviceCode> {
        let url = self.metadata.device_authorization_endpoint.as_deref();
        let url = url.with_context(|| {
            let issuer = &self.client.issuer;
            format!("the issuer {issuer} has no device authorization grant (RFC 8628); enable the grant there")
        })?;
        checked(url)?;
        let code: DeviceCode = self.post(url, &[("scope", &self.scopes())])?;
        for url in code
            .verification_uri_complete
            .iter()
            .chain([&code.verification_uri])
        {
            checked(url)?;
        }
        Ok(code)
    }

    /// Requests the tokens of a code that the user may have approved.
    ///
    /// # Errors
    /// The code is not approved, as an [`OAuthError`], or the issuer cannot be reached.
    pub(super) fn exchange(&self, code: &DeviceCode) -> anyhow::Result<TokenAnswer> {
        let form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("device_code", code.device_code.reveal()),
        ];
        self.post(&self.metadata.token_endpoint, &form)
    }

    /// Requests new tokens.
    ///
    /// # Errors
    /// The refresh token is not valid any more, as an [`OAuthError`], or the issuer cannot be reached.
    pub(super) fn refresh(&self, refresh_token: &Token) -> anyhow::Result<TokenAnswer> {
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token.reveal()),
        ];
        self.post(&self.metadata.token_endpoint, &form)
    }

    /// Revokes a refresh token: the issuer accepts it no longer.
    ///
    /// # Errors
    /// The issuer does not revoke tokens, refuses as an [`OAuthError`], or cannot be reached.
    pub(super) fn revoke(&self, refresh_token: &Token) -> anyhow::Result<()> {
        let url = self.metadata.revocation_endpoint.as_deref();
        let url = url.with_context(|| {
            let issuer = &self.client.issuer;
            format!("the issuer {issuer} has no `revocation_endpoint` (RFC 7009)")
        })?;
        checked(url)?;
        let form = [
            ("token", refresh_token.reveal()),
            ("token_type_hint", "refresh_token"),
        ];
        // The answer has no content.
        self.send(url, &form).map(|_| ())
    }

    /// The scopes of the configuration. By default `openid`, and those of [`OPTIONAL_SCOPES`] that the issuer
    /// supports: some issuers refuse other scopes.
    fn scopes(&self) -> String {
        if let Some(scopes) = &self.client.scopes {
            return scopes.join(" ");
        }
        let supported = self.metadata.scopes_supported.as_deref();
        let is_supported = |scope: &str| {
            supported.is_none_or(|supported| supported.iter().any(|known| known == scope))
        };
        let optional = OPTIONAL_SCOPES
            .into_iter()
            .filter(|scope| is_supported(scope));
        let scopes: Vec<&str> = [OPENID].into_iter().chain(optional).collect();
        scopes.join(" ")
    }

    fn post<T: DeserializeOwned>(&self, url: &str, form: &[(&str, &str)]) -> anyhow::Result<T> {
        parse(url, &self.send(url, form)?)
    }

    /// Sends a form, and returns the body of the answer.
    fn send(&self, url: &str, form: &[(&str, &str)]) -> anyhow::Result<String> {
        let client_id = ("client_id", self.client.client_id.as_str());
        let form = form.iter().copied().chain([client_id]);
        read(url, self.agent.post(url).send_form(form))
    }
}

/// Reads the body of the answer to a request. A refusal becomes an [`OAuthError`].
fn read(url: &str, answer: Result<Response<ureq::Body>, ureq::Error>) -> anyhow::Result<String> {
    let mut answer = answer.map_err(|error| {
        let advice = advice(&error).map_or(String::new(), |_| {
            "; `ca` of `oidc` names the PEM file with the authority of the issuer".to_owned()
        });
        anyhow::Error::new(error).context(format!("request {url}{advice}"))
    })?;
    let status = answer.status();
    let limited = answer
        .body_mut()
        .with_config()
        .limit(ISSUER_ANSWER_BYTES_MAX);
    let body = limited
        .read_to_string()
        .with_context(|| format!("read the answer of {url}"))?;
    if status.is_success() {
        return Ok(body);
    }
    if status.is_client_error()
        && let Ok(error) = serde_json::from_str::<OAuthError>(&body)
    {
        return Err(error.into());
    }
    let code = status.as_u16();
    let answers = format!("{url} answers {code}");
    if status.is_server_error() {
        // The issuer is busy or restarts, so the request counts like a failed connection.
        return Err(anyhow::Error::new(ureq::Error::StatusCode(code)).context(answers));
    }
    anyhow::bail!(answers)
}

fn parse<T: DeserializeOwned>(url: &str, body: &str) -> anyhow::Result<T> {
    // An error of the parser could quote a token.
    let answer = serde_json::from_str(body).ok();
    answer.with_context(|| format!("{url} sent an answer without the expected members"))
}

/// Checks an address of an issuer: tokens and codes are sent only over TLS, or within this machine.
fn checked(url: &str) -> anyhow::Result<Uri> {
    let is_safe = |uri: &Uri| match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(_)) => true,
        (Some("http"), Some(host)) => is_loopback(host),
        _ => false,
    };
    let uri = url.parse().ok().filter(is_safe);
    uri.with_context(|| {
        format!(
            "`{url}` is no address of an issuer; expected `https://`, or `http://` on this machine"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::is_temporary;

    #[test]
    fn an_issuer_has_tls_unless_it_is_on_this_machine() {
        for (url, is_safe) in [
            ("https://login.example", true),
            ("http://127.0.0.1:80/x", true),
            ("http://login.example", false),
            ("javascript:alert(1)", false),
            ("login.example", false),
        ] {
            assert_eq!(checked(url).is_ok(), is_safe, "{url}");
        }
    }

    #[test]
    fn an_issuer_that_restarts_is_asked_again() {
        let failed = |status: u16| {
            let body = ureq::Body::builder().data("busy");
            let answer = Response::builder().status(status).body(body).unwrap();
            read("https://login.example", Ok(answer)).unwrap_err()
        };
        let restarts = failed(503);
        assert!(is_temporary(&restarts), "{restarts:#}");
        assert_eq!(restarts.to_string(), "https://login.example answers 503");
        assert!(!is_temporary(&failed(404)));
    }

    #[test]
    fn scopes_that_an_issuer_does_not_support_are_not_requested() {
        let scopes = |own: Option<&[&str]>, supported: Option<&[&str]>| {
            let list = |list: &[&str]| list.iter().map(|&it| it.to_owned()).collect();
            let client = OidcClient {
                issuer: String::new(),
                client_id: String::new(),
                scopes: own.map(list),
                ca: None,
            };
            let metadata = Metadata {
                issuer: String::new(),
                token_endpoint: String::new(),
                device_authorization_endpoint: None,
                revocation_endpoint: None,
                scopes_supported: supported.map(list),
            };
            let agent = ureq::Agent::config_builder().build().into();
            let issuer = Issuer {
                client: &client,
                agent,
                metadata,
            };
            issuer.scopes()
        };
        assert_eq!(scopes(None, None), "openid profile groups offline_access");
        let supported = ["openid", "profile", "offline_access"];
        assert_eq!(
            scopes(None, Some(&supported)),
            "openid profile offline_access"
        );
        assert_eq!(scopes(Some(&["openid", "x"]), Some(&supported)), "openid x");
    }
}
