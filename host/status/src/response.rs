//! What an answer looks like on the wire.
//!
//! Members, their names and their order are those of the specification; what is beside them is ours:
//! `message` and `faults`, what begins with `ready-`, `stale-since`, and on a resource everything
//! from `namespace` on. Everything borrows from the views, and is written as it is visited.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{Gvk, InterpretedBy, Phase};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

mod json;
mod readiness;

pub use json::{Detail, Moment};
pub use readiness::{Readiness, Reason};

/// How many faults of a context or a cluster are shown; the first ones.
pub const FAULTS_SHOWN_MAX: usize = 20;

/// The answer to a status query.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer<'a> {
    /// How it fares.
    Status(Box<Status<'a>>),
    /// Which instances there are.
    Instances(Instances<'a>),
}

/// Which instances there are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Instances<'a> {
    /// The deployment intent group, or the cluster as `provider+name`.
    pub name: Cow<'a, str>,
    #[serde(flatten)]
    pub(crate) app: CompositeApp<'a>,
    /// The ids of their contexts, oldest first.
    pub instances: Vec<&'a str>,
}

/// What a deployment intent group is part of; empty for a cluster.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CompositeApp<'a> {
    pub(crate) project: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) version: Option<&'a str>,
    pub(crate) profile: Option<&'a str>,
}

impl Serialize for CompositeApp<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = [
            ("project", self.project),
            ("composite-app-name", self.name),
            ("composite-app-version", self.version),
            ("composite-profile-name", self.profile),
        ];
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in members {
            if let Some(value) = value {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// How a deployment intent group or a cluster fares.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Status<'a> {
    #[serde(flatten)]
    pub(crate) app: CompositeApp<'a>,
    /// The deployment intent group, or the cluster as `provider+name`.
    pub name: Cow<'a, str>,
    /// What was done to it.
    pub state: State<'a>,
    /// The status of the `AppContext`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'a str>,
    /// Why there is no more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Selected resources by what happened when they were sent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rsync_status: BTreeMap<&'static str, u32>,
    /// Selected resources by state.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cluster_status: BTreeMap<&'a str, u32>,
    /// How the selected resources fare together.
    #[serde(flatten)]
    pub readiness: Option<Readiness<'a>>,
    /// What could not be read of the `AppContext`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub faults: &'a [Arc<str>],
    /// The apps with selected resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apps: Vec<App<'a>>,
}

/// What was done to it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct State<'a> {
    /// Oldest first.
    pub actions: Vec<Action<'a>>,
}

/// One thing that was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Action<'a> {
    /// What it led to.
    pub state: &'a str,
    /// The context it concerned; empty for none.
    pub context_id: &'a str,
    /// When, in RFC 3339.
    pub time_stamp: &'a str,
}

/// One app.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct App<'a> {
    /// Its name.
    pub name: &'a str,
    /// How its selected resources fare together.
    #[serde(flatten)]
    pub readiness: Option<Readiness<'a>>,
    /// The clusters with selected resources.
    pub clusters: Vec<Cluster<'a>>,
}

/// One app in one cluster.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Cluster<'a> {
    /// Who runs it.
    pub cluster_provider: &'a str,
    /// Its name at that provider.
    pub cluster: &'a str,
    /// How the selected resources fare together.
    #[serde(flatten)]
    pub readiness: Option<Readiness<'a>>,
    /// What could not be read of the cluster's report.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub faults: &'a [Arc<str>],
    /// The selected resources.
    pub resources: Vec<Resource<'a>>,
}

/// One resource.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Resource<'a> {
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: &'a Gvk,
    /// Its name.
    pub name: &'a str,
    /// With `output=detail`: what was sent, or with `type=cluster` what is there. Never what a
    /// Secret holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// With `type=rsync`: what happened when it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rsync_status: Option<&'static str>,
    /// With `type=cluster`: its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_status: Option<&'a str>,
    /// What else is known with `type=cluster`.
    #[serde(flatten)]
    pub condition: Option<Condition<'a>>,
}

/// What is said of a resource beside its state.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Condition<'a> {
    /// Its namespace, if it has one.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub namespace: &'a str,
    /// The phase its state belongs to.
    pub phase: Phase,
    /// Why, in one word.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'a str,
    /// Why, for people.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub message: &'a str,
    /// Since when it is in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Moment>,
    /// `false` for what only the cluster has; otherwise left out.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub expected: bool,
    /// With `explain=true`: who said so; left out if the host itself did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<&'a InterpretedBy>,
}
