//! The Kinds that an answer relies on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::{ClusterName, InvolvedKinds};

use super::{PastNames, Selection, check_names};
use crate::problem::QueryError;
use crate::query::StatusQuery;
use crate::resource_view::ResourceView;
use crate::subject::Subject;

impl Subject {
    /// The Kinds of the resources in the selected apps and clusters, and the Kinds of their owners. A selected
    /// resource may depend on its neighbours, so the names of resources do not matter.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for names that are not in the context.
    pub fn involved_kinds(
        &self,
        query: &StatusQuery,
    ) -> Result<BTreeMap<ClusterName, InvolvedKinds>, QueryError> {
        let mut clusters: BTreeMap<ClusterName, InvolvedKinds> = BTreeMap::new();
        let Some(context) = &self.context else {
            return Ok(clusters);
        };
        check_names(context, query, &PastNames::default())?;
        let kind = query.kind.unwrap_or(self.default_kind());
        let selection = Selection::of(query, kind, context);
        let selected = context.placements();
        let selected = selected.filter(|(app, view)| selection.selects(app, view.cluster()));
        for (_, view) in selected {
            let kinds = clusters.entry(view.cluster().clone()).or_default();
            for resource in view.resources().iter() {
                involve(resource, kinds);
            }
        }
        Ok(clusters)
    }
}

fn involve(resource: &ResourceView, kinds: &mut InvolvedKinds) {
    let mut add = |group: Option<&Arc<str>>, kind: &Arc<str>| {
        let kind = (group.map(Arc::clone), Arc::clone(kind));
        let namespaces: &mut BTreeSet<Arc<str>> = kinds.entry(kind).or_default();
        namespaces.insert(Arc::clone(&resource.namespace));
    };
    add(Some(&resource.gvk.group), &resource.gvk.kind);
    let owners = resource.object.iter().flat_map(|object| &*object.owners);
    for owner in owners {
        add(None, &owner.kind);
    }
}
