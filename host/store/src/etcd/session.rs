//! The session of this process: one lease of etcd. The keys of all [`Lease`]s of the process are
//! attached to the session. etcd deletes these keys if the process does not renew the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use etcd_client::Error as ClientError;
use tokio::time::{sleep, timeout};

use super::failure::Failure;
use super::link::{Link, no_answer};
use super::runtime::Spawner;
use super::transaction;
use crate::lease::{self, Expiry, Lease};
use crate::{Batch, Error, Result, WantedLease};

/// Time after the last renewal until etcd ends a session, in seconds. etcd looks every half second
/// for sessions that it must end. So another process can continue well within ten seconds.
const TTL_S: i64 = 7;
const TTL: Duration = Duration::from_secs(TTL_S.unsigned_abs());
/// Time between two renewals.
const RENEWAL: Duration = Duration::from_secs(2);

/// A session. Clones share it.
#[derive(Clone)]
pub(super) struct Session {
    id: i64,
    is_alive: Arc<AtomicBool>,
    /// Counted from the moment before each request, so that etcd never ends the session earlier.
    expiry: Expiry,
}

impl Session {
    /// Begins a session, which `spawner` renews until etcd ends it.
    pub(super) async fn begin(link: &Arc<Link>, spawner: &Spawner) -> Result<Self> {
        let mut client = link.client.lease_client();
        let expiry = Expiry::until(Instant::now() + TTL);
        let granted = timeout(link.deadline, client.grant(TTL_S, None)).await;
        let granted = match granted {
            Ok(Ok(granted)) => granted,
            Ok(Err(error)) => return Err(Failure::from(error).into_error()),
            Err(_) => {
                let reason = no_answer(link.deadline);
                return Err(Error::Unavailable { reason });
            }
        };
        let session = Self {
            id: granted.id(),
            is_alive: Arc::new(AtomicBool::new(true)),
            expiry,
        };
        spawner.spawn(session.clone().renew(Arc::clone(link)));
        Ok(session)
    }

    /// False after etcd ended the session.
    pub(super) fn is_alive(&self) -> bool {
        self.is_alive.load(Ordering::SeqCst)
    }

    /// Renews the session until etcd ends it.
    async fn renew(self, link: Arc<Link>) {
        loop {
            sleep(RENEWAL).await;
            let began = Instant::now();
            let mut client = link.client.lease_client();
            match timeout(RENEWAL, client.keep_alive(self.id)).await {
                Ok(Err(ClientError::LeaseKeepAliveError(_))) => break,
                // Also after a late answer: users of the leases may have noticed the end already.
                _ if !self.expiry.is_after(Instant::now()) => break,
                Ok(Ok(_)) => self.expiry.set(began + TTL),
                Ok(Err(_)) | Err(_) => {}
            }
        }
        self.end();
    }

    /// Notes that etcd ended the session.
    fn end(&self) {
        self.is_alive.store(false, Ordering::SeqCst);
        self.expiry.set(Instant::now());
    }

    /// The request for one lease. The value of its key is the id of the session, for operators.
    pub(super) fn wanted(&self, name: &str) -> WantedLease {
        WantedLease {
            name: name.to_owned(),
            value: self.id.to_string().into_bytes(),
        }
    }

    /// Asks for leases: all of them, or none.
    pub(super) async fn lease_all(
        self,
        link: Arc<Link>,
        spawner: Spawner,
        wanted: Vec<WantedLease>,
    ) -> Result<Option<Vec<Lease>>> {
        match transaction::apply(Arc::clone(&link), batch(&wanted), self.id).await {
            Ok(revision) => {
                let granted = wanted.iter().map(|wanted| {
                    let key = lease::key(&wanted.name);
                    let delete = Batch::new().unchanged(&key, revision).delete(&key);
                    let (link, spawner) = (Arc::clone(&link), spawner.clone());
                    let release = move || {
                        spawner.spawn(async move {
                            // If this fails, the key ends with the session.
                            let _ = transaction::apply(link, delete, transaction::NO_LEASE).await;
                        });
                    };
                    Lease::new(key, revision, self.expiry.clone(), release)
                });
                Ok(Some(granted.collect()))
            }
            Err(Error::Conflict { .. }) => Ok(None),
            Err(Error::LeaseLost { .. }) => {
                self.end();
                let first = wanted.first().map(|wanted| lease::key(&wanted.name));
                let key = first.unwrap_or_default();
                Err(Error::LeaseLost { key })
            }
            Err(error) => Err(error),
        }
    }
}

/// The batch that asks for leases.
pub(super) fn batch(wanted: &[WantedLease]) -> Batch {
    wanted.iter().fold(Batch::new(), |batch, wanted| {
        let key = lease::key(&wanted.name);
        batch.absent(&key).put(&key, wanted.value.clone())
    })
}
