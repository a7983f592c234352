//! Tests of the registry without an API server.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use kindsight_api::registration::{ClusterRegistration, RegistrationRefusal};
use kindsight_clusters::FolderCluster;
use kindsight_rest::ClusterRegistry as _;
use kindsight_store::{
    Batch, Connection, Entry, Error as StoreError, Keys, Leased, Range, RedbStore,
    Result as StoreResult, Store, StoreLimits, Watch,
};
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::answers::RegistryApi;
use super::*;

/// A folder with the kubeconfig `edge01`, and a store.
struct Stage {
    folder: TempDir,
    store: Arc<dyn Store>,
    configured: watch::Sender<Vec<ClusterSource>>,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = r#"{"apiVersion": "v1", "kind": "Config", "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": {"token": "s3cret"}}]}"#;
        fs::write(folder.path().join("edge01"), kubeconfig).unwrap();
        let configured = FolderCluster::new("lab+fixed".parse().unwrap(), "/x");
        Self {
            folder,
            store: Arc::new(RedbStore::in_memory().unwrap()),
            configured: watch::Sender::new(vec![ClusterSource::Folder(configured)]),
        }
    }

    /// A stage over this store.
    fn over(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            ..Self::new()
        }
    }

    fn open(&self) -> RegistryApi {
        let mut settings = Settings::new(Arc::clone(&self.store));
        settings.clusters.clone_from(&self.configured.borrow());
        settings.cluster_changes = Some(self.configured.subscribe());
        settings.registry.folder = Some(self.folder.path().to_owned());
        let registry = open(&mut settings).unwrap();
        RegistryApi {
            registry: registry.unwrap(),
            runtime: Handle::current(),
        }
    }
}

/// A store whose keys cannot be listed while it is away.
struct AwayStore {
    store: RedbStore,
    is_away: AtomicBool,
}

impl Store for AwayStore {
    fn entry(&self, key: &str) -> StoreResult<Option<Entry>> {
        self.store.entry(key)
    }

    fn range(&self, prefix: &str) -> StoreResult<Range> {
        if self.is_away.load(Ordering::Relaxed) {
            let reason = "told to".to_owned();
            return Err(StoreError::Unavailable { reason });
        }
        self.store.range(prefix)
    }

