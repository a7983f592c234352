//! Instances of ONAP's Kubernetes plugin: the label of objects that are not in memory any more.

use std::sync::Arc;

use kindsight_model::INSTANCE_LABEL;

use super::ClusterView;
use crate::resource_view::ResourceView;

impl ClusterView {
    /// The same view with the instance whose label an object had before the start. Objects do not survive a restart, so
    /// the resources of a last-known state cannot show their labels.
    #[must_use]
    pub fn with_last_instance(self, last_instance: Option<Arc<str>>) -> Self {
        Self {
            last_instance,
            ..self
        }
    }

    /// The instance whose label an object had before the start; `None` once every resource has an object.
    pub fn last_instance(&self) -> Option<&Arc<str>> {
        self.last_instance.as_ref()
    }

    /// Returns whether an object has the label of this instance, or had it before the start.
    pub fn has_instance(&self, id: &str) -> bool {
        let has_label = |resource: &ResourceView| {
            let object = resource.object.as_ref();
            object.and_then(|object| object.label(INSTANCE_LABEL)) == Some(id)
        };
        self.last_instance.as_deref() == Some(id) || self.resources().iter().any(has_label)
    }

    /// The same view as the next one after `previous`: a resource without an object may be the labelled one.
    #[must_use]
    pub(crate) fn after(self, previous: Option<&Self>) -> Self {
        let last = previous.and_then(|previous| previous.last_instance.clone());
        let lacks_object = |resource: &ResourceView| resource.object.is_none();
        let last = last.filter(|_| self.resources().iter().any(lacks_object));
        self.with_last_instance(last)
    }
}
