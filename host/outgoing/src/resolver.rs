//! DNS with the check of each address.

use std::sync::Arc;

use http::Uri;
use ureq::config::Config;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::destinations::Destinations;
use crate::error::RequestError;

/// A resolver that returns only permitted addresses. The client connects only to addresses that its resolver returned,
/// and resolves the name again for each new connection.
#[derive(Debug)]
pub(crate) struct CheckedResolver<R> {
    pub(crate) inner: R,
    pub(crate) destinations: Arc<Destinations>,
}

impl<R: Resolver> Resolver for CheckedResolver<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().unwrap_or_default();
        let found = self.inner.resolve(uri, config, timeout)?;
        let mut permitted = self.empty();
        let mut refused = None;
        for address in &found {
            match self.destinations.refusal(address.ip()) {
                // The list has room for as many addresses as the inner resolver returned.
                None => permitted.push(*address),
                Some(reason) => refused = Some((address.ip(), reason)),
            }
        }
        match refused {
            Some((address, reason)) if permitted.is_empty() => {
                let why = format!(
                    "{host} has the address {address}, which is {reason}; `addresses` of `[outgoing]` can permit it"
                );
                Err(ureq::Error::Other(Box::new(RequestError::Forbidden(why))))
            }
            _ => Ok(permitted),
        }
    }
}
