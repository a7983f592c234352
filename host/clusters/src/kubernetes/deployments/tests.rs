use kindsight_cluster_index::{Labels, MembershipRules};
use kindsight_model::{
    BundleDialect, BundleFormat, BundlePart, EncodedBundle, Gvk, Object, Origin, Report,
    encode_bundle,
};
use serde_json::{Value, json};

use super::*;
use crate::RecordedDeployment;
use crate::kubernetes::bundle_states::{self, ReadState};
use crate::kubernetes::decode::{Decoder, Detail, Item};

const APP: &str = "7-front";

struct Cluster {
    deployments: Deployments,
    shown: ShownDeployments,
    is_caught_up: bool,
    now: Instant,
}

impl Cluster {
    /// A cluster with one app of an AppContext, in namespace `web`.
    fn new(mode: ReportMode) -> Self {
        let mut deployments = Deployments::default();
        deployments.set_mode(mode);
        let mut cluster = Self {
            deployments,
            shown: ShownDeployments::default(),
            is_caught_up: true,
            now: Instant::now(),
        };
        assert!(cluster.record(&[(APP, 1)]).is_empty());
        cluster
    }

    fn record(&mut self, ids: &[(&str, u64)]) -> Vec<String> {
        let recorded = ids.iter().map(|(id, number)| {
            let recorded = RecordedDeployment {
                namespace: "web".into(),
                number: *number,
            };
            (id.parse().unwrap(), recorded)
        });
        let recorded = Arc::new(recorded.collect());
        let steps = self.deployments.record(recorded, &mut self.shown);
        steps.iter().map(|it| format!("{it:?}")).collect()
    }

    fn decoded(
        namespace: &str,
        created: &str,
        status: Option<&Value>,
        detail: Detail,
    ) -> ReadState {
        let mut state = json!({"metadata": {
            "namespace": namespace, "name": APP, "creationTimestamp": created,
            "labels": {DeploymentId::LABEL: APP},
        }});
        if let Some(status) = status {
            state["status"] = status.clone();
        }
        Self::read(&state, detail)
    }

    fn read(state: &Value, detail: Detail) -> ReadState {
        let decoder = Decoder {
            gvk: Gvk::new(bundle_states::GROUP, "v1alpha1", bundle_states::KIND),
            rules: MembershipRules::default(),
            detail,
            labels: Labels::None,
            is_metadata_enough: false,
            is_bundle_state: true,
        };
        let list = json!({"items": [state]}).to_string();
        let mut page = decoder.page(list.as_bytes()).unwrap();
        let Some(Item::BundleState(read)) = page.objects.pop() else {
            panic!("the report of a monitor");
        };
        read
    }

    /// An object of a report in several objects.
    fn take(&mut self, part: &BundlePart) {
        let mut state = part.manifest("web");
        state["status"] = serde_json::from_str(&part.status).unwrap();
        let read = Self::read(&state, Detail::Whole);
        self.deployments.states.apply(0, 1, read);
    }

    /// Removes an object of a report in several objects.
    fn lose(&mut self, part: &BundlePart) {
        let read = Self::read(&part.manifest("web"), Detail::Metadata);
        self.deployments.states.remove(0, &read);
    }

    /// The report of the app in a namespace as it is now.
    fn apply(&mut self, namespace: &str, created: &str, status: Option<&Value>) {
        let decoded = Self::decoded(namespace, created, status, Detail::Whole);
        self.deployments.states.apply(0, 1, decoded);
    }

    fn remove(&mut self, namespace: &str) {
        let decoded = Self::decoded(namespace, "", None, Detail::Metadata);
        self.deployments.states.remove(0, &decoded);
    }

    /// The steps that follow, in short.
    fn steps(&mut self) -> Vec<String> {
        self.deployments.take_wanted();
        let is_caught_up = self.is_caught_up;
        let steps = self
            .deployments
            .steps(&self.shown, self.now, |_| is_caught_up);
        let texts = steps.into_iter().map(|step| match step {
            Step::Direct(id, faults) => {
                let number = self.deployments.number(&id).unwrap();
                self.shown.insert(id, number, Shown::Direct);
                format!("direct {}", faults.join(" ")).trim().to_owned()
            }
            Step::Bundle(bundle, hash, unused) => {
                let id = bundle.deployment.clone();
                let number = self.deployments.number(&id).unwrap();
                self.shown.insert(id, number, Shown::Bundle(hash));
                let unused: Vec<String> = unused.iter().map(StateKey::origin).collect();
                format!(
                    "bundle {} {}",
                    bundle.report.objects.len(),
                    unused.join(" ")
                )
                .trim()
                .to_owned()
            }
            Step::Gone(id) => {
                self.shown.remove(&id);
                "gone".to_owned()
            }
            Step::Unreadable(id, key, error) => {
                let number = self.deployments.number(&id).unwrap();
                if self.shown.get(&id, number).is_some() {
                    self.shown.insert(id, number, Shown::Refused);
                }
                format!("unreadable {}: {error}", key.origin())
            }
            other => format!("{other:?}"),
        });
        texts.collect()
    }
}

