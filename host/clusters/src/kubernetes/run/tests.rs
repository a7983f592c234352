mod api;
mod audit;
mod configuration;
mod confirmations;
mod contexts;
mod discovery;
mod health;
mod inventories;
mod kinds;
mod monitors;
mod other_cluster;
mod renewal;
mod sizes;
mod turns;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc as blocking;

use kindsight_contract::{KindPattern, Relation};
use kindsight_model::{Coverage, KindState, Report, Scope, Subject};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::RelatedKinds;
use crate::{RelatedRules, Selection, WatchOptions};
use api::{Answer, Api, list};

/// A source that runs.
struct Source {
    configured: watch::Sender<ClusterSource>,
    events: mpsc::Receiver<ClusterEvent>,
    /// The last coverage that was sent.
    coverage: Coverage,
    cluster: KubernetesCluster,
    /// Ends with it.
    _tasks: JoinSet<()>,
    folder: tempfile::TempDir,
}

impl Source {
    fn begin(api: &Api, needs: Needs) -> Self {
        Self::begin_as(api, needs, |cluster| cluster)
    }

    fn begin_as(
        api: &Api,
        needs: Needs,
        change: impl FnOnce(KubernetesCluster) -> KubernetesCluster,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path: PathBuf = folder.path().join("config");
        std::fs::write(&path, kubeconfig(api)).unwrap();
        let name = "p+c".parse().unwrap();
        let cluster = change(KubernetesCluster::from_kubeconfig(name, path, None));
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
            coverage: Coverage::nothing(),
            cluster,
            _tasks: tasks,
            folder,
        }
    }

    /// Changes its configuration, which begins a new session.
    fn configure(&self, options: WatchOptions) {
        let cluster = self.cluster.clone().with_options(options);
        let source = ClusterSource::Kubernetes(Box::new(cluster));
        self.configured.send_replace(source);
    }

    /// The next event about applications or about the state of the cluster.
    async fn next(&mut self) -> String {
        loop {
            match self.events.recv().await.unwrap() {
                ClusterEvent::Reports { reports, .. } => {
                    let texts: Vec<String> = reports.iter().map(text_of).collect();
                    return texts.join(", ");
                }
                ClusterEvent::Synced { .. } => return "synced".to_owned(),
                ClusterEvent::Stale { reason, .. } => return format!("stale: {reason}"),
                ClusterEvent::Coverage { coverage, .. } => self.coverage = coverage,
                ClusterEvent::Facts { .. } | ClusterEvent::Heard { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Waits for a state of a Kind. Returns the earlier states that were sent, without repetitions.
    async fn states_until(&mut self, group: &str, kind: &str, last: KindState) -> Vec<KindState> {
        let mut states = Vec::new();
        loop {
            let coverage = self.next_coverage().await;
            let found = coverage.of(Some(group), kind, Scope::Cluster);
            if found.state == last {
                return states;
            }
            if states.last() != Some(&found.state) {
                states.push(found.state);
            }
        }
    }

    /// Replaces the kubeconfig by one of another server.
    fn write_kubeconfig(&self, api: &Api) {
        std::fs::write(self.folder.path().join("config"), kubeconfig(api)).unwrap();
    }

    /// Waits until the cluster is heard once more.
    async fn heard(&mut self) {
        let is_heard = |event: &ClusterEvent| matches!(event, ClusterEvent::Heard { .. });
        while !is_heard(&self.events.recv().await.unwrap()) {}
    }

    /// The coverage that is sent next.
    async fn next_coverage(&mut self) -> Coverage {
        loop {
            if let ClusterEvent::Coverage { coverage, .. } = self.events.recv().await.unwrap() {
                self.coverage = coverage.clone();
                return coverage;
            }
        }
    }

    /// The state of Services in the coverage that was last sent.
    fn services(&self) -> KindState {
        self.coverage.of(Some(""), "Service", Scope::Cluster).state
    }

    /// Waits for a state of Services. No application may change until then.
    async fn services_become(&mut self, state: KindState) {
        while self.services() != state {
            match self.events.recv().await.unwrap() {
                ClusterEvent::Coverage { coverage, .. } => self.coverage = coverage,
                ClusterEvent::Facts { .. } | ClusterEvent::Heard { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

fn kubeconfig(api: &Api) -> String {
    let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": api.url}}],
        "users": [{"name": "u", "user": {"token": "t"}}]});
    kubeconfig.to_string()
}

fn text_of((subject, report): &(Subject, Report)) -> String {
    let Subject::Application { app, .. } = subject else {
        panic!("no deployment was recorded: {subject:?}");
    };
    let names: Vec<&str> = report.objects.iter().map(|it| &*it.name).collect();
    let removed = report.removed.iter();
    let removed = removed.map(|(identity, reason)| format!(" {reason:?}: {}", identity.name));
    format!("{app}: {}{}", names.join(" "), removed.collect::<String>())
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
    needs_of("", "Pod")
}

/// Services are judged by the objects of this group and Kind that they select.
fn needs_of(group: &str, kind: &str) -> Needs {
    let pattern = |group: &str, kind: &str| KindPattern {
        group: group.to_owned(),
        version: "*".to_owned(),
        kind: kind.to_owned(),
    };
    let rule = RelatedKinds {
        judged: pattern("", "Service"),
        when: None,
        related: pattern(group, kind),
        relation: Relation::SelectedBy("/spec/selector".to_owned()),
        is_identity_enough: false,
    };
    let (_, related) = watch::channel(Arc::new(RelatedRules::from_iter([rule])));
    Needs {
        related,
        ..Needs::default()
    }
}

#[tokio::test]
async fn a_cluster_is_not_heard_before_related_objects_were_read() {
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
    while let Ok(event) = source.events.try_recv() {
        let is_fact = matches!(
            event,
            ClusterEvent::Facts { .. } | ClusterEvent::Coverage { .. }
        );
        assert!(is_fact, "{event:?}");
    }
    drop(release);
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn a_kind_that_the_next_session_cannot_list_keeps_its_objects() {
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
    // The Service is known from the previous session, and its coverage says so.
    assert_eq!(source.next().await, "synced");
    assert_eq!(source.services(), KindState::Unavailable);
    source.services_become(KindState::Complete).await;
}

#[tokio::test]
async fn a_kind_that_the_next_session_may_not_list_keeps_its_objects() {
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
    assert_eq!(source.next().await, "synced");
    source.services_become(KindState::Forbidden).await;
}

#[tokio::test]
async fn a_kind_that_the_next_session_does_not_discover_is_still_watched() {
    let mut discoveries = 0;
    let api = Api::new(move |target| {
        if target == "/api" {
            discoveries += 1;
            return (discoveries > 1).then(|| Answer::Json(200, json!({"items": []})));
        }
        let is_front = is_list_of_services(target) || is_part_of_services(target);
        is_front.then(front)
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    source.configure(WatchOptions {
        left_out: BTreeSet::new(),
        ..WatchOptions::default()
    });
    assert_eq!(source.next().await, "synced");
    assert_eq!(source.services(), KindState::Complete);
}

#[tokio::test]
async fn a_kind_that_the_next_session_is_not_served_keeps_its_objects() {
    let mut discoveries = 0;
    let mut lists = 0;
    let api = Api::new(move |target| {
        if target == "/api" {
            discoveries += 1;
            return (discoveries > 1).then(|| Answer::Json(200, json!({"items": []})));
        }
        if is_part_of_services(target) {
            return Some(front());
        }
        is_list_of_services(target).then(|| {
            lists += 1;
            match lists {
                1 => front(),
                _ => Answer::Json(404, json!({"code": 404, "message": "not found"})),
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
    assert_eq!(source.next().await, "synced");
    source.services_become(KindState::Unserved).await;
}

#[tokio::test]
async fn a_first_list_that_fails_is_no_list() {
    let api = Api::new(move |target| {
        let error = json!({"code": 500, "message": "conversion webhook failed"});
        is_list_of_services(target).then_some(Answer::Json(500, error))
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "synced");
    assert_eq!(source.services(), KindState::Unavailable);
}

#[tokio::test]
async fn a_list_with_an_item_without_identity_is_incomplete() {
    let api = Api::new(move |target| {
        let items = list(&[json!({"metadata": 7})]);
        is_list_of_services(target).then(|| Answer::Json(200, items))
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "synced");
    assert_eq!(source.services(), KindState::Incomplete);
}

#[tokio::test]
async fn a_namespace_that_is_watched_alone_keeps_its_objects() {
    let api = Api::new(move |target| {
        let is_front = is_list_of_services(target) || is_part_of_services(target);
        is_front.then(front)
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    let only = |namespace: &str| WatchOptions {
        namespaces: BTreeSet::from([namespace.into()]),
        ..WatchOptions::default()
    };
    source.configure(only("web"));
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    source.configure(only("other"));
    assert_eq!(source.next().await, "front:  OutOfScope: front");
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn an_object_that_another_selector_leaves_out_has_left_its_application() {
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
            selector: kindsight_model::parse_selector(selector).unwrap(),
            children: children
                .iter()
                .map(|child| child.parse().unwrap())
                .collect(),
        }),
        ..WatchOptions::default()
    };
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    assert!(!asked.recv().unwrap().contains("labelSelector"));
    // A selector by labels of the objects, and then a selector by other labels.
    source.configure(selected("app.kubernetes.io/instance=shop", &[]));
    assert_eq!(source.next().await, "synced");
    let target = asked.recv().unwrap();
    assert!(target.ends_with("&labelSelector=app.kubernetes.io%2Finstance%3Dshop"));
    source.configure(selected("app=base", &[]));
    assert_eq!(source.next().await, "front:  LeftApplication: front");
    assert_eq!(source.next().await, "synced");
    // The metadata of the Service is listed, without the labels.
    source.configure(selected("app=base", &["Service"]));
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn an_api_that_does_not_accept_the_credentials_affects_no_other_api() {
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
        // One request of the connection, and one of the session.
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
