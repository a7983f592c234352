//! Finds the last state of resources that were sent.

use kindsight_model::Coverage;

use super::Expected;
use crate::map::{Map, map_for};
use crate::resource_view::ResourceView;
use crate::view::ClusterView;

/// Group, Kind, namespace and name of a manifest. A resource without a readable manifest has no group.
type Manifest<'a> = (Option<&'a str>, &'a str, &'a str, &'a str);

/// The resources of the last view that were sent, by manifest. Empty if the coverage is complete, because
/// then no resource keeps its last verdict.
pub(super) struct LastSent<'v>(Map<Manifest<'v>, &'v ResourceView>);

impl<'v> LastSent<'v> {
    pub(super) fn of(previous: Option<&'v ClusterView>, coverage: &Coverage) -> Self {
        let previous = previous.filter(|_| !coverage.is_complete());
        let resources = previous
            .into_iter()
            .flat_map(|view| view.resources().iter());
        let sent = resources.filter(|resource| resource.is_sent());
        let mut by_manifest = map_for(0);
        by_manifest.extend(sent.map(|resource| (manifest(resource), resource)));
        Self(by_manifest)
    }

    /// The last state of an expected resource.
    pub(super) fn of_expected(&self, expected: &Expected) -> Option<&'v ResourceView> {
        let group = expected.manifest.as_ref().map(|_| &*expected.gvk.group);
        let key = (
            group,
            &*expected.gvk.kind,
            &*expected.namespace,
            &*expected.name,
        );
        self.0.get(&key).copied()
    }
}

fn manifest(resource: &ResourceView) -> Manifest<'_> {
    let group = resource
        .manifest
        .as_ref()
        .map(|manifest| &*manifest.gvk.group);
    let namespace = resource
        .manifest
        .as_ref()
        .map_or("", |manifest| &manifest.namespace);
    (group, &resource.gvk.kind, namespace, &resource.name)
}
