//! Test data: the virtual firewall of the goldens.

use std::sync::Arc;

use kindsight_model::{
    ClusterName, ContextId, Declared, DeclaredReason, DigName, Digest, Gvk, InterpretedBy,
    LogicalCloudName, Object, Phase, RecordSubject, RsyncStatus, SubjectSet, Verdict,
};
use serde_json::json;

use crate::{
    ActionView, AppView, ApplicationKey, ClusterInput, ClusterView, ContextView, Expected,
    LastKnown, RecordView, Reported, Snapshot, StatusQuery, Unseen, Why, project,
};

pub(crate) const FIRST: &str = "2621114006130701074";
pub(crate) const SECOND: &str = "2755581958183303505";
/// 2020-08-21T05:40:00Z.
pub(crate) const NOW_MS: i64 = 1_597_988_400_000;

/// `apiVersion`, Kind and name.
type Sent = (&'static str, &'static str, &'static str);

const APPS: [(&str, &[Sent]); 3] = [
    (
        "packetgen",
        &[
            ("apps/v1", "Deployment", "fw0-packetgen"),
            ("v1", "Service", "packetgen-service"),
        ],
    ),
    ("firewall", &[("apps/v1", "Deployment", "fw0-firewall")]),
    (
        "sink",
        &[
            ("apps/v1", "Deployment", "fw0-sink"),
            ("v1", "ConfigMap", "sink-configmap"),
            ("v1", "Service", "sink-service"),
        ],
    ),
];

pub(crate) fn id(text: &str) -> ContextId {
    text.parse().unwrap()
}

pub(crate) fn cluster(name: &str) -> ClusterName {
    ClusterName::new("vfw-cluster-provider", name).unwrap()
}

pub(crate) fn vfw() -> DigName {
    DigName::new(
        "testvfw",
        "compositevfw",
        "v1",
        "vfw_deployment_intent_group",
    )
    .unwrap()
}

pub(crate) fn object(api_version: &str, kind: &str, namespace: &str, name: &str) -> Object {
    let namespace = match namespace {
        "" => String::new(),
        namespace => format!(r#""namespace":"{namespace}","#),
    };
    let json = format!(
        r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{{namespace}"name":"{name}"}}}}"#
    );
    Object::from_json(json).unwrap()
}

/// An object of version `v1`. Owners are given as Kind, name and uid. Empty parts are omitted.
pub(crate) fn owned(
    (kind, namespace, name, uid): (&str, &str, &str, &str),
    owners: &[(&str, &str, &str)],
) -> Object {
    let owners = owners
        .iter()
        .map(|(kind, name, uid)| json!({"kind": kind, "name": name, "uid": uid}));
    let owners: Vec<_> = owners.collect();
    let mut metadata = json!({"name": name, "uid": uid, "ownerReferences": owners});
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    let object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
    Object::from_json(object.to_string()).unwrap()
}

pub(crate) fn expected(api_version: &str, kind: &str, name: &str) -> Expected {
    let manifest = object(api_version, kind, "", name);
    Expected::new(manifest, Some(RsyncStatus::Applied))
}

pub(crate) fn verdict(phase: Phase, reason: &str, message: &str) -> Verdict {
    Verdict::host(phase, reason, message)
}

pub(crate) fn observed(object: Object, verdict: Verdict) -> (Object, Verdict) {
    let group = match &*object.gvk.group {
        "" => "core",
        group => group,
    };
    let declared = Declared {
        final_states: vec!["Failed".into()],
        reasons: vec![DeclaredReason {
            name: "Evicted".into(),
            summary: "Its node ran out of a resource".into(),
            help_url: Some("https://example.com/evicted".into()),
        }],
    };
    let by = InterpretedBy {
        declared: Arc::new(declared),
        ..InterpretedBy::new(
            group.parse().unwrap(),
            "1.0.0",
            Digest::of(group.as_bytes()),
        )
    };
    (object, verdict.given_by(&Arc::new(by)))
}

pub(crate) fn input(name: &str, expected: Vec<Expected>) -> ClusterInput {
    ClusterInput {
        cluster: cluster(name),
        namespace: "default".into(),
        expected,
        reported: None,
        unseen: Vec::new(),
        faults: Vec::new(),
    }
}

pub(crate) fn report(input: &mut ClusterInput, observed: Vec<(Object, Verdict)>) {
    let (objects, verdicts) = observed.into_iter().unzip::<_, _, Vec<_>, _>();
    input.reported = Some(Reported {
        objects: objects.into(),
        verdicts,
        ..Reported::default()
    });
}

pub(crate) fn projected(input: ClusterInput) -> Arc<ClusterView> {
    Arc::new(project(input, None, NOW_MS))
}

pub(crate) fn app(name: &str, clusters: Vec<Arc<ClusterView>>) -> Arc<AppView> {
    AppView::new(name.into(), clusters)
}