fn pods(count: usize) -> Value {
    let pod = |at: usize| json!({"metadata": {"namespace": "web", "name": format!("pod-{at}")}});
    json!({"podStatuses": (0..count).map(pod).collect::<Vec<_>>()})
}

/// A report in several objects on this number of ConfigMaps with these data.
fn split(count: usize, data: &str) -> EncodedBundle {
    let object = |at: usize| {
        let name = format!("settings-{at}");
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": data},
            "metadata": {"name": name, "namespace": "web", "uid": name}});
        Object::from_json(object.to_string()).unwrap()
    };
    let report = Report {
        objects: (0..count).map(object).collect(),
        ..Report::empty(Origin::Direct)
    };
    let format = BundleFormat {
        dialect: BundleDialect::V22,
        bytes_max: 3000,
    };
    let encoded = encode_bundle(&APP.parse().unwrap(), &report, &format);
    assert!(!encoded.further.is_empty());
    encoded
}

#[test]
fn a_report_in_several_objects_is_used_once_all_of_them_were_read() {
    let mut cluster = Cluster::new(ReportMode::Bundles);
    let old = split(30, "old");
    cluster.take(&old.first);
    assert!(cluster.steps().is_empty());
    for part in &old.further {
        cluster.take(part);
    }
    assert_eq!(cluster.steps(), ["bundle 30"]);
    // The monitor writes the next report: further objects first.
    let new = split(40, "new");
    for part in &new.further {
        cluster.take(part);
    }
    assert_eq!(
        cluster.steps(),
        ["Unchanged(DeploymentId { context: ContextId(\"7\"), app: \"front\" })"]
    );
    let mut torn = new.first.clone();
    torn.annotations.clone_from(&old.first.annotations);
    cluster.take(&torn);
    assert!(cluster.steps().is_empty());
    cluster.take(&new.first);
    assert_eq!(cluster.steps(), ["bundle 40"]);
    for part in &old.further {
        cluster.lose(part);
    }
    assert_eq!(cluster.steps().len(), 1);
    // A change of the first object alone needs the others again.
    cluster.take(&new.first);
    assert_eq!(cluster.steps().len(), 1);
}

#[test]
fn a_report_whose_objects_do_not_belong_together_is_refused_after_a_while() {
    for (mode, refused) in [
        (
            ReportMode::Auto,
            "direct ResourceBundleState web/7-front: the report is in several objects that do not belong together: ",
        ),
        (
            ReportMode::Bundles,
            "unreadable ResourceBundleState web/7-front: the report is in several objects that do not belong together: ",
        ),
    ] {
        let mut cluster = Cluster::new(mode);
        let encoded = split(30, "old");
        for part in encoded.further.iter().chain([&encoded.first]) {
            cluster.take(part);
        }
        assert_eq!(cluster.steps(), ["bundle 30"]);
        cluster.lose(&encoded.further[0]);
        cluster.take(&encoded.first);
        assert!(cluster.steps().is_empty());
        let at = cluster.deployments.wakes_at().unwrap();
        assert_eq!(at, cluster.now + HANDOVER_MAX);
        cluster.now = at;
        let steps = cluster.steps();
        assert_eq!(steps.len(), 1);
        assert!(steps[0].starts_with(refused), "{}", steps[0]);
        assert_eq!(cluster.deployments.wakes_at(), None);
        // The missing object is written again.
        cluster.take(&encoded.further[0]);
        assert_eq!(cluster.steps(), ["bundle 30"]);
    }
}

#[test]
fn the_report_of_a_monitor_replaces_the_report_from_objects() {
    let mut cluster = Cluster::new(ReportMode::Auto);
    assert_eq!(cluster.steps(), ["direct"]);
    assert!(cluster.steps().is_empty());
    cluster.apply("web", "", Some(&pods(1)));
    assert_eq!(cluster.steps(), ["bundle 1"]);
    // An unchanged report is not sent again.
    cluster.apply("web", "", Some(&pods(1)));
    assert_eq!(
        cluster.steps(),
        [format!(
            "Unchanged({:?})",
            APP.parse::<DeploymentId>().unwrap()
        )]
    );
    cluster.apply("web", "", Some(&pods(2)));
    assert_eq!(cluster.steps(), ["bundle 2"]);
    cluster.remove("web");
    assert_eq!(cluster.steps(), ["direct"]);
}

