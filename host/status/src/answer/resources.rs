//! Resources in an answer, built one by one while the answer is serialized.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_api::explanation::Explanation;
use kindsight_api::status::{Detail, Output, QueryType, Resource, ResourceOwner};
use serde::{Serialize, Serializer};

use crate::moment::moment;
use crate::query::StatusQuery;
use crate::resource_view::{ResourceView, Role};
use crate::view::ClusterView;

/// The selected resources of one app in one cluster; serializes as a list of [`Resource`].
#[derive(Debug, Clone)]
pub struct Resources<'a> {
    view: &'a ClusterView,
    /// Positions of the selected resources in the view; none selects all.
    positions: Option<BTreeSet<usize>>,
    kind: QueryType,
    output: Output,
    explain: bool,
}

impl<'a> Resources<'a> {
    /// All resources of the view, in the form that a query asks for.
    pub(crate) fn all(view: &'a ClusterView, query: &StatusQuery, kind: QueryType) -> Self {
        Self {
            view,
            positions: None,
            kind,
            output: query.output,
            explain: query.explain,
        }
    }

    /// The resources at these positions of the view, in the form that a query asks for.
    pub(super) fn at(
        view: &'a ClusterView,
        positions: BTreeSet<usize>,
        query: &StatusQuery,
        kind: QueryType,
    ) -> Self {
        Self {
            positions: Some(positions),
            ..Self::all(view, query, kind)
        }
    }

    /// Every resource in the form that the query asks for, but those that it leaves out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Resource<'a>> {
        self.selected().filter_map(|view| self.resource(view))
    }

    /// The app in the cluster that they are of.
    pub(crate) fn view(&self) -> &'a ClusterView {
        self.view
    }

    /// The view of every selected resource.
    pub(crate) fn selected(&self) -> impl Iterator<Item = &'a ResourceView> {
        let views = self.view.resources();
        let all = self.positions.is_none().then_some(views);
        let some = self.positions.iter().flatten();
        let some = some.filter_map(|&position| views.get(position));
        all.into_iter().flatten().chain(some)
    }

    /// Returns whether a query of this type lists the resource: one that was not sent has no rsync status.
    pub(crate) fn lists(&self, view: &ResourceView) -> bool {
        self.kind == QueryType::Cluster || view.rsync.is_some()
    }

    /// Returns whether both are of the same report, so that they tell the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.view.shares_resources_with(other.view) && self.positions == other.positions
    }

    /// One resource in the form that the query asks for; none if that form leaves it out.
    fn resource(&self, view: &'a ResourceView) -> Option<Resource<'a>> {
        match (self.output, self.kind) {
            (Output::Summary, _) => None,
            (_, QueryType::Rsync) => self.as_sent(view),
            (_, QueryType::Cluster) => Some(self.as_reported(view)),
        }
    }

    /// A resource as it was sent; none if it was not sent and only the cluster has it.
    fn as_sent(&self, view: &'a ResourceView) -> Option<Resource<'a>> {
        let manifest = view.manifest.as_ref().filter(|_| self.is_detail());
        Some(Resource {
            detail: manifest.map(|manifest| Detail::new(Arc::clone(&manifest.json))),
            rsync_status: Some(view.rsync?),
            ..Resource::new(&view.gvk, &view.name)
        })
    }

    /// A resource as the cluster reports it.
    fn as_reported(&self, view: &'a ResourceView) -> Resource<'a> {
        let object = view.object.as_ref().filter(|_| self.is_detail());
        let verdict = &view.verdict;
        Resource {
            detail: object.map(|object| Detail::new(Arc::clone(&object.json))),
            cluster_status: Some((&*verdict.state).into()),
            namespace: (&*view.namespace).into(),
            phase: Some(verdict.phase),
            reason: (&*verdict.reason).into(),
            message: (&*verdict.message).into(),
            since: view.since_ms.and_then(moment),
            expected: (!view.is_sent()).then_some(false),
            hook: matches!(view.role, Role::Hook | Role::SentHook).then_some(true),
            owner: view.owner.and_then(|owner| self.owner(owner)),
            interpreter: verdict.by.as_ref().filter(|_| self.explain).cloned(),
            explanation: (self.explain.then(|| Explanation::of(verdict))).flatten(),
            ..Resource::new(&view.gvk, &view.name)
        }
    }

    /// The resource at this position as the owner of another.
    fn owner(&self, position: usize) -> Option<ResourceOwner<'a>> {
        let owner = self.view.resources().get(position)?;
        Some(ResourceOwner {
            gvk: Cow::Borrowed(&owner.gvk),
            name: (&*owner.name).into(),
            namespace: (&*owner.namespace).into(),
        })
    }

    fn is_detail(&self) -> bool {
        self.output == Output::Detail
    }
}

impl Serialize for Resources<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
