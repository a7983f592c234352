use std::sync::Mutex;

use kindsight_clusters::{FolderCluster, Needs};
use kindsight_store::{
    Batch, Connection, Entry, Error, Keys, LEASES_PREFIX, Lease, Leased, Range, RedbStore, Result,
    Revision, StoreLimits, WantedLease, Watch,
};
use tokio::sync::mpsc;

use super::*;
use crate::source_threads::SourceThreads;

/// A store with the keys of leases, whose next answer to a request for leases can be a failure.
struct LeasingStore {
    store: RedbStore,
    failure: Mutex<Option<Failure>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// The store grants no lease.
    Refused,
    /// The store grants the leases, and its answer is lost.
    Lost,
}

impl Store for LeasingStore {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.store.entry(key)
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        self.store.range(prefix)
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.store.keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        self.store.apply(batch)
    }

    fn lease(&self, name: &str) -> Result<Leased> {
        self.store.lease(name)
    }

    fn lease_all(&self, wanted: &[WantedLease]) -> Result<Option<Vec<Lease>>> {
        let failure = self.failure.lock().unwrap().take();
        if failure != Some(Failure::Refused) {
            let batch = wanted.iter().fold(Batch::new(), |batch, wanted| {
                let key = format!("{LEASES_PREFIX}{}/", wanted.name);
                batch.absent(&key).put(&key, wanted.value.clone())
            });
            match self.store.apply(&batch) {
                Err(Error::Conflict { .. }) => return Ok(None),
                applied => applied?,
            };
        }
        match failure {
            None => self.store.lease_all(wanted),
            Some(_) => Err(Error::Backend("no answer".into())),
        }
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        self.store.watch(prefix, after)
    }

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> watch::Receiver<Connection> {
        self.store.connection()
    }
}

fn folder(name: &str) -> ClusterSource {
    ClusterSource::Folder(FolderCluster::new(name.parse().unwrap(), "/reports"))
}

/// A host without clusters, which takes none soon.
fn host(store: &Arc<LeasingStore>, sources: Sources, changes: ClusterChanges) -> Sharing {
    let settings = SharingSettings {
        url: "http://127.0.0.1:1".parse().unwrap(),
        weight: Weight::default(),
        peers: PeerSettings::default(),
    };
    let store: Arc<dyn Store> = Arc::clone(store) as _;
    let (now, tasks) = (Instant::now(), Tasks::default());
    Sharing {
        me: Identity {
            host: settings.url.id().clone(),
            started_ms: 0,
        },
        peers: Peers::new(settings.peers.clone(), &tasks, sources.events()),
        owned: Owned::new(sources, Arc::clone(&store), ownership(&settings)),
        settings,
        store,
        configured: BTreeMap::new(),
        changes,
        vacancies: Vacancies::default(),
        joined_at: now + Duration::from_hours(1),
        last_write: now,
    }
}

#[tokio::test]
async fn a_changed_configuration_is_announced_again_after_a_failure_of_the_store() {
    let store = Arc::new(LeasingStore {
        store: RedbStore::in_memory().unwrap(),
        failure: Mutex::default(),
    });
    let (events_tx, _events_rx) = mpsc::channel(10);
    let (configured, changes) = watch::channel(Vec::new());
    let threads = SourceThreads::start().unwrap();
    let sources = Sources::new(&Tasks::default(), events_tx, Needs::default(), threads);
    let mut sharing = host(&store, sources, changes);
    let digest = |sharing: &Sharing| Digest::of(&sharing.names());
    let joined = Membership::join(
        Arc::clone(&sharing.store),
        &sharing.settings,
        &sharing.me,
        digest(&sharing),
    );
    let mut membership = joined.await.unwrap().unwrap();
    let key = sharing.me.host.configured_lease_name();
    let key = format!("{LEASES_PREFIX}{key}/");
    for (failure, cluster) in [(Failure::Refused, "p+a"), (Failure::Lost, "p+b")] {
        configured.send_replace(vec![folder(cluster)]);
        sharing.reconfigure(&mut membership).await.unwrap();
        *store.failure.lock().unwrap() = Some(failure);
        sharing.step(&mut membership).await.unwrap();
        assert!(!membership.is_announced(), "{failure:?}");
        sharing.step(&mut membership).await.unwrap();
        assert!(membership.is_announced(), "{failure:?}");
        let announced = store.get(&key).unwrap();
        assert_eq!(announced, Some(digest(&sharing).encode()), "{failure:?}");
    }
}
