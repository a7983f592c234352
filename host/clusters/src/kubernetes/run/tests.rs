mod api;

use std::path::PathBuf;
use std::sync::mpsc as blocking;

use kindsight_contract::{KindPattern, Relation};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::needs::RelatedKinds;
use crate::{ApplicationReport, RelatedRules, Selection, WatchOptions};
use api::{Answer, Api, list};

/// A source that runs.
struct Source {
    configured: watch::Sender<ClusterSource>,
    events: mpsc::Receiver<ClusterEvent>,
    cluster: KubernetesCluster,
    /// Ends with it.
    _tasks: JoinSet<()>,
    _folder: tempfile::TempDir,
}

impl Source {
    fn begin(api: &Api, needs: Needs) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path: PathBuf = folder.path().join("config");
        let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": api.url}}],
            "users": [{"name": "u", "user": {"token": "t"}}]});
        std::fs::write(&path, kubeconfig.to_string()).unwrap();
        let name = "p+c".parse().unwrap();
        let cluster = KubernetesCluster::from_kubeconfig(name, path, None);
        let source = ClusterSource::Kubernetes(Box::new(cluster.clone()));
        let (configured, configured_rx) = watch::channel(source);
        let (events_tx, events) = mpsc::channel(64);
        let run = cluster
            .clone()
            .run(configured_rx, events_tx, needs, CancellationToken::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(run);
        Self {
            configured,
            events,
            cluster,
            _tasks: tasks,
            _folder: folder,
        }
    }

    /// Changes its configuration, which begins a new session.
    fn configure(&self, options: WatchOptions) {
        let cluster = self.cluster.clone().with_options(options);
        let source = ClusterSource::Kubernetes(Box::new(cluster));
        self.configured.send_replace(source);
    }

    /// The next event that is told of applications, or of the cluster as a whole.
    async fn next(&mut self) -> String {
        loop {
            match self.events.recv().await.unwrap() {
                ClusterEvent::Application { reports, .. } => {
                    let told: Vec<String> = reports.iter().map(told).collect();
                    return told.join(", ");
                }
                ClusterEvent::Synced { .. } => return "synced".to_owned(),
                ClusterEvent::Stale { reason, .. } => return format!("stale: {reason}"),
                ClusterEvent::Facts { .. } | ClusterEvent::Heard { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

fn told(report: &ApplicationReport) -> String {
    let names: Vec<&str> = report.objects.iter().map(|it| &*it.name).collect();
    let sorted = if report.is_sorted_anew { " anew" } else { "" };
    format!("{}: {}{sorted}", report.app, names.join(" "))
}

fn object(name: &str, labels: &Value) -> Value {
    json!({"metadata": {"namespace": "web", "name": name, "uid": name, "resourceVersion": "5",
        "labels": labels}, "spec": {"selector": {"app": "base"}}})
}

/// The list of a Service of `shop`.
fn front() -> Answer {
    let shop = json!({"app.kubernetes.io/instance": "shop"});
    Answer::Json(200, list(&[object("front", &shop)]))
}

fn is_list_of_services(target: &str) -> bool {
    target.starts_with("/api/v1/services?limit")
}

fn is_part_of_services(target: &str) -> bool {
    target.starts_with("/api/v1/namespaces/web/services?limit")
}

/// Services are judged by the Pods that they select.
fn needs() -> Needs {
    let pattern = |kind: &str| KindPattern {
        group: String::new(),
        version: "*".to_owned(),
        kind: kind.to_owned(),
    };
    let rule = RelatedKinds {
        judged: pattern("Service"),
        related: pattern("Pod"),
        relation: Relation::SelectedBy("/spec/selector".to_owned()),
    };
    let (_, related) = watch::channel(Arc::new(RelatedRules::from_iter([rule])));
    Needs {
        related,
        ..Needs::default()
    }
}

#[tokio::test]
async fn a_cluster_is_not_heard_before_what_applications_name_was_read() {
    let (held_tx, mut held) = mpsc::unbounded_channel();
    let api = Api::new(move |target| {
        let pods = list(&[object("pod", &json!({"app": "base"}))]);
        if is_list_of_services(target) || is_part_of_services(target) {
            return Some(front());
        }
        if target.starts_with("/api/v1/namespaces/web/pods?") {
            let (release, until) = blocking::channel();
            held_tx.send(release).unwrap();
            return Some(Answer::Held(until, pods));
        }
        let is_all = target.starts_with("/api/v1/pods?limit");
        is_all.then_some(Answer::Json(200, pods))
    });
    let mut source = Source::begin(&api, needs());
    let release = held.recv().await.unwrap();
    while let Ok(told) = source.events.try_recv() {
        assert!(matches!(told, ClusterEvent::Facts { .. }), "{told:?}");
    }
    drop(release);
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn what_the_next_session_cannot_list_for_a_moment_is_not_gone() {
    let mut lists = 0;
    let api = Api::new(move |target| {
        if is_part_of_services(target) {
            return Some(front());
        }
        is_list_of_services(target).then(|| {
            lists += 1;
            match lists {
                2 => Answer::Json(429, json!({"code": 429, "message": "busy"})),
                _ => front(),
            }
        })
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    source.configure(WatchOptions {
        left_out: BTreeSet::new(),
        ..WatchOptions::default()
    });
    let why = "stale: a Kind cannot be followed any more: Service: it answers 429: busy";
    assert_eq!(source.next().await, why);
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn what_the_next_session_may_not_see_is_not_gone() {
    let mut lists = 0;
    let api = Api::new(move |target| {
        if is_part_of_services(target) {
            return Some(front());
        }
        is_list_of_services(target).then(|| {
            lists += 1;
            match lists {
                1 => front(),
                _ => Answer::Json(403, json!({"code": 403, "message": "no"})),
            }
        })
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    source.configure(WatchOptions {
        left_out: BTreeSet::new(),
        ..WatchOptions::default()
    });
    assert_eq!(source.next().await, "front:  anew");
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn what_another_selector_leaves_out_is_not_gone() {
    let (asked_tx, asked) = blocking::channel();
    let api = Api::new(move |target| {
        if target.starts_with("/api/v1/services?limit") {
            asked_tx.send(target.to_owned()).unwrap();
        }
        let is_front = is_list_of_services(target) || is_part_of_services(target);
        is_front.then(|| {
            if target.contains("labelSelector=app%3D") {
                Answer::Json(200, list(&[]))
            } else {
                front()
            }
        })
    });
    let selected = |selector: &str, children: &[&str]| WatchOptions {
        selection: Some(Selection {
            selector: selector.parse().unwrap(),
            children: children.iter().map(|it| it.parse().unwrap()).collect(),
        }),
        ..WatchOptions::default()
    };
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    assert!(!asked.recv().unwrap().contains("labelSelector"));
    // The same objects by labels that they have, and then by others.
    source.configure(selected("app.kubernetes.io/instance=shop", &[]));
    assert_eq!(source.next().await, "front: front anew");
    assert_eq!(source.next().await, "synced");
    let target = asked.recv().unwrap();
    assert!(target.ends_with("&labelSelector=app.kubernetes.io%2Finstance%3Dshop"));
    source.configure(selected("app=base", &[]));
    assert_eq!(source.next().await, "front:  anew");
    assert_eq!(source.next().await, "synced");
    // By its metadata it is told of, and does not have them.
    source.configure(selected("app=base", &["Service"]));
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn an_api_that_does_not_accept_the_credentials_costs_itself_alone() {
    let api = Api::new(move |target| {
        if target.starts_with("/apis/example.org/v1/widgets?") {
            let refused = json!({"code": 401, "message": "who is that"});
            return Some(Answer::Json(401, refused));
        }
        let is_front = is_list_of_services(target) || is_part_of_services(target);
        is_front.then(front)
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn credentials_that_the_server_accepts_no_longer_end_the_session() {
    let mut versions = 0;
    let refused = || Answer::Json(401, json!({"code": 401, "message": "too late"}));
    let api = Api::new(move |target| match target {
        "/readyz" => Some(refused()),
        // One of the connection, and one of the session.
        "/version" => {
            versions += 1;
            (versions > 2).then(refused)
        }
        _ => (is_list_of_services(target) || is_part_of_services(target)).then(front),
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    let why = "stale: the credentials are not accepted: too late";
    assert_eq!(source.next().await, why);
}