    fn keys(&self, prefix: &str) -> StoreResult<Keys> {
        self.store.keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> StoreResult<Revision> {
        self.store.apply(batch)
    }

    fn watch(&self, prefix: &str, after: Revision) -> StoreResult<Watch> {
        self.store.watch(prefix, after)
    }

    fn lease(&self, name: &str) -> StoreResult<Leased> {
        self.store.lease(name)
    }

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> watch::Receiver<Connection> {
        self.store.connection()
    }
}

fn file(name: &str) -> ClusterRegistration {
    ClusterRegistration {
        kubeconfig_file: Some(name.to_owned()),
        ..ClusterRegistration::default()
    }
}

fn names(api: &RegistryApi) -> Vec<String> {
    let clusters = api.registry.clusters();
    let clusters = clusters.borrow();
    clusters
        .iter()
        .map(|cluster| cluster.name().to_string())
        .collect()
}

fn problem(refused: RegistrationRefusal) -> String {
    match refused {
        RegistrationRefusal::Invalid(problems) => format!("{problems:?}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_registered_cluster_survives_a_restart_until_it_is_deleted() {
    let stage = Stage::new();
    let name: ClusterName = "lab+edge01".parse().unwrap();
    spawn_blocking(move || {
        let api = stage.open();
        let (is_new, cluster) = api.put(&name, file("edge01")).unwrap();
        assert!(is_new);
        assert_eq!(cluster.registration, Some(file("edge01")));
        assert!(!cluster.configured);
        assert_eq!(names(&api), ["lab+fixed", "lab+edge01"]);
        let api = stage.open();
        assert_eq!(names(&api), ["lab+fixed", "lab+edge01"]);
        assert_eq!(api.get(&name).unwrap().registration, Some(file("edge01")));
        api.delete(&name).unwrap();
        assert_eq!(names(&api), ["lab+fixed"]);
        let gone = api.get(&name).unwrap_err();
        assert!(matches!(gone, RegistrationRefusal::NotFound(_)));
        let gone = api.delete(&name).unwrap_err();
        assert!(matches!(gone, RegistrationRefusal::NotFound(_)));
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_cluster_of_the_configuration_is_read_only() {
    let stage = Stage::new();
    let name: ClusterName = "lab+fixed".parse().unwrap();
    spawn_blocking(move || {
        let api = stage.open();
        let put = api.put(&name, file("edge01")).unwrap_err();
        let delete = api.delete(&name).unwrap_err();
        for refused in [put, delete] {
            assert!(
                matches!(refused, RegistrationRefusal::Conflict(why) if why.contains("lab+fixed"))
            );
        }
        let read = api.get(&name).unwrap();
        assert!(read.configured && read.registration.is_none());
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn hostile_registrations_are_refused_and_store_nothing() {
    let stage = Stage::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("other"), "s3cret").unwrap();
    fs::write(stage.folder.path().join("exec"), r#"{"apiVersion": "v1", "kind": "Config", "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "id"}}}]}"#).unwrap();
    let name: ClusterName = "lab+edge01".parse().unwrap();
    spawn_blocking(move || {
        let api = stage.open();
        let absolute = outside.path().join("other").display().to_string();
        for hostile in [
            "../other",
            "..",
            ".",
            "",
            "a/../edge01",
            "edge01/",
            "absent",
            "exec",
            &absolute,
        ] {
            let refused = problem(api.put(&name, file(hostile)).unwrap_err());
            assert!(refused.contains("kubeconfig-file"), "{hostile}: {refused}");
            assert!(!refused.contains("s3cret"), "{refused}");
        }
        let both = ClusterRegistration {
            kubeconfig_secret: Some("edge01".to_owned()),
            ..file("edge01")
        };
        assert!(problem(api.put(&name, both).unwrap_err()).contains("expected one of"));
        let secret = ClusterRegistration {
            kubeconfig_secret: Some("edge01".to_owned()),
            ..ClusterRegistration::default()
        };
        let refused = problem(api.put(&name, secret).unwrap_err());
        assert!(refused.contains("--cluster-secrets"), "{refused}");
        for namespace in ["", "../kube-system", "Web", "a/b"] {
            let namespaces = ClusterRegistration {
                namespaces: vec![namespace.to_owned()],
                ..file("edge01")
            };
            problem(api.put(&name, namespaces).unwrap_err());
        }
        let context = ClusterRegistration {
            context: Some("absent".to_owned()),
            ..file("edge01")
        };
        problem(api.put(&name, context).unwrap_err());
        assert_eq!(names(&api), ["lab+fixed"]);
    })
    .await
    .unwrap();
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the second server follows the store while the first one writes"
)]
async fn servers_with_one_store_follow_each_other_and_the_configuration() {
    let stage = Stage::new();
    let (first, second) = (stage.open(), stage.open());
    let shutdown = CancellationToken::new();
    let following = tokio::spawn(Arc::clone(&second.registry).follow(shutdown.clone()));
    let mut clusters = second.registry.clusters();
    let name: ClusterName = "lab+edge01".parse().unwrap();
    let registered = name.clone();
    let first = spawn_blocking(move || {
        first.put(&registered, file("edge01")).unwrap();
        first
    });
    let first = first.await.unwrap();
    clusters.wait_for(|all| all.len() == 2).await.unwrap();
    stage.configured.send_replace(Vec::new());
    let only = |all: &Vec<ClusterSource>| matches!(&**all, [one] if *one.name() == name);
    clusters.wait_for(only).await.unwrap();
    let registered = name.clone();
    spawn_blocking(move || first.delete(&registered).unwrap())
        .await
        .unwrap();
    clusters.wait_for(Vec::is_empty).await.unwrap();
    shutdown.cancel();
    following.await.unwrap().unwrap();
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the server follows the configuration while the test changes it"
)]
async fn a_changed_configuration_takes_effect_while_the_store_is_away() {
    let store = Arc::new(AwayStore {
        store: RedbStore::in_memory().unwrap(),
        is_away: AtomicBool::default(),
    });
    let stage = Stage::over(Arc::clone(&store) as Arc<dyn Store>);
    let api = stage.open();
    let registry = Arc::clone(&api.registry);
    let name: ClusterName = "lab+edge01".parse().unwrap();
    let registering = spawn_blocking(move || api.put(&name, file("edge01")).unwrap());
    registering.await.unwrap();
    store.is_away.store(true, Ordering::Relaxed);
    let shutdown = CancellationToken::new();
    let following = tokio::spawn(Arc::clone(&registry).follow(shutdown.clone()));
    let added = FolderCluster::new("lab+added".parse().unwrap(), "/y");
    stage
        .configured
        .send_modify(|clusters| clusters.push(ClusterSource::Folder(added)));
    let names = ["lab+fixed", "lab+added", "lab+edge01"];
    let is_complete = |all: &Vec<ClusterSource>| {
        let all = all.iter().map(|cluster| cluster.name().to_string());
        all.eq(names)
    };
    registry.clusters().wait_for(is_complete).await.unwrap();
    shutdown.cancel();
    following.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_invalid_configuration_does_not_block_registrations() {
    let stage = Stage::new();
    let name: ClusterName = "lab+edge01".parse().unwrap();
    spawn_blocking(move || {
        let api = stage.open();
        let fixed = stage.configured.borrow().clone();
        let twice = [fixed.clone(), fixed].concat();
        stage.configured.send_replace(twice.clone());
        api.put(&name, file("edge01")).unwrap();
        assert_eq!(names(&api), ["lab+fixed", "lab+edge01"]);
        api.registry.configured.take(twice);
        api.registry.reload().unwrap();
        assert_eq!(names(&api), ["lab+fixed", "lab+edge01"]);
        api.registry.configured.take(Vec::new());
        api.registry.reload().unwrap();
        assert_eq!(names(&api), ["lab+edge01"]);
    })
    .await
    .unwrap();
}
