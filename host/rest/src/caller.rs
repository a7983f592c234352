//! The sender of a request, for handlers.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::http::header;
use axum::http::request::Parts;
use kindsight_access::{AccessControl, Caller, ClientCertificate, Credential, Lease, Role};
use kindsight_model::SubjectSet;
use kindsight_read_model::VisibleModel;

use crate::AppState;
use crate::answer::internal;
use crate::problem::Problem;
use crate::serve::PeerAddress;

/// The scheme of the `Authorization` header, in lower case.
const BEARER: &[u8] = b"bearer ";

/// The authenticated sender of a request, in the extensions of the request.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    pub(crate) caller: Caller,
    credential: Credential,
    from: IpAddr,
}

/// The credential that a request presents, and the address of its client.
pub(crate) struct Presented {
    credential: Result<Credential, Problem>,
    from: IpAddr,
}

impl Presented {
    pub(crate) fn by(request: &Request) -> Self {
        let peer = request.extensions().get::<PeerAddress>();
        Self {
            credential: credential(request),
            from: peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.0),
        }
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
        let credential = credential?;
        let caller = control.authenticate(&credential, from).await?;
        Ok(Self {
            caller,
            credential,
            from,
        })
    }

    /// A sender without a credential.
    pub(crate) fn without_credential(caller: Caller) -> Self {
        Self {
            caller,
            credential: Credential::Missing,
            from: Ipv4Addr::UNSPECIFIED.into(),
        }
    }

    /// The lease of a stream.
    pub(crate) fn lease(self, control: &Arc<AccessControl>) -> Lease {
        Lease::new(control, self.credential, self.from, self.caller)
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
impl FromRequestParts<AppState> for Sender {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Problem> {
        parts.extensions.get().cloned().ok_or_else(internal)
    }
}

/// Extractor of the read model as far as the sender may see it. Handlers of queries use no other access to data.
pub(crate) struct Visible(pub(crate) VisibleModel);

impl FromRequestParts<AppState> for Visible {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Problem> {
        let sender = Sender::from_request_parts(parts, app).await?;
        Ok(Self(app.read_model.visible_to(sender.visible())))
    }
}

/// The credential of a request: the token in its header, else the certificate of its connection.
///
/// # Errors
/// A header with another scheme, or several headers, of which a proxy and this server may take different ones.
fn credential(request: &Request) -> Result<Credential, Problem> {
    let mut headers = request.headers().get_all(header::AUTHORIZATION).iter();
    let (header, another) = (headers.next(), headers.next());
    let Some(header) = header else {
        let certificate = request.extensions().get::<Arc<ClientCertificate>>();
        let certificate = certificate.map(|it| Credential::Certificate(Arc::clone(it)));
        return Ok(certificate.unwrap_or(Credential::Missing));
    };
    let (scheme, token) = header
        .as_bytes()
        .split_at_checked(BEARER.len())
        .unwrap_or_default();
    let token = std::str::from_utf8(token).unwrap_or_default().trim();
    if another.is_some() || !scheme.eq_ignore_ascii_case(BEARER) || token.is_empty() {
        let detail = "the header `Authorization` must be given once, as `Bearer TOKEN`";
        return Err(Problem::unauthorized(detail));
    }
    Ok(Credential::Bearer(token.to_owned().into()))
}
