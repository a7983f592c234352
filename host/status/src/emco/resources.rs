//! Resources in EMCO's newer dialect. Each resource is built when it is serialized.

use std::sync::Arc;

use kindsight_api::emco::ResourceStatus;
use kindsight_api::status::{Detail, QueryType};
use serde::{Serialize, Serializer};

use super::ready_status;
use crate::answer::Resources;
use crate::resource_view::ResourceView;

/// The selected resources of one or more apps in a cluster; serializes as a list of [`ResourceStatus`].
#[derive(Debug, Clone)]
pub struct EmcoResources<'a> {
    parts: Vec<Resources<'a>>,
    form: Form,
}

/// The form of the resources in an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) kind: QueryType,
    /// True for the members of an answer to `status`, false for the members of an answer to `type`.
    pub(super) asks_status: bool,
    pub(super) is_detail: bool,
}

impl<'a> EmcoResources<'a> {
    pub(super) fn new(resources: Resources<'a>, form: Form) -> Self {
        Self {
            parts: vec![resources],
            form,
        }
    }

    /// Appends the resources of `other`.
    pub(super) fn append(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }
}

impl Form {
    fn resource(self, view: &ResourceView) -> ResourceStatus<'_> {
        let mut resource = ResourceStatus::new(&view.gvk, &view.name);
        match (self.kind, self.asks_status) {
            (QueryType::Rsync, false) => resource.rsync_status = view.rsync,
            (QueryType::Rsync, true) => resource.deployed_status = view.rsync,
            (QueryType::Cluster, false) => resource.cluster_status = Some(ready_status(view)),
            (QueryType::Cluster, true) => resource.ready_status = Some(ready_status(view)),
            (QueryType::All, false) => {
                resource.rsync_status = view.rsync;
                resource.cluster_status = Some(ready_status(view));
            }
            (QueryType::All, true) => {
                resource.deployed_status = view.rsync;
                resource.ready_status = Some(ready_status(view));
            }
        }
        if self.is_detail {
            // Without a reported object, the manifest is shown.
            let object = match self.kind {
                QueryType::Rsync => view.manifest.as_ref(),
                QueryType::Cluster | QueryType::All => {
                    view.object.as_ref().or(view.manifest.as_ref())
                }
            };
            resource.detail = object.map(|object| Detail::new(Arc::clone(&object.json)));
        }
        resource
    }
}

impl Serialize for EmcoResources<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let listed = self.parts.iter().flat_map(|part| {
            let selected = part.selected();
            selected.filter(|view| part.lists(view))
        });
        serializer.collect_seq(listed.map(|view| self.form.resource(view)))
    }
}
