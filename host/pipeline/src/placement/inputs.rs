//! The objects of a report as interpreters receive them: objects without a spec have the spec of their manifest.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{Object, ObjectList, RsyncStatus};
use kindsight_status::{Expected, match_objects};

use super::autoscalers::Autoscalers;

/// The objects of a report for interpreters, in the order of the report.
#[derive(Clone, Default)]
pub(super) struct Inputs {
    list: ObjectList,
    /// The objects without a spec, by position, each with its manifest if the manifest has been applied.
    manifests: BTreeMap<usize, Option<Object>>,
    autoscalers: Arc<Autoscalers>,
}

impl Inputs {
    /// Completes the objects of a report from the manifests that were sent. `namespace` is the namespace of manifests
    /// that name none. `autoscalers` are all autoscalers of the application in the cluster.
    pub(super) fn of(
        objects: &ObjectList,
        expected: &[Expected],
        namespace: &str,
        autoscalers: Arc<Autoscalers>,
    ) -> Self {
        let lacking = objects.iter().enumerate();
        let lacking = lacking.filter(|(_, object)| object.lacks_spec());
        let mut manifests: BTreeMap<usize, Option<Object>> =
            lacking.map(|(position, _)| (position, None)).collect();
        if !manifests.is_empty() {
            let matches = match_objects(expected, objects, namespace);
            for (expected, position) in expected.iter().zip(matches) {
                let manifest = position.and_then(|position| manifests.get_mut(&position));
                if let Some(manifest) = manifest {
                    *manifest = applied(expected);
                }
            }
        }
        let completed = manifests.iter().filter_map(|(&position, manifest)| {
            let object = objects.get(position)?;
            let scaled_by = autoscalers.of(object);
            Some((position, object.with_spec_of(manifest.as_ref(), scaled_by)))
        });
        Self {
            list: objects.with(completed),
            manifests,
            autoscalers,
        }
    }

    /// Takes later versions of the objects at these positions. Returns false if an object lost its spec: then all
    /// objects have to be completed again.
    pub(super) fn update(&mut self, objects: &ObjectList, changed: &[usize]) -> bool {
        let versions = changed
            .iter()
            .filter_map(|&at| Some((at, objects.get(at)?)));
        let is_known = |(at, object): &(usize, &Object)| {
            self.manifests.contains_key(at) || !object.lacks_spec()
        };
        if !versions.clone().all(|version| is_known(&version)) {
            return false;
        }
        let completed = versions.map(|(at, object)| {
            let manifest = self.manifests.get(&at).and_then(Option::as_ref);
            let scaled_by = self.autoscalers.of(object);
            (at, object.with_spec_of(manifest, scaled_by))
        });
        self.list = if self.manifests.is_empty() {
            objects.clone()
        } else {
            self.list.with(completed)
        };
        true
    }

    /// The objects, in the order of the report.
    pub(super) fn list(&self) -> &ObjectList {
        &self.list
    }
}

/// The manifest of a resource that the cluster has accepted. Before that, the cluster may have another spec.
pub(super) fn applied(expected: &Expected) -> Option<Object> {
    let is_applied = expected.rsync == Some(RsyncStatus::Applied);
    expected.manifest.clone().filter(|_| is_applied)
}
