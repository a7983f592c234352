//! Resources in an answer. Each resource is built when it is serialized.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use kindsight_api::explanation::{Explanation, SpecSource};
use kindsight_api::status::{Detail, Output, QueryType, Resource, ResourceOwner};
use kindsight_model::{Claims, Object, SubjectSet};
use serde::{Serialize, Serializer};

use crate::moment::moment;
use crate::query::StatusQuery;
use crate::resource_view::{ResourceView, Role};
use crate::view::ClusterView;

/// The selected resources of one app in one cluster; serializes as a list of [`Resource`].
#[derive(Debug, Clone)]
pub struct Resources<'a> {
    view: &'a ClusterView,
    /// Positions of the selected resources in the view; `None` selects all.
    positions: Option<BTreeSet<usize>>,
    kind: QueryType,
    output: Output,
    explain: bool,
    /// The applications whose claims on a resource an explanation names.
    claimants: SubjectSet,
}

impl<'a> Resources<'a> {
    /// All resources of the view, in the form that a query requests.
    pub(crate) fn all(view: &'a ClusterView, query: &StatusQuery, kind: QueryType) -> Self {
        Self {
            view,
            positions: None,
            kind,
            output: query.output,
            explain: query.explain,
            claimants: SubjectSet::Nothing,
        }
    }

    /// The resources at these positions of the view, in the form that a query requests.
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

    /// Names the claims of these applications in explanations.
    pub(super) fn name_claims_of(&mut self, claimants: &SubjectSet) {
        self.claimants.clone_from(claimants);
    }

    /// The resources in the form that the query requests, without resources that this form omits.
    pub fn iter(&self) -> impl Iterator<Item = Resource<'a>> {
        self.selected().filter_map(|view| self.resource(view))
    }

    /// The view of the app in the cluster.
    pub(crate) fn view(&self) -> &'a ClusterView {
        self.view
    }

    /// The view of every selected resource.
    pub(crate) fn selected(&self) -> impl Iterator<Item = &'a ResourceView> {
        let views = self.view.resources();
        let all = self.positions.is_none().then(|| views.iter());
        let some = self.positions.iter().flatten();
        let some = some.filter_map(|&position| views.get(position));
        all.into_iter().flatten().chain(some)
    }

    /// Returns whether a query of this type lists the resource. With `type=rsync`, only resources that were
    /// sent are listed.
    pub(crate) fn lists(&self, view: &ResourceView) -> bool {
        match self.kind {
            QueryType::Rsync => view.rsync.is_some(),
            QueryType::Cluster | QueryType::All => true,
        }
    }

    /// The resources that differ from an earlier answer to the same query. `None` unless both answers have
    /// the same resources in the same order; the caller then compares resources by identity.
    ///
    /// The cost does not grow with the number of resources in the view.
    pub(crate) fn changed_since(&self, before: &Self) -> Option<Vec<Resource<'a>>> {
        let resources = self.view.resources();
        let changed = resources.changed_since(before.view.resources())?;
        if self.positions.is_some() || before.positions.is_some() {
            return None;
        }
        let forms = changed.map(|(known, now)| (before.resource(known), self.resource(now)));
        let forms = forms.filter(|(known, now)| known != now);
        let forms: Vec<Resource<'a>> = forms.filter_map(|(_, now)| now).collect();
        // With `type=rsync`, resources differ only in their names.
        let is_unique = self.kind != QueryType::Rsync && !resources.has_duplicates();
        (is_unique || forms.is_empty()).then_some(forms)
    }

    /// Returns whether both show the same report, and so are equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.view.shares_resources_with(other.view) && self.positions == other.positions
    }

    /// One resource in the form that the query requests; `None` if this form omits it.
    fn resource(&self, view: &'a ResourceView) -> Option<Resource<'a>> {
        match (self.output, self.kind) {
            (Output::Summary, _) => None,
            (_, QueryType::Rsync) => self.as_sent(view),
            (_, QueryType::Cluster) => Some(self.as_reported(view)),
            (_, QueryType::All) => Some(self.as_sent_and_reported(view)),
        }
    }

    /// The claims of several applications on a resource; `None` if the reader may see only one of them.
    fn claims(&self, view: &ResourceView) -> Option<Arc<Claims>> {
        let claims = view.claims.as_ref().filter(|_| self.explain)?;
        claims.naming_only(&self.claimants)
    }

    /// A resource with its rsync status; `None` if it was not sent.
    fn as_sent(&self, view: &'a ResourceView) -> Option<Resource<'a>> {
        Some(Resource {
            detail: self.detail(view.manifest.as_ref()),
            rsync_status: Some(view.rsync?),
            ..Resource::new(&view.gvk, &view.name)
        })
    }

    /// A resource with the state that its cluster reports.
    fn as_reported(&self, view: &'a ResourceView) -> Resource<'a> {
        let restarts = view.object.as_ref().map(|object| object.restarts);
        let verdict = &view.verdict;
        Resource {
            detail: self.detail(view.object.as_ref()),
            cluster_status: Some((&*verdict.state).into()),
            namespace: (&*view.namespace).into(),
            phase: Some(verdict.phase),
            reason: (&*verdict.reason).into(),
            message: (&*verdict.message).into(),
            since: view.since_ms.and_then(moment),
            expected: (!view.is_expected()).then_some(false),
            hook: matches!(view.role, Role::Hook | Role::SentHook).then_some(true),
            owner: view.owner.and_then(|owner| self.owner(owner)),
            restarts: restarts.and_then(NonZeroU32::new),
            interpreter: verdict.by.as_ref().filter(|_| self.explain).cloned(),
            spec: (self.explain && view.has_manifest_spec()).then_some(SpecSource::Manifest),
            claims: self.claims(view),
            explanation: (self.explain.then(|| Explanation::of(verdict))).flatten(),
            ..Resource::new(&view.gvk, &view.name)
        }
    }

    /// A resource with its rsync status, if it was sent, and with the state that its cluster reports.
    fn as_sent_and_reported(&self, view: &'a ResourceView) -> Resource<'a> {
        Resource {
            detail: self.detail(view.object.as_ref().or(view.manifest.as_ref())),
            rsync_status: view.rsync,
            ..self.as_reported(view)
        }
    }

    /// The resource at this position, in the form for an owner.
    fn owner(&self, position: usize) -> Option<ResourceOwner<'a>> {
        let owner = self.view.resources().get(position)?;
        Some(ResourceOwner {
            gvk: Cow::Borrowed(&owner.gvk),
            name: (&*owner.name).into(),
            namespace: (&*owner.namespace).into(),
        })
    }

    /// The text of an object or a manifest, if the query requests details.
    fn detail(&self, object: Option<&Object>) -> Option<Detail> {
        let object = object.filter(|_| self.output == Output::Detail);
        object.map(|object| Detail::new(Arc::clone(&object.json)))
    }
}

impl Serialize for Resources<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
