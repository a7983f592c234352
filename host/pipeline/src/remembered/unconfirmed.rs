//! The stored form of resources whose changed manifests are not confirmed. A change of it is another version.

use std::sync::Arc;

use kindsight_model::ClusterName;
use kindsight_status::{ApplicationKey, ContextView, ResourceView};
use serde::{Deserialize, Serialize};

use crate::placement::{NOT_CONFIRMED, status_mark};

/// The resources of an application whose changed manifests are not confirmed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StoredUnconfirmed {
    pub(super) of: String,
    resources: Vec<StoredWait>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct StoredWait {
    app: Arc<str>,
    cluster: String,
    kind: Arc<str>,
    /// The namespace in the manifest.
    namespace: Arc<str>,
    name: Arc<str>,
    /// The mark of the status.
    status: Arc<str>,
}

/// A resource whose changed manifest was not confirmed before the start.
pub(crate) struct Unconfirmed {
    pub(crate) app: Arc<str>,
    pub(crate) cluster: ClusterName,
    pub(crate) kind: Arc<str>,
    /// The namespace in the manifest.
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
    /// The mark of the status before the change of the manifest.
    pub(crate) status: Arc<str>,
}

impl StoredUnconfirmed {
    /// The stored form for a view. `None` if no resource waits.
    pub(super) fn of(key: &ApplicationKey, view: &ContextView) -> Option<Self> {
        let placements = view.apps.iter().flat_map(|app| {
            let clusters = app.clusters.iter();
            clusters.map(move |cluster| (&app.name, cluster))
        });
        let waits = placements.flat_map(|(app, placement)| {
            let resources = placement.resources().iter();
            resources.filter_map(|row| StoredWait::of(app, placement.cluster(), row))
        });
        let resources: Vec<StoredWait> = waits.collect();
        (!resources.is_empty()).then(|| Self {
            of: key.to_string(),
            resources,
        })
    }

    /// The resources. `None` if the name of a cluster is invalid.
    pub(super) fn read(self) -> Option<Vec<Unconfirmed>> {
        let resources = self.resources.into_iter().map(|stored| {
            Some(Unconfirmed {
                app: stored.app,
                cluster: stored.cluster.parse().ok()?,
                kind: stored.kind,
                namespace: stored.namespace,
                name: stored.name,
                status: stored.status,
            })
        });
        resources.collect()
    }
}

impl StoredWait {
    fn of(app: &Arc<str>, cluster: &ClusterName, row: &ResourceView) -> Option<Self> {
        let verdict = &row.verdict;
        if verdict.by.is_some() || *verdict.reason != *NOT_CONFIRMED {
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
        })
    }
}