#[test]
fn an_incomplete_report_does_not_replace_watched_objects() {
    let mut cluster = Cluster::new(ReportMode::Auto);
    assert_eq!(cluster.steps(), ["direct"]);
    cluster.is_caught_up = false;
    cluster.apply("web", "", None);
    assert_eq!(cluster.steps(), ["direct"]);
    cluster.apply("web", "", Some(&json!({})));
    assert_eq!(cluster.steps(), ["direct"]);
    cluster.is_caught_up = true;
    cluster.apply("web", "", Some(&pods(2)));
    assert_eq!(cluster.steps(), ["bundle 2"]);
    // A report that never has all objects is used after a while.
    cluster.remove("web");
    assert_eq!(cluster.steps(), ["direct"]);
    cluster.is_caught_up = false;
    cluster.apply("web", "", Some(&pods(1)));
    assert_eq!(cluster.steps(), ["direct"]);
    let at = cluster.deployments.wakes_at().unwrap();
    assert_eq!(at, cluster.now + HANDOVER_MAX);
    cluster.now = at;
    assert_eq!(cluster.steps(), ["bundle 1"]);
    assert_eq!(cluster.deployments.wakes_at(), None);
}

#[test]
fn an_unreadable_report_ends_the_wait_for_its_handover() {
    let mut cluster = Cluster::new(ReportMode::Auto);
    assert_eq!(cluster.steps(), ["direct"]);
    cluster.is_caught_up = false;
    cluster.apply("web", "", Some(&pods(1)));
    assert_eq!(cluster.steps(), ["direct"]);
    assert!(cluster.deployments.wakes_at().is_some());
    cluster.apply("web", "", Some(&json!(7)));
    assert_eq!(cluster.steps().len(), 1);
    assert_eq!(cluster.deployments.wakes_at(), None);
}

#[test]
fn a_mode_with_one_source_uses_no_other_source() {
    let mut cluster = Cluster::new(ReportMode::Bundles);
    assert!(cluster.steps().is_empty());
    cluster.apply("web", "", None);
    let refused =
        "unreadable ResourceBundleState web/7-front: the ResourceBundleState has no status yet";
    assert_eq!(cluster.steps(), [refused]);
    cluster.apply("web", "", Some(&pods(1)));
    assert_eq!(cluster.steps(), ["bundle 1"]);
    cluster.remove("web");
    assert_eq!(cluster.steps(), ["gone"]);

    let mut cluster = Cluster::new(ReportMode::Direct);
    cluster.apply("web", "", Some(&pods(1)));
    assert_eq!(cluster.steps(), ["direct"]);
}

#[test]
fn an_unreadable_report_is_a_fault_beside_watched_objects() {
    let mut cluster = Cluster::new(ReportMode::Auto);
    cluster.apply("web", "", Some(&json!(7)));
    let steps = cluster.steps();
    let expected = "direct ResourceBundleState web/7-front: not a ResourceBundleState";
    assert!(steps[0].starts_with(expected), "{steps:?}");
}

#[test]
fn the_report_in_the_own_namespace_is_used_and_then_the_newest() {
    let mut cluster = Cluster::new(ReportMode::Auto);
    cluster.apply("a", "2026-01-01T00:00:00Z", Some(&pods(1)));
    cluster.apply("b", "2026-01-02T00:00:00Z", Some(&pods(2)));
    assert_eq!(cluster.steps(), ["bundle 2 ResourceBundleState a/7-front"]);
    cluster.apply("web", "2026-01-01T00:00:00Z", Some(&pods(3)));
    let others = "bundle 3 ResourceBundleState a/7-front ResourceBundleState b/7-front";
    assert_eq!(cluster.steps(), [others]);
    // The body was dropped after the report: fetch it, and report it again without the resolved fault.
    cluster.remove("a");
    assert!(cluster.steps().is_empty());
    assert_eq!(cluster.deployments.take_wanted(), BTreeSet::from([0]));
    cluster.apply("web", "2026-01-01T00:00:00Z", Some(&pods(3)));
    assert_eq!(cluster.steps(), ["bundle 3 ResourceBundleState b/7-front"]);
}

#[test]
fn a_context_that_is_recorded_again_is_reported_again() {
    let mut cluster = Cluster::new(ReportMode::Auto);
    cluster.apply("web", "", Some(&pods(1)));
    assert_eq!(cluster.steps(), ["bundle 1"]);
    let id: DeploymentId = APP.parse().unwrap();
    assert_eq!(cluster.record(&[]), [format!("Forgotten({id:?})")]);
    assert!(cluster.steps().is_empty());
    assert!(cluster.record(&[(APP, 2)]).is_empty());
    assert!(cluster.steps().is_empty());
    assert_eq!(cluster.deployments.take_wanted(), BTreeSet::from([0]));
    cluster.apply("web", "", Some(&pods(1)));
    assert_eq!(cluster.steps(), ["bundle 1"]);
}
