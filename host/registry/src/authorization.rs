//! Authorization of requests: credentials of docker, and tokens of a token server.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::challenge::Challenge;
use crate::credentials::{Credentials, DockerConfig, Secret};
use crate::error::Error;
use crate::limits::TOKEN_BYTES_MAX;
use crate::transport::{Answer, Request, Transport};

/// Name of this client for token servers, which require one.
const CLIENT_ID: &str = "kindsight";

/// The authorization at one registry: the header of the last request that was accepted.
#[derive(Debug)]
pub(crate) struct Authorization {
    docker: DockerConfig,
    header: Mutex<Option<HeaderValue>>,
}

/// The answer of a token server.
#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<Secret>,
    access_token: Option<Secret>,
}

impl Authorization {
    /// Authorization with the credentials of this file.
    pub(crate) fn new(docker: DockerConfig) -> Self {
        Self {
            docker,
            header: Mutex::default(),
        }
    }

    /// Sends a request. If the registry requires authorization, obtains it and sends the request
    /// once more.
    pub(crate) fn send(
        &self,
        transport: &Transport,
        request: &mut Request<'_>,
    ) -> Result<Answer, Error> {
        let is_own = is_of_host(&request.url, transport.host());
        if is_own && let Some(header) = self.known() {
            request.headers.push((AUTHORIZATION, header));
        }
        let answer = transport.send(request)?;
        if answer.status != StatusCode::UNAUTHORIZED || !is_own {
            return Ok(answer);
        }
        let credentials = self.docker.credentials(transport.host())?;
        let header = self.obtain(transport, &answer, credentials.as_ref())?;
        request.headers.retain(|(name, _)| name != AUTHORIZATION);
        request.headers.push((AUTHORIZATION, header.clone()));
        let again = transport.send(request)?;
        if again.status == StatusCode::UNAUTHORIZED {
            return Err(self.refused(transport, credentials.as_ref(), &again));
        }
        *self.header.lock().unwrap_or_else(PoisonError::into_inner) = Some(header);
        Ok(again)
    }

    fn known(&self) -> Option<HeaderValue> {
        let header = self.header.lock().unwrap_or_else(PoisonError::into_inner);
        header.clone()
    }

    /// The error for credentials that the registry or its token server refused.
    pub(crate) fn refused(
        &self,
        transport: &Transport,
        credentials: Option<&Credentials>,
        answer: &Answer,
    ) -> Error {
        let host = transport.host().to_owned();
        match credentials {
            None => Error::NoCredentials {
                host,
                config: self.docker.to_string(),
            },
            Some(credentials) => Error::Unauthorized {
                host,
                user: credentials.user().to_owned(),
                why: answer.reason(),
            },
        }
    }

    /// The header that answers the challenge of a registry.
    fn obtain(
        &self,
        transport: &Transport,
        answer: &Answer,
        credentials: Option<&Credentials>,
    ) -> Result<HeaderValue, Error> {
        let values = answer.headers.get_all(WWW_AUTHENTICATE).iter();
        let challenges: Vec<Challenge> = values
            .filter_map(|value| Challenge::parse(value.to_str().ok()?))
            .collect();
        let is_bearer = |challenge: &&Challenge| matches!(challenge, Challenge::Bearer { .. });
        let bearer = challenges.iter().find(is_bearer);
        match (bearer.or(challenges.first()), credentials) {
            (_, Some(Credentials::Bearer { token })) => header(
                transport,
                &Zeroizing::new(format!("Bearer {}", token.as_str())),
            ),
            (Some(Challenge::Basic), Some(Credentials::Basic { user, password })) => {
                header(transport, &basic(user, password))
            }
            (
                Some(Challenge::Bearer {
                    realm,
                    service,
                    scope,
                }),
                _,
            ) => {
                let asked = Asked {
                    realm,
                    service: service.as_deref(),
                    scope: scope.as_deref(),
                };
                self.token(transport, &asked, credentials)
            }
            (Some(Challenge::Basic), _) => Err(self.refused(transport, credentials, answer)),
            (None, _) => Err(Error::Protocol {
                host: transport.host().to_owned(),
                why: "it answers 401 without a challenge `Basic` or `Bearer`".to_owned(),
            }),
        }
    }

