//! A read model that a follower copies.

use std::fmt::Write as _;
use std::sync::Arc;

use kindsight_model::{
    ClusterName, Declared, DeclaredReason, DigName, Digest, InterpretedBy, LifecycleState, Object,
    Phase, RecordSubject, Verdict,
};
use kindsight_read_model::{ReadModel, ReadModelWriter};
use kindsight_replication::wire::Line;
use kindsight_replication::{Batch, Feed, FeedScope, Image};
use kindsight_status::{
    ActionView, AppView, ApplicationKey, ClusterOwner, ClusterView, ConnectionState,
    ConnectionView, ContextView, RecordView, Report, ResourceId, ResourceView, Role, Transition,
    TransitionCause,
};

pub(crate) const EDGE: &str = "p+edge01";
pub(crate) const FAR: &str = "p+edge02";

pub(crate) fn cluster(name: &str) -> ClusterName {
    name.parse().unwrap()
}

pub(crate) fn found(name: &str) -> DigName {
    DigName::found(name, Some("web")).unwrap()
}

pub(crate) fn key(name: &str) -> ApplicationKey {
    ApplicationKey::Found(found(name))
}

pub(crate) fn by() -> Arc<InterpretedBy> {
    let declared = Declared {
        final_states: vec!["Failed".into()],
        reasons: vec![DeclaredReason {
            name: "Slow".into(),
            summary: "It takes long".into(),
            help_url: None,
        }],
    };
    Arc::new(InterpretedBy {
        declared: Arc::new(declared),
        ..InterpretedBy::new("core".parse().unwrap(), "1.0.0", Digest::of(b"core"))
    })
}

/// A ConfigMap whose content is `content`.
pub(crate) fn resource(name: &str, content: &str, owner: Option<usize>) -> ResourceView {
    let json = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}},"data":{{"of":"{content}"}}}}"#
    );
    let object = Object::from_json(json).unwrap();
    ResourceView {
        gvk: object.gvk.clone(),
        namespace: "web".into(),
        name: name.into(),
        manifest: Some(object.clone()),
        rsync: None,
        object: Some(object),
        verdict: Verdict {
            since_ms: Some(7),
            ..Verdict::host(Phase::Ready, "Slow", "").given_by(&by())
        },
        since_ms: Some(8),
        role: Role::Unsent,
        owner,
        claims: None,
    }
}

pub(crate) fn placement(of: &str, resources: Vec<ResourceView>) -> Arc<ClusterView> {
    let report = Report::Received { stale: None };
    Arc::new(ClusterView::replicated(
        cluster(of),
        report,
        resources,
        Vec::new(),
    ))
}

pub(crate) fn context(name: &str, placements: Vec<Arc<ClusterView>>) -> ContextView {
    ContextView {
        meta: Some(found(name)),
        apps: vec![AppView::new("app".into(), placements)],
        ..ContextView::default()
    }
}

pub(crate) fn connection(fence: u64) -> ConnectionView {
    ConnectionView {
        state: ConnectionState::Connected,
        since_ms: 5,
        reason: None,
        faults: Arc::default(),
        heard_ms: Some(6),
        facts: None,
        coverage: None,
        owner: ClusterOwner {
            host: None,
            fence,
            is_remote: false,
        },
    }
}

/// Everything that answers can show of a view.
pub(crate) fn shown(view: &ContextView) -> String {
    let mut text = format!("{:?} {:?}\n", view.meta, view.faults);
    for app in &view.apps {
        for placement in app.clusters() {
            let lacking = placement.coverage().lacking();
            let lacking = lacking.map(|row| format!("{} {}", row.name(), row.coverage.state));
            let _ = writeln!(
                text,
                "{} {} {:?} {:?} {:?} {:?} {:?}",
                app.name(),
                placement.cluster(),
                placement.report(),
                placement.faults(),
                placement.unanswered(),
                lacking.collect::<Vec<_>>(),
                placement.connectivity(),
            );
            for resource in placement.resources().iter() {
                let json = |object: &Option<Object>| object.as_ref().map(|it| Arc::clone(&it.json));
                let (object, manifest) = (json(&resource.object), json(&resource.manifest));
                let ResourceView {
                    gvk,
                    name,
                    verdict,
                    since_ms,
                    role,
                    owner,
                    ..
                } = resource;
                let _ = writeln!(
                    text,
                    "  {gvk} {name} {verdict:?} {since_ms:?} {role:?} {owner:?} {object:?} {manifest:?}"
                );
            }
        }
    }
    text
}

/// A read model, a follower, and the read model that the follower publishes to.
pub(crate) struct Stage {
    pub(crate) upstream: ReadModelWriter,
    pub(crate) feed: Feed,
    pub(crate) image: Image,
    pub(crate) replica: ReadModelWriter,
}

