//! The membership of this host among the hosts that share clusters: its keys, and the watch of all keys.

use std::sync::Arc;
use std::time::Instant;

use kindsight_leases::{Digest, HostId, HostValue, Identity, Owner, Table};
use kindsight_model::ClusterName;
use kindsight_store::{
    Batch, Error, LEASES_PREFIX, Lease, Result, Revision, Store, WantedLease, Watch, chain,
};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::{RETRY, SharingSettings};

/// A membership, which ends with the leases of the host.
pub(super) struct Membership {
    store: Arc<dyn Store>,
    host: HostId,
    lease: Lease,
    /// The digest of the configuration.
    digest: Digest,
    /// The lease with this digest; `None` while it is not announced.
    configured: Option<Lease>,
    /// Why the last announcement failed. The log names each reason once.
    not_announced: Option<String>,
    table: Table,
    watch: Watch,
    /// True if changes may have been missed since the keys were read.
    is_outdated: bool,
}

impl Membership {
    /// Joins the hosts. Returns `None` if another process has the name of this host, such as a process that was
    /// killed a moment ago.
    ///
    /// # Errors
    /// The errors of the store.
    pub(super) async fn join(
        store: Arc<dyn Store>,
        settings: &SharingSettings,
        me: &Identity,
        digest: Digest,
    ) -> Result<Option<Self>> {
        let release = env!("CARGO_PKG_VERSION");
        let value = HostValue::new(&settings.url, release, me.started_ms, settings.weight);
        let host = me.host.clone();
        blocking(move || {
            let value = value.encode();
            let wanted = [
                WantedLease {
                    name: host.lease_name(),
                    value: value.clone(),
                },
                digest_lease(&host, digest),
            ];
            let Some(leases) = store.lease_all(&wanted)? else {
                remove_own(&*store, &host, &value)?;
                return Ok(None);
            };
            let mut leases = leases.into_iter();
            let (Some(lease), configured) = (leases.next(), leases.next()) else {
                return Ok(None);
            };
            let (table, watch) = read(&*store)?;
            Ok(Some(Self {
                store,
                host,
                lease,
                digest,
                configured,
                not_announced: None,
                table,
                watch,
                is_outdated: false,
            }))
        })
        .await
    }

    /// The live hosts and the owners.
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// Returns whether the store keeps the leases of this host at a time, and its key is present.
    pub(super) fn is_alive(&self, now: Instant) -> bool {
        self.lease.expiry().is_after(now) && self.table.hosts().contains_key(&self.host)
    }

    /// Drops the membership, because the store has ended its leases.
    pub(super) fn forget(self) {
        self.lease.forget();
        self.configured.into_iter().for_each(Lease::forget);
    }

    /// Waits for changes of the keys and applies them. Dropping the future loses no change.
    pub(super) async fn next(&mut self) {
        if !self.is_outdated {
            match self.watch.next().await {
                Ok(changes) => self.is_outdated = !self.table.apply(&changes),
                // The store is closed at the stop of the server.
                Err(Error::Closed) => std::future::pending().await,
                // Changes may have been missed.
                Err(_) => self.is_outdated = true,
            }
        }
        if self.is_outdated {
            let store = Arc::clone(&self.store);
            match blocking(move || read(&*store)).await {
                Ok((table, watch)) => {
                    (self.table, self.watch) = (table, watch);
                    self.is_outdated = false;
                }
                Err(error) => {
                    let error = chain(&error);
                    tracing::warn!(error, "the owners of clusters cannot be read; trying again");
                    sleep(RETRY).await;
                }
            }
        }
    }

    /// Notes a changed configuration, which [`Self::announce`] announces.
    pub(super) fn reconfigure(&mut self, digest: Digest) {
        self.digest = digest;
        // The announcement replaces its key.
        self.configured.take().into_iter().for_each(Lease::forget);
    }

    /// Returns whether the other hosts can read the digest of the configuration. Otherwise no cluster moves.
    pub(super) fn is_announced(&self) -> bool {
        self.configured.is_some()
    }

    /// Replaces the digest that the other hosts can read. The caller tries again after a failure.
    pub(super) async fn announce(&mut self) {
        let store = self.lease.fenced(&self.store);
        let (host, digest) = (self.host.clone(), self.digest);
        match blocking(move || replace_digest(&*store, &host, digest)).await {
            Ok(lease) => {
                self.configured = Some(lease);
                self.not_announced = None;
            }
            Err(error) => {
                let error = chain(&error);
                if self.not_announced.as_ref() != Some(&error) {
                    tracing::warn!(
                        error,
                        "the changed configuration is not announced to the other hosts; trying again"
                    );
                }
                self.not_announced = Some(error);
            }
        }
    }

    /// Removes keys of clusters that the store put for this process without its knowledge.
    pub(super) async fn remove_stray(&self, stray: &[(ClusterName, Revision)]) {
        let batch = stray
            .iter()
            .fold(Batch::new(), |batch, (cluster, revision)| {
                let key = key(&Owner::lease_name(cluster));
                batch.unchanged(&key, *revision).delete(key)
            });
        let store = Arc::clone(&self.store);
        match blocking(move || store.apply(&batch)).await {
            // With a conflict, the keys have changed, and the next plan is based on the changed keys.
            Ok(_) | Err(Error::Conflict { .. }) => {}
            Err(error) => {
                let error = chain(&error);
                tracing::warn!(error, "keys of clusters could not be removed; trying again");
            }
        }
    }
}

/// Runs calls of the store, which block.
pub(super) async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = spawn_blocking(call).await;
    done.unwrap_or_else(|_| Err(Error::Backend("a call of the store panicked".into())))
}

/// Reads all keys, and watches their changes from there on.
fn read(store: &dyn Store) -> Result<(Table, Watch)> {
    let range = store.range(LEASES_PREFIX)?;
    let watch = store.watch(LEASES_PREFIX, range.revision)?;
    Ok((Table::of(&range), watch))
}

fn key(name: &str) -> String {
    format!("{LEASES_PREFIX}{name}/")
}

fn digest_lease(host: &HostId, digest: Digest) -> WantedLease {
    WantedLease {
        name: host.configured_lease_name(),
        value: digest.encode(),
    }
}

/// Replaces the key with the digest of this host. The store may have put the present key without the knowledge of this
/// process, if its answer was lost.
fn replace_digest(store: &dyn Store, host: &HostId, digest: Digest) -> Result<Lease> {
    let key = key(&host.configured_lease_name());
    if let Some(entry) = store.entry(&key)? {
        store.apply(&Batch::new().unchanged(&key, entry.changed).delete(&key))?;
    }
    let leases = store.lease_all(&[digest_lease(host, digest)])?;
    let lease = leases.and_then(|mut leases| leases.pop());
    lease.ok_or(Error::Conflict { key })
}

/// Removes the keys of this host if this process put them and lost the leases.
fn remove_own(store: &dyn Store, host: &HostId, value: &[u8]) -> Result<()> {
    let key_of_host = key(&host.lease_name());
    let entry = store.entry(&key_of_host)?;
    if entry.as_ref().is_some_and(|entry| entry.value != value) {
        return Ok(());
    }
    let digest = store.entry(&key(&host.configured_lease_name()))?;
    let entries = entry.into_iter().chain(digest);
    let batch = entries.fold(Batch::new(), |batch, entry| {
        batch
            .unchanged(&entry.key, entry.changed)
            .delete(&entry.key)
    });
    match store.apply(&batch) {
        Ok(_) | Err(Error::Conflict { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
