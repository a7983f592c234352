//! Reports on an application that nobody recorded, and what is shown of it.

use std::collections::BTreeSet;
use std::time::Duration;

use kindsight_clusters::ClusterEvent;
use kindsight_model::{
    Coverage, DigName, Identity, Object, Origin, Rejected, Removal, Report, Subject, SubjectSet,
};
use kindsight_status::{ApplicationKey, ResourceView, Role};
use serde_json::{Value, json};

use crate::tests::stage::Stage;
use crate::{Event, Timeouts};

/// Time for which the tests list what is gone, in milliseconds.
pub(super) const GONE_FOR_MS: i64 = 10_000;

pub(in crate::tests) fn shop() -> DigName {
    DigName::found("shop", Some("web")).unwrap()
}

pub(in crate::tests) fn object(kind: &str, name: &str, owner: Option<&str>, ready: bool) -> Object {
    let status = if ready { "True" } else { "False" };
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": name, "namespace": "web", "generation": 1, "uid": format!("uid-{name}")},
        "spec": {"replicas": if ready { 1 } else { 2 }},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
            "availableReplicas": 1, "conditions": [{"type": "Available", "status": status}]},
    });
    if let Some(owner) = owner {
        let owner = json!({"kind": "Deployment", "name": owner, "uid": format!("uid-{owner}")});
        object["metadata"]["ownerReferences"] = Value::from(vec![owner]);
    }
    Object::from_json(object.to_string()).unwrap()
}

pub(in crate::tests) fn deployment(name: &str) -> Object {
    object("Deployment", name, None, true)
}

/// All that a cluster has of one app.
#[derive(Debug, Clone)]
pub(in crate::tests) struct Has {
    pub(super) cluster: &'static str,
    pub(in crate::tests) application: DigName,
    pub(super) app: &'static str,
    pub(super) objects: Vec<Object>,
    pub(super) hooks: BTreeSet<usize>,
    pub(super) rejected: Vec<Rejected>,
    /// Objects that belong to another application from now on.
    pub(in crate::tests) left: Vec<Object>,
    /// The coverage; of the last event of the cluster if none.
    pub(in crate::tests) coverage: Option<Coverage>,
}

pub(in crate::tests) fn has(
    cluster: &'static str,
    app: &'static str,
    objects: impl Into<Vec<Object>>,
) -> Has {
    Has {
        cluster,
        application: shop(),
        app,
        objects: objects.into(),
        hooks: BTreeSet::new(),
        rejected: Vec::new(),
        left: Vec::new(),
        coverage: None,
    }
}

impl Has {
    fn report(self) -> (Subject, Report) {
        let subject = Subject::Application {
            application: self.application,
            app: self.app.into(),
        };
        let left = self.left.iter().map(Identity::from);
        let report = Report {
            objects: self.objects.into(),
            hooks: self.hooks,
            rejected: self.rejected,
            coverage: self.coverage.unwrap_or_default(),
            removed: left
                .map(|identity| (identity, Removal::LeftApplication))
                .collect(),
            ..Report::empty(Origin::Found)
        };
        (subject, report)
    }
}

/// The objects of some apps of one application in a cluster, at one moment.
pub(super) fn event(apps: impl IntoIterator<Item = Has>) -> Event {
    let mut apps = apps.into_iter().peekable();
    let cluster = apps.peek().expect("an app").cluster;
    Event::Cluster(ClusterEvent::Reports {
        cluster: cluster.parse().unwrap(),
        reports: apps.map(Has::report).collect(),
        missing: Vec::new(),
    })
}

pub(in crate::tests) fn synced(cluster: &str) -> Event {
    let cluster = cluster.parse().unwrap();
    Event::Cluster(ClusterEvent::Synced { cluster })
}

pub(in crate::tests) fn stale(cluster: &str) -> Event {
    Event::Cluster(ClusterEvent::Stale {
        cluster: cluster.parse().unwrap(),
        reason: "the cluster cannot be reached: connection refused".to_owned(),
    })
}

pub(super) fn removed(cluster: &str) -> Event {
    let cluster = cluster.parse().unwrap();
    Event::Cluster(ClusterEvent::Removed { cluster })
}

/// A stage without contexts that forgets what is gone after [`GONE_FOR_MS`].
pub(in crate::tests) fn stage() -> Stage {
    let mut stage = Stage::new(&[]);
    stage.pipeline.set_timeouts(Timeouts {
        gone_for: Duration::from_millis(GONE_FOR_MS.unsigned_abs()),
        ..Timeouts::default()
    });
    stage
}

impl Stage {
    pub(in crate::tests) fn tell(&mut self, mut has: Has, now_ms: i64) {
        let cluster = has.cluster.parse().unwrap();
        let covered = self.read_model.inspect(|model| {
            let mut connections = model.connections();
            let connection = connections.find(|(name, _)| **name == cluster);
            connection.and_then(|(_, connection)| connection.coverage.clone())
        });
        has.coverage = has.coverage.or(covered);
        self.pipeline.handle(event([has]), now_ms);
    }

    /// Everything that is listed of the application, one line each; none where it is not known.
    pub(in crate::tests) fn shop(&self) -> Option<Vec<String>> {
        let found = self
            .read_model
            .application(&ApplicationKey::Found(shop()))?;
        let mut lines = Vec::new();
        for app in &found.apps {
            for view in app.clusters() {
                for resource in view.resources().iter() {
                    let line = line(resource);
                    let stale = view.report().stale().map_or("", |_| " stale");
                    lines.push(format!("{} {} {line}{stale}", app.name(), view.cluster()));
                }
            }
        }
        Some(lines)
    }

    pub(in crate::tests) fn lines(&self) -> Vec<String> {
        self.shop().unwrap_or_default()
    }

    /// The state of the application.
    pub(in crate::tests) fn ready(&self) -> String {
        let query = kindsight_status::StatusQuery::default();
        let subject = self
            .read_model
            .visible_to(&SubjectSet::Everything)
            .dig(&shop(), &query)
            .unwrap();
        let answer = serde_json::to_value(subject.answer(&query).unwrap()).unwrap();
        answer["ready-status"].as_str().unwrap().to_owned()
    }
}

pub(super) fn line(resource: &ResourceView) -> String {
    let role = match (resource.role, resource.owner) {
        (Role::Sent, _) => "sent",
        (Role::Unsent, None) => "root",
        (Role::Unsent, Some(_)) => "child",
        (Role::Hook | Role::SentHook, _) => "hook",
        (Role::Missing, _) => "missing",
        (Role::Gone, _) => "gone",
    };
    let since_ms = resource.since_ms.unwrap();
    let (name, state, reason) = (
        &resource.name,
        &resource.verdict.state,
        &resource.verdict.reason,
    );
    format!("{role} {name} {state} {reason} {since_ms}").replace("  ", " ")
}