impl Stage {
    pub(crate) fn new(upstream: ReadModelWriter) -> Self {
        let feed = Feed::new(upstream.read_model().clone(), FeedScope::Every);
        let mut image = Image::default();
        image.restart();
        Self {
            upstream,
            feed,
            image,
            replica: ReadModelWriter::default(),
        }
    }

    /// Reads lines to the end of the next batch, and publishes the batch.
    pub(crate) async fn follow(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        loop {
            let bytes = self.feed.next().await.unwrap();
            for line in bytes
                .split(|byte| *byte == b'\n')
                .filter(|it| !it.is_empty())
            {
                lines.push(serde_json::from_slice(line).unwrap());
                if let Some(batch) = self.image.take(line).unwrap() {
                    self.publish(batch);
                    return lines;
                }
            }
        }
    }

    /// Reads the lines of the next batch without its end, as if the stream broke there.
    pub(crate) async fn follow_to_cut(&mut self) {
        let bytes = self.feed.next().await.unwrap();
        let end = bytes.windows(6).position(|part| part == b"{\"end\"");
        for line in bytes[..end.unwrap()].split(|byte| *byte == b'\n') {
            if !line.is_empty() {
                assert!(self.image.take(line).unwrap().is_none());
            }
        }
    }

    fn publish(&mut self, batch: Batch) {
        for (cluster, connection) in batch.connections {
            self.replica.publish_connection(&cluster, connection);
        }
        for change in batch.applications {
            self.replica
                .publish_replicated(&change.key, change.view, change.history);
        }
        for (subject, record) in batch.records {
            self.replica.publish_record(&subject, record);
        }
        if let Some(stores) = batch.stores {
            self.replica.publish_store(stores.contexts);
        }
        for key in batch.gone {
            self.replica.remove(&key);
        }
    }

    /// Checks that both read models have the same content.
    pub(crate) fn check(&self) {
        let content = |model: &ReadModel| {
            let mut keys: Vec<ApplicationKey> = model.inspect(|snapshot| snapshot.keys().collect());
            keys.sort();
            let mut text = String::new();
            for key in keys {
                let (view, history) = model.application_history(&key);
                text += &shown(&view.unwrap());
                let _ = writeln!(
                    text,
                    "{:?}",
                    history.filter(|it| !it.transitions.is_empty())
                );
            }
            model.inspect(|snapshot| {
                let records: Vec<_> = snapshot.records().collect();
                let connections: Vec<_> = snapshot
                    .connections()
                    .map(|(name, view)| (name, view.state, view.since_ms, view.owner.fence))
                    .collect();
                let away = snapshot.store_away();
                let _ = writeln!(text, "{records:?} {connections:?} {away:?}");
            });
            text
        };
        assert_eq!(
            content(self.replica.read_model()),
            content(self.upstream.read_model())
        );
    }
}

pub(crate) fn transition(at_ms: i64) -> Transition {
    Transition {
        resource: None,
        from: None,
        to: None,
        at_ms,
        since_ms: None,
        reason: "Gone".into(),
        message: "".into(),
        by: Some(by()),
        cause: TransitionCause::Observed,
    }
}

/// A transition of a resource in a cluster.
pub(crate) fn transition_in(of: &str, at_ms: i64) -> Transition {
    let ResourceView { gvk, name, .. } = resource("a", "one", None);
    let id = ResourceId {
        app: "app".into(),
        cluster: cluster(of),
        gvk,
        namespace: "web".into(),
        name,
    };
    Transition {
        resource: Some(Arc::new(id)),
        ..transition(at_ms)
    }
}

pub(crate) fn record() -> RecordView {
    RecordView {
        profile: Some("profile".into()),
        status_context: None,
        actions: vec![ActionView {
            state: LifecycleState::Approved,
            instance: None,
            time: "2026-11-27T12:00:00Z".into(),
            revision: 1,
        }],
        is_own: true,
    }
}

pub(crate) fn filled() -> ReadModelWriter {
    let mut upstream = ReadModelWriter::default();
    upstream.publish_connection(&cluster(EDGE), Some(connection(3)));
    let edge = placement(
        EDGE,
        vec![resource("a", "one", None), resource("b", "one", Some(0))],
    );
    let far = placement(FAR, vec![resource("a", "far", None)]);
    upstream.publish(
        &key("shop"),
        context("shop", vec![edge, far]),
        vec![transition(1)],
    );
    let group = RecordSubject::Group(DigName::new("p", "c", "v1", "d").unwrap());
    upstream.publish_record(&group, Some(record()));
    upstream
}

pub(crate) fn edge_of(model: &ReadModel) -> Arc<ClusterView> {
    let view = model.application(&key("shop")).unwrap();
    Arc::clone(&view.apps[0].clusters()[0])
}
