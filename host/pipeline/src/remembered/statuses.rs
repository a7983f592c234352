//! The stored form of reported statuses without a spec. It shows after a restart whether a manifest changed since the
//! status was reported. A change of the form is another version.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId};
use kindsight_status::{ApplicationKey, ContextView, ResourceView};
use serde::{Deserialize, Serialize};

use crate::placement::{NOT_CONFIRMED, spec_mark, status_mark};

/// The statuses of one application that were reported without a spec.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StoredStatuses {
    of: String,
    /// The context that stores the reports. Earlier releases did not write it; the context itself is assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status_context: Option<String>,
    /// The resources whose changed manifests are not confirmed.
    resources: Vec<StoredStatus>,
    /// The resources whose statuses belong to their manifests. Earlier releases ignore them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    confirmed: Vec<StoredStatus>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct StoredStatus {
    app: Arc<str>,
    cluster: String,
    kind: Arc<str>,
    /// The namespace in the manifest.
    namespace: Arc<str>,
    name: Arc<str>,
    /// The mark of the status.
    status: Arc<str>,
    /// The mark of the spec that the status belongs to; none if its changed manifest is not confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spec: Option<Arc<str>>,
}

/// The statuses of each context before the start. The contexts with the same status context are together.
#[derive(Default)]
pub(crate) struct RememberedStatuses(HashMap<ContextId, HashMap<ContextId, Vec<RememberedStatus>>>);

impl RememberedStatuses {
    /// Adds the statuses of a value of the file. `None` if the name of a cluster or of a context is invalid.
    pub(super) fn add(&mut self, stored: StoredStatuses) -> Option<()> {
        let of: ContextId = stored.of.parse().ok()?;
        let status_context = match &stored.status_context {
            Some(id) => id.parse().ok()?,
            None => of.clone(),
        };
        let statuses = stored.read()?;
        self.0
            .entry(status_context)
            .or_default()
            .insert(of, statuses);
        Some(())
    }

    /// The statuses of a context. If there are none, the context may have replaced another instance of its group since
    /// then: the statuses of the contexts with the same status context.
    pub(crate) fn of(&self, id: &ContextId, status_context: &ContextId) -> Vec<&RememberedStatus> {
        let group = self.0.get(status_context);
        // An earlier release did not store the status context.
        let mut groups = [group, self.0.get(id)].into_iter().flatten();
        if let Some(own) = groups.find_map(|group| group.get(id)) {
            return own.iter().collect();
        }
        group
            .into_iter()
            .flatten()
            .flat_map(|(_, others)| others)
            .collect()
    }
}

/// A status without a spec that was reported before the start.
pub(crate) struct RememberedStatus {
    pub(crate) app: Arc<str>,
    pub(crate) cluster: ClusterName,
    pub(crate) kind: Arc<str>,
    /// The namespace in the manifest.
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
    /// The mark of the status.
    pub(crate) status: Arc<str>,
    /// The mark of the spec that the status belongs to; none if its changed manifest was not confirmed.
    pub(crate) spec: Option<Arc<str>>,
}

impl StoredStatuses {
    /// The stored form for a view. `None` if there are no such statuses.
    pub(super) fn of(key: &ApplicationKey, view: &ContextView) -> Option<Self> {
        let mut stored = Self {
            of: key.to_string(),
            status_context: view.status_context.as_ref().map(ToString::to_string),
            resources: Vec::new(),
            confirmed: Vec::new(),
        };
        for (app, placement) in view.placements() {
            let rows = placement.resources().iter();
            let statuses = rows.filter_map(|row| StoredStatus::of(app, placement.cluster(), row));
            for status in statuses {
                match status.spec {
                    Some(_) => stored.confirmed.push(status),
                    None => stored.resources.push(status),
                }
            }
        }
        let is_empty = stored.resources.is_empty() && stored.confirmed.is_empty();
        (!is_empty).then_some(stored)
    }

    /// The statuses. `None` if the name of a cluster is invalid.
    fn read(self) -> Option<Vec<RememberedStatus>> {
        let resources = self.resources.into_iter().chain(self.confirmed);
        let resources = resources.map(|stored| {
            Some(RememberedStatus {
                app: stored.app,
                cluster: stored.cluster.parse().ok()?,
                kind: stored.kind,
                namespace: stored.namespace,
                name: stored.name,
                status: stored.status,
                spec: stored.spec,
            })
        });
        resources.collect()
    }
}

impl StoredStatus {
    /// The status of a resource; none if its verdict does not depend on the spec of its manifest.
    fn of(app: &Arc<str>, cluster: &ClusterName, row: &ResourceView) -> Option<Self> {
        let verdict = &row.verdict;
        let is_unconfirmed = verdict.by.is_none() && *verdict.reason == *NOT_CONFIRMED;
        if !is_unconfirmed && !row.has_manifest_spec() {
            return None;
        }
        let manifest = row.manifest.as_ref()?;
        Some(Self {
            app: Arc::clone(app),
            cluster: cluster.to_string(),
            kind: Arc::clone(&manifest.gvk.kind),
            namespace: Arc::clone(&manifest.namespace),
            name: Arc::clone(&manifest.name),
            status: status_mark(row.object.as_ref()?)?,
            spec: (!is_unconfirmed).then(|| spec_mark(manifest)),
        })
    }
}
