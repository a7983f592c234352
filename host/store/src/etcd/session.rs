//! The session of this process: one lease of etcd. The keys of all [`Lease`]s of the process are
//! attached to the session. etcd deletes these keys if the process does not renew the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use etcd_client::Error as ClientError;
use tokio::time::{Instant, sleep, timeout};

use super::failure::Failure;
use super::link::{Link, no_answer};
use super::runtime::Spawner;
use super::transaction;
use crate::lease::{self, Lease, Leased};
use crate::{Batch, Error, Result};

/// Time after the last renewal until etcd ends a session, in seconds.
const TTL_S: i64 = 10;
/// Time between two renewals.
const RENEWAL: Duration = Duration::from_secs(3);

/// A session. Clones share it.
#[derive(Clone)]
pub(super) struct Session {
    id: i64,
    is_alive: Arc<AtomicBool>,
}

impl Session {
    /// Begins a session, which `spawner` renews until etcd ends it.
    pub(super) async fn begin(link: &Arc<Link>, spawner: &Spawner) -> Result<Self> {
        let mut client = link.client.lease_client();
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
        let ttl = Duration::from_secs(TTL_S.unsigned_abs());
        let mut renewed = Instant::now();
        loop {
            sleep(RENEWAL).await;
            let began = Instant::now();
            let mut client = link.client.lease_client();
            match timeout(RENEWAL, client.keep_alive(self.id)).await {
                Ok(Ok(_)) => renewed = began,
                Ok(Err(ClientError::LeaseKeepAliveError(_))) => break,
                Ok(Err(_)) | Err(_) if renewed.elapsed() >= ttl => break,
                Ok(Err(_)) | Err(_) => {}
            }
        }
        self.is_alive.store(false, Ordering::SeqCst);
    }

    /// Asks for the lease with a name.
    pub(super) async fn lease(
        self,
        link: Arc<Link>,
        spawner: Spawner,
        name: String,
    ) -> Result<Leased> {
        let key = lease::key(&name);
        let put = Batch::new().absent(&key).put(&key, self.id.to_string());
        match transaction::apply(Arc::clone(&link), put, self.id).await {
            Ok(revision) => {
                let delete = Batch::new().unchanged(&key, revision).delete(&key);
                let release = move || {
                    spawner.spawn(async move {
                        // If this fails, the key ends with the session.
                        let _ = transaction::apply(link, delete, transaction::NO_LEASE).await;
                    });
                };
                Ok(Leased::Granted(Lease::new(key, revision, release)))
            }
            Err(Error::Conflict { .. }) => Ok(Leased::Held),
            Err(Error::LeaseLost { .. }) => {
                self.is_alive.store(false, Ordering::SeqCst);
                Err(Error::LeaseLost { key })
            }
            Err(error) => Err(error),
        }
    }
}
