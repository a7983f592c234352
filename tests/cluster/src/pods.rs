//! The behaviour of Pods: kwok Stages that simulate the kubelet.
//!
//! A Stage matches Pods by their fields and then patches their status. kwok fills in its Go
//! templates.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::options::Options;

/// The label with which a Pod selects its own behaviour. [`Behaviour::label`] lists its values.
pub const BEHAVIOUR_LABEL: &str = "kindsight.dev/pod";

/// The time between start and end of a Pod that completes.
const WORK_MILLISECONDS: u32 = 500;

/// The behaviour of a Pod after it was assigned to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// The image cannot be pulled: the Pod waits in `ImagePullBackOff`.
    ImagePullFails,
    /// The containers end repeatedly: the Pod waits in `CrashLoopBackOff`.
    CrashLoops,
    /// The containers run but never become ready.
    StaysUnready,
    /// The kubelet never reports: the status only shows that the Pod was scheduled.
    StaysSilent,
}

impl Behaviour {
    /// All behaviours.
    pub const ALL: &[Self] = &[
        Self::ImagePullFails,
        Self::CrashLoops,
        Self::StaysUnready,
        Self::StaysSilent,
    ];

    /// The value of [`BEHAVIOUR_LABEL`] for this behaviour.
    pub fn label(self) -> &'static str {
        match self {
            Self::ImagePullFails => "image-pull-fails",
            Self::CrashLoops => "crash-loops",
            Self::StaysUnready => "stays-unready",
            Self::StaysSilent => "stays-silent",
        }
    }

    /// The status of a Pod that just started, or `None` if it never gets one.
    fn status(self) -> Option<String> {
        match self {
            Self::ImagePullFails => Some(status("Pending", NOT_READY, IMAGE_PULL_BACK_OFF)),
            Self::CrashLoops => Some(status("Running", NOT_READY, CRASH_LOOP_BACK_OFF)),
            Self::StaysUnready => Some(status("Running", NOT_READY, RUNNING_UNREADY)),
            Self::StaysSilent => None,
        }
    }
}

/// The kwok configuration of a cluster: JSON documents, which are also valid YAML.
pub(crate) fn stages(options: &Options) -> String {
    let own = Behaviour::ALL
        .iter()
        .map(|behaviour| (BEHAVIOUR_LABEL, behaviour.label(), *behaviour));
    let given = options.behaviours.iter();
    let rules: Vec<_> = given
        .map(|(label, value, behaviour)| (label.as_str(), value.as_str(), *behaviour))
        .chain(own)
        .collect();
    let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (label, value, _) in &rules {
        others.entry(label).or_default().push(value);
    }
    let others = others
        .iter()
        .map(|(label, values)| matches(label, "NotIn", values));
    let runs = status("Running", READY, RUNNING);
    let mut stages = vec![
        patch("pod-runs", &starts(others), &runs, 0),
        patch("pod-completes", &completes(), COMPLETED, WORK_MILLISECONDS),
        deletion(),
    ];
    for (number, (label, value, behaviour)) in rules.iter().enumerate() {
        let name = format!("pod-{}-{number}", behaviour.label());
        let when = starts([matches(label, "In", &[value])]);
        stages.extend(
            behaviour
                .status()
                .map(|status| patch(&name, &when, &status, 0)),
        );
    }
    let stages: Vec<String> = stages.iter().map(Value::to_string).collect();
    stages.join("\n---\n")
}

fn matches(label: &str, operator: &str, values: &[&str]) -> Value {
    let key = format!(".metadata.labels[{}]", Value::from(label));
    json!({"key": key, "operator": operator, "values": values})
}

/// Matches Pods without an address, for which the kubelet has not reported yet.
fn starts(more: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut when = vec![
        json!({"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}),
        json!({"key": ".status.podIP", "operator": "DoesNotExist"}),
    ];
    when.extend(more);
    when
}

/// Matches Pods of Jobs that complete their work.
fn completes() -> Vec<Value> {
    vec![
        json!({"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}),
        json!({"key": ".metadata.ownerReferences.[].kind", "operator": "In", "values": ["Job"]}),
        json!({
            "key": r#".status.conditions.[] | select(.type == "Ready") | .status"#,
            "operator": "In",
            "values": ["True"],
        }),
    ]
}

fn patch(name: &str, when: &[Value], status: &str, delay_milliseconds: u32) -> Value {
    let patch = json!({"subresource": "status", "root": "status", "template": status});
    stage(name, when, delay_milliseconds, &json!({"patches": [patch]}))
}

/// The Job controller removes the finalizer of a Job's Pods itself. The kubelet only deletes.
fn deletion() -> Value {
    let when = vec![json!({"key": ".metadata.deletionTimestamp", "operator": "Exists"})];
    stage("pod-goes", &when, 0, &json!({"delete": true}))
}

fn stage(name: &str, when: &[Value], delay_milliseconds: u32, next: &Value) -> Value {
    json!({
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": when},
            "delay": {"durationMilliseconds": delay_milliseconds},
            "next": next,
        },
    })
}

/// The status of a Pod whose containers are all in the same state.
fn status(phase: &str, ready: &str, container: &str) -> String {
    STARTED
        .replace("$phase", phase)
        .replace("$ready", ready)
        .replace("$container", container)
}

const STARTED: &str = r#"
phase: $phase
observedGeneration: {{ .metadata.generation }}
startTime: {{ Now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace | Quote }}
conditions:
- {type: PodReadyToStartContainers, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: Initialized, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: Ready, $ready, lastTransitionTime: {{ Now | Quote }}}
- {type: ContainersReady, $ready, lastTransitionTime: {{ Now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  $container
{{ end }}
"#;

const READY: &str = r#"status: "True""#;

const NOT_READY: &str = concat!(
    r#"status: "False", reason: ContainersNotReady, "#,
    "message: 'containers with unready status: [{{ (index .spec.containers 0).name }}]'"
);

const RUNNING: &str = "ready: true
  started: true
  restartCount: 0
  lastState: {}
  state: {running: {startedAt: {{ Now | Quote }}}}";

const RUNNING_UNREADY: &str = "ready: false
  started: true
  restartCount: 0
  lastState: {}
  state: {running: {startedAt: {{ Now | Quote }}}}";

const IMAGE_PULL_BACK_OFF: &str = r#"ready: false
  started: false
  restartCount: 0
  lastState: {}
  state:
    waiting:
      reason: ImagePullBackOff
      message: 'Back-off pulling image "{{ .image }}": ErrImagePull: {{ .image }}: not found'"#;

const CRASH_LOOP_BACK_OFF: &str = "ready: false
  started: false
  restartCount: 5
  lastState: {terminated: {exitCode: 1, reason: Error, finishedAt: {{ Now | Quote }}}}
  state:
    waiting:
      reason: CrashLoopBackOff
      message: back-off 2m40s restarting failed container={{ .name }}";

const COMPLETED: &str = r#"
phase: Succeeded
conditions:
- {type: PodReadyToStartContainers, status: "False", lastTransitionTime: {{ Now | Quote }}}
- {type: Initialized, status: "True", reason: PodCompleted, lastTransitionTime: {{ Now | Quote }}}
- {type: Ready, status: "False", reason: PodCompleted, lastTransitionTime: {{ Now | Quote }}}
- {type: ContainersReady, status: "False", reason: PodCompleted, lastTransitionTime: {{ Now | Quote }}}
containerStatuses:
{{ range .status.containerStatuses }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  lastState: {}
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ .state.running.startedAt | Quote }}
      finishedAt: {{ Now | Quote }}
{{ end }}
"#;
