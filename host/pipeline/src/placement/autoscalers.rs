//! Objects of an application that set the number of replicas of other objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::{Object, ScaleTarget};

use super::Placement;
use super::held_report::HeldReport;

/// Autoscalers of one application in one cluster, by the Kind and the name of their targets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Autoscalers(BTreeMap<(Arc<str>, Arc<str>), BTreeSet<Autoscaler>>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Autoscaler {
    /// Its Kind and its name.
    name: Arc<str>,
    namespace: Arc<str>,
    target: ScaleTarget,
}

impl Autoscalers {
    /// Adds an object if it is an autoscaler. An empty namespace is not known.
    pub(super) fn add(&mut self, object: &Object, namespace: &str) {
        let Some(target) = object.scale_target() else {
            return;
        };
        let key = (Arc::clone(&target.kind), Arc::clone(&target.name));
        let autoscaler = Autoscaler {
            name: format!("{}/{}", object.gvk.kind, object.name).into(),
            namespace: namespace.into(),
            target,
        };
        self.0.entry(key).or_default().insert(autoscaler);
    }

    /// Adds the autoscalers of another app.
    pub(crate) fn extend(&mut self, other: &Self) {
        for (target, autoscalers) in &other.0 {
            let known = self.0.entry(target.clone()).or_default();
            known.extend(autoscalers.iter().cloned());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The Kind and the name of the autoscaler that sets the replicas of an object. The first one by name if there are
    /// several.
    pub(super) fn of(&self, object: &Object) -> Option<&str> {
        let key = (Arc::clone(&object.gvk.kind), Arc::clone(&object.name));
        let mut autoscalers = self.0.get(&key)?.iter();
        let found = autoscalers.find(|autoscaler| {
            let namespaces = [&autoscaler.namespace, &object.namespace];
            let is_unknown = namespaces.iter().any(|namespace| namespace.is_empty());
            let is_same = is_unknown || autoscaler.namespace == object.namespace;
            is_same && autoscaler.target.is(object)
        });
        found.map(|autoscaler| &*autoscaler.name)
    }
}

impl Placement {
    /// The autoscalers of this app: manifests that were applied, and reported objects.
    pub(crate) fn own_autoscalers(&self) -> impl Iterator<Item = &Autoscalers> {
        let reported = self.report.as_ref().map(HeldReport::autoscalers);
        let all = self
            .desired
            .applied_autoscalers()
            .into_iter()
            .chain(reported);
        all.filter(|autoscalers| !autoscalers.is_empty())
    }

    /// The autoscalers of this app, and whether this app has manifests that autoscalers can target. If this changes, the
    /// application shares its autoscalers again.
    pub(crate) fn scaling(&self) -> (Vec<Autoscalers>, bool) {
        let has_manifests = self.desired.autoscalers().is_some();
        (self.own_autoscalers().cloned().collect(), has_manifests)
    }

    /// Returns whether these autoscalers of the application are the known ones. True for a found application, which has
    /// no manifests.
    pub(crate) fn knows_autoscalers(&self, autoscalers: &Autoscalers) -> bool {
        let known = self.desired.autoscalers();
        known.is_none_or(|known| **known == *autoscalers)
    }
}