pub(crate) fn context(id_text: &str, status: &str, apps: Vec<Arc<AppView>>) -> ContextView {
    ContextView {
        id: Some(id(id_text)),
        meta: Some(vfw()),
        status: Some(status.into()),
        apps,
        ..ContextView::default()
    }
}

/// The apps of the firewall, sent to these clusters with this result.
pub(crate) fn vfw_apps(clusters: &[&str], rsync: RsyncStatus) -> Vec<Arc<AppView>> {
    let views = APPS.iter().map(|(name, resources)| {
        let sent = || {
            let one = |&(api_version, kind, name): &Sent| Expected {
                rsync: Some(rsync),
                ..expected(api_version, kind, name)
            };
            resources.iter().map(one).collect()
        };
        let on = clusters
            .iter()
            .map(|cluster| projected(input(cluster, sent())));
        app(name, on.collect())
    });
    views.collect()
}

pub(crate) fn record(profile: Option<&str>, actions: &[(&str, &str, &str)]) -> RecordView {
    let actions = actions.iter().map(|&(state, instance, time)| ActionView {
        state: serde_json::from_value(state.into()).unwrap(),
        instance: (!instance.is_empty()).then(|| id(instance)),
        time: time.into(),
        revision: 0,
    });
    RecordView {
        profile: profile.map(Arc::from),
        actions: actions.collect(),
        ..RecordView::default()
    }
}

/// The record of the firewall: instantiated, terminated and instantiated again.
pub(crate) fn vfw_record() -> RecordView {
    record(
        Some("vfw_composite-profile"),
        &[
            ("Created", "", "2020-08-21T05:36:54.186Z"),
            ("Approved", "", "2020-08-21T05:37:28.748Z"),
            ("Instantiated", FIRST, "2020-08-21T05:37:28.947Z"),
            ("Terminated", FIRST, "2020-08-21T05:38:51.061Z"),
            ("Approved", "", "2020-08-21T05:39:34.436Z"),
            ("Instantiated", SECOND, "2020-08-21T05:39:34.64Z"),
        ],
    )
}

/// Setters that take views and records by value.
impl Snapshot {
    pub(crate) fn set_context(&mut self, id: &ContextId, view: Option<ContextView>) {
        self.set_application(&ApplicationKey::Context(id.clone()), view.map(Arc::new));
    }

    pub(crate) fn set_found(&mut self, name: &DigName, view: Option<ContextView>) {
        self.set_application(&ApplicationKey::Found(name.clone()), view.map(Arc::new));
    }

    pub(crate) fn set_group(&mut self, name: &DigName, record: Option<RecordView>) {
        self.set_record(&RecordSubject::Group(name.clone()), record.map(Arc::new));
    }

    pub(crate) fn set_cluster(&mut self, name: &ClusterName, record: Option<RecordView>) {
        self.set_record(&RecordSubject::Cluster(name.clone()), record.map(Arc::new));
    }

    pub(crate) fn set_logical_cloud(
        &mut self,
        name: &LogicalCloudName,
        record: Option<RecordView>,
    ) {
        let subject = RecordSubject::LogicalCloud(name.clone());
        self.set_record(&subject, record.map(Arc::new));
    }
}

/// A snapshot with one group.
pub(crate) fn snapshot(dig: &DigName, record: RecordView, contexts: Vec<ContextView>) -> Snapshot {
    let mut snapshot = Snapshot::default();
    snapshot.set_group(dig, Some(record));
    for context in contexts {
        snapshot.set_context(&context.id.clone().unwrap(), Some(context));
    }
    snapshot
}

/// A snapshot with the firewall, reduced to these apps.
pub(crate) fn vfw_snapshot(apps: Vec<Arc<AppView>>) -> Snapshot {
    snapshot(
        &vfw(),
        vfw_record(),
        vec![context(SECOND, "Instantiated", apps)],
    )
}

pub(crate) fn query(text: &[(&str, &str)]) -> StatusQuery {
    StatusQuery::parse(text.iter().copied()).unwrap()
}

/// The answer about a group as JSON.
pub(crate) fn ask(snapshot: &Snapshot, dig: &DigName, text: &[(&str, &str)]) -> serde_json::Value {
    let query = query(text);
    let subject = snapshot
        .visible_to(&SubjectSet::Everything)
        .dig(dig, &query)
        .unwrap();
    serde_json::to_value(subject.answer(&query).unwrap()).unwrap()
}

/// A Kind of the core group, version `v1`.
pub(crate) fn core(kind: &str) -> Gvk {
    Gvk::new("", "v1", kind)
}

/// An object that has not existed since `since_ms`.
pub(crate) fn removed(object: &Object, since_ms: i64) -> Unseen {
    Unseen {
        last: LastKnown {
            gvk: object.gvk.clone(),
            namespace: Arc::clone(&object.namespace),
            name: Arc::clone(&object.name),
            object: Some(object.clone()),
        },
        why: Why::Gone(since_ms),
        owner: None,
        is_hook: false,
    }
}
