//! The sender of a request, for handlers.

mod credential;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use kindsight_access::{AccessControl, Caller, Credential, Lease, Role};
use kindsight_api::session::PresentedCredential;
use kindsight_model::SubjectSet;
use kindsight_read_model::VisibleModel;

use crate::answer::internal;
use crate::app::App;
use crate::middleware::is_of_own_page;
use crate::problem::Problem;
use crate::serve::PeerAddress;

pub(crate) use credential::{COOKIE, TOKEN_HEADER, cookie};

/// The authenticated sender of a request, in the extensions of the request.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    pub(crate) caller: Caller,
    credential: Credential,
    /// The part of the request with the credential; `None` without one.
    presented: Option<PresentedCredential>,
    from: IpAddr,
}

/// The credential that a request presents, and the address of its client.
pub(crate) struct Presented {
    credential: Result<(Credential, Option<PresentedCredential>), Problem>,
    from: IpAddr,
}

impl Presented {
    pub(crate) fn by(request: &Request) -> Self {
        let peer = request.extensions().get::<PeerAddress>();
        Self {
            credential: credential::credential(request).and_then(|found| checked(found, request)),
            from: peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.0),
        }
    }

    /// The address of the client.
    pub(crate) fn from(&self) -> IpAddr {
        self.from
    }
}

impl Sender {
    /// Finds out who sent a request.
    ///
    /// # Errors
    /// The reason why the request is not accepted.
    pub(crate) async fn authenticate(
        control: &AccessControl,
        presented: Presented,
    ) -> Result<Self, Problem> {
        let Presented { credential, from } = presented;
        let (credential, presented) = credential?;
        let caller = control.authenticate(&credential, from).await?;
        Ok(Self {
            caller,
            credential,
            presented,
            from,
        })
    }

    /// A sender without a valid credential.
    pub(crate) fn without_credential(caller: Caller, from: IpAddr) -> Self {
        Self {
            caller,
            credential: Credential::Missing,
            presented: None,
            from,
        }
    }

    /// The address of the client, whose failed attempts are limited.
    pub(crate) fn from(&self) -> IpAddr {
        self.from
    }

    /// The part of the request with the credential; `None` without a valid one.
    pub(crate) fn presented(&self) -> Option<PresentedCredential> {
        self.presented
    }

    /// The lease of a stream.
    pub(crate) fn lease(self, control: &Arc<AccessControl>) -> Lease {
        Lease::new(control, self.credential, self.caller)
    }

    /// The subjects that the sender may see.
    pub(crate) fn visible(&self) -> &SubjectSet {
        self.caller.rights().subjects(Role::Viewer)
    }

    /// The name of the user, for logs; `-` without access control.
    pub(crate) fn user_name(&self) -> &str {
        self.caller.user().map_or("-", |user| user.name())
    }
}

/// Fails if the authorization layer is missing.
impl FromRequestParts<App> for Sender {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        parts.extensions.get().cloned().ok_or_else(internal)
    }
}

/// Extractor of the read model as far as the sender may see it. Handlers of queries use no other access to data.
pub(crate) struct Visible(pub(crate) VisibleModel);

impl FromRequestParts<App> for Visible {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let sender = Sender::from_request_parts(parts, app).await?;
        Ok(Self(app.read_model.visible_to(sender.visible())))
    }
}

/// Refuses a cookie with a command that no page of this server sent: another page may have caused it.
fn checked<T>(
    (credential, presented): (T, Option<PresentedCredential>),
    request: &Request,
) -> Result<(T, Option<PresentedCredential>), Problem> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_cookie = presented == Some(PresentedCredential::Cookie);
    if is_cookie && !is_read && !is_of_own_page(request.headers()) {
        let detail = "a command with the cookie of a browser must come from a page of this server; programs send the token in the header `Authorization`";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    Ok((credential, presented))
}
