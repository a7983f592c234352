//! The client of a call, and its rights.

use std::net::IpAddr;
use std::sync::Arc;

use kindsight_access::{AccessControl, Caller, ClientCertificate, Credential, Lease, Refusal};
use tonic::{Request, Status};

/// The client of a connection. Each request of the connection has it.
#[derive(Debug, Clone)]
pub struct Client {
    /// The verified certificate; `None` without TLS.
    pub(crate) certificate: Option<Arc<ClientCertificate>>,
    /// The address that the client connects from.
    pub(crate) address: IpAddr,
}

impl Client {
    /// The client of a request that a [`Listener`](crate::Listener) received.
    ///
    /// # Errors
    /// `INTERNAL` if the request came otherwise.
    pub fn of<T>(request: &Request<T>) -> Result<Self, Status> {
        let client = request.extensions().get::<Self>().cloned();
        client.ok_or_else(|| Status::internal("the connection is not known"))
    }

    /// Finds out who calls. Without access control, every client may do everything. So may a client without a
    /// certificate: it connected to a loopback address.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` for a certificate that is not accepted; `UNAVAILABLE` if it cannot be checked now.
    pub async fn authenticate(
        &self,
        access: Option<&Arc<AccessControl>>,
    ) -> Result<Caller, Status> {
        let Some((access, credential)) = self.credential(access) else {
            return Ok(Caller::anyone());
        };
        let caller = access.authenticate(&credential, self.address).await;
        caller.map_err(|refusal| match refusal {
            Refusal::Unavailable => Status::unavailable(refusal.to_string()),
            refusal => Status::unauthenticated(refusal.to_string()),
        })
    }

    /// The lease of a stream to this client, which `access` authenticated as `caller`. `None` if the rights do not end.
    pub fn lease(&self, access: Option<&Arc<AccessControl>>, caller: Caller) -> Option<Lease> {
        let (access, credential) = self.credential(access)?;
        Some(Lease::new(access, credential, caller))
    }

    fn credential<'a>(
        &self,
        access: Option<&'a Arc<AccessControl>>,
    ) -> Option<(&'a Arc<AccessControl>, Credential)> {
        let certificate = self.certificate.as_ref()?;
        Some((access?, Credential::Certificate(Arc::clone(certificate))))
    }
}