    /// Requests a token for a scope (the token authentication of the distribution project).
    fn token(
        &self,
        transport: &Transport,
        asked: &Asked<'_>,
        credentials: Option<&Credentials>,
    ) -> Result<HeaderValue, Error> {
        let is_open = !asked.realm.starts_with("https://");
        if is_open && transport.scheme()? == "https" {
            return Err(Error::OpenTokenServer {
                host: transport.host().to_owned(),
                realm: kindsight_model::clean(asked.realm, 200).into_owned(),
            });
        }
        let form;
        let mut request = match credentials {
            Some(Credentials::Identity { token }) => {
                form = asked.refresh_form(token);
                let mut request = Request::new(Method::POST, asked.realm.to_owned());
                let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
                request.headers.push((CONTENT_TYPE, kind));
                request.body = Some(form.as_bytes());
                request
            }
            Some(Credentials::Basic { user, password }) => {
                let mut request = Request::new(Method::GET, asked.url());
                let basic = header(transport, &basic(user, password))?;
                request.headers.push((AUTHORIZATION, basic));
                request
            }
            _ => Request::new(Method::GET, asked.url()),
        };
        request.bytes_max = (TOKEN_BYTES_MAX, "a token");
        let answer = transport.send(&request)?;
        if answer.status.is_server_error() {
            return Err(Error::Failing {
                host: transport.host().to_owned(),
                status: answer.status.as_u16(),
                why: format!("its token server: {}", answer.reason()),
            });
        }
        if !answer.status.is_success() {
            return Err(self.refused(transport, credentials, &answer));
        }
        let answer: Option<TokenAnswer> = serde_json::from_slice(&answer.body).ok();
        let token = answer.and_then(|answer| answer.token.or(answer.access_token));
        let token = token.ok_or_else(|| Error::Protocol {
            host: transport.host().to_owned(),
            why: "its token server answers without a token".to_owned(),
        })?;
        header(
            transport,
            &Zeroizing::new(format!("Bearer {}", token.0.as_str())),
        )
    }
}

/// A request for a token, as a registry describes it.
struct Asked<'a> {
    realm: &'a str,
    service: Option<&'a str>,
    scope: Option<&'a str>,
}

impl Asked<'_> {
    /// The URL of a request with name and password, or without credentials.
    fn url(&self) -> String {
        let mut url = self.realm.to_owned();
        let named = [("service", self.service), ("scope", self.scope)];
        for (name, value) in named {
            let Some(value) = value else { continue };
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(name);
            url.push('=');
            url.push_str(&encoded(value));
        }
        url
    }

    /// The form with which an identity token is exchanged (OAuth 2, section 6).
    fn refresh_form(&self, token: &str) -> Zeroizing<String> {
        let mut form = Zeroizing::new(format!(
            "grant_type=refresh_token&client_id={CLIENT_ID}&refresh_token={}",
            encoded(token)
        ));
        let named = [("service", self.service), ("scope", self.scope)];
        for (name, value) in named {
            if let Some(value) = value {
                for part in ["&", name, "=", &encoded(value)] {
                    form.push_str(part);
                }
            }
        }
        form
    }
}

fn basic(user: &str, password: &str) -> Zeroizing<String> {
    let pair = Zeroizing::new(format!("{user}:{password}"));
    Zeroizing::new(format!("Basic {}", BASE64_STANDARD.encode(pair.as_bytes())))
}

fn header(transport: &Transport, text: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(text).map_err(|_| Error::Protocol {
        host: transport.host().to_owned(),
        why: "its token has characters that no header can have".to_owned(),
    })?;
    // Hides it from debug output.
    value.set_sensitive(true);
    Ok(value)
}

/// Returns whether a URL leads to this host.
fn is_of_host(url: &str, host: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest.get(..end) == Some(host)
}

/// Percent-encodes a value of a query or a form.
pub(crate) fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a String does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_token_names_service_and_scope() {
        let asked = Asked {
            realm: "https://auth.io/token?a=b",
            service: Some("registry.io"),
            scope: Some("repository:team/rules:pull"),
        };
        assert_eq!(
            asked.url(),
            "https://auth.io/token?a=b&service=registry.io&scope=repository%3Ateam%2Frules%3Apull"
        );
        assert_eq!(
            asked.refresh_form("t+k").as_str(),
            "grant_type=refresh_token&client_id=kindsight&refresh_token=t%2Bk&service=registry.io&scope=repository%3Ateam%2Frules%3Apull"
        );
    }

    #[test]
    fn credentials_are_sent_to_the_host_alone() {
        assert!(is_of_host("https://a.io/v2/", "a.io"));
        for url in [
            "https://a.io.evil/v2/",
            "https://evil/a.io",
            "https://a.io:444/",
            "a.io",
        ] {
            assert!(!is_of_host(url, "a.io"), "{url}");
        }
    }
}
