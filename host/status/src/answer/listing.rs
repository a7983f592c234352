//! Lists of names, for both dialects.

use std::borrow::Cow;
use std::sync::Arc;

use kindsight_api::status::{
    ClustersOfApp, Listing, NameList, NamedCluster, Names, QueryType, ResourceName, ResourcesOfApp,
};
use kindsight_model::ClusterName;
use serde::{Serialize, Serializer};

use super::resources::Resources;
use super::selection::Selection;
use super::{PastNames, check_names};
use crate::problem::QueryError;
use crate::query::StatusQuery;
use crate::rollup::Desired;
use crate::subject::Subject;
use crate::view::{AppView, ContextView};

/// The requested list of names, in the types of one dialect.
macro_rules! name_list {
    ($listed:ident, $listing:ident, $list:ident, $clusters:ident, $cluster:ident, $resources:ident) => {
        match $listing {
            Listing::Apps => $list::Apps($listed.apps()),
            Listing::Clusters => $list::ClustersByApp($listed.clusters(
                |cluster| $cluster {
                    cluster_provider: (&*cluster.provider).into(),
                    cluster: (&*cluster.name).into(),
                },
                |app, clusters| $clusters {
                    app: app.into(),
                    clusters,
                },
            )),
            Listing::Resources => {
                $list::ResourcesByApp($listed.resources(|app, cluster, resources| $resources {
                    app: app.into(),
                    cluster_provider: (&*cluster.provider).into(),
                    cluster: (&*cluster.name).into(),
                    resources,
                }))
            }
        }
    };
}

pub(crate) use name_list;

/// The resources of one app in one cluster; serializes as a list of [`ResourceName`].
#[derive(Debug, Clone)]
pub struct ListedNames<'a>(Resources<'a>);

impl Serialize for ListedNames<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let listed = self.0.selected().filter(|view| self.0.lists(view));
        serializer.collect_seq(listed.map(|view| ResourceName {
            name: (&*view.name).into(),
            gvk: Cow::Borrowed(&view.gvk),
        }))
    }
}

/// The lists of names that a query selects from one context. Without a context, the lists are empty.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a, 'q> {
    context: Option<&'a ContextView>,
    /// The query that selects apps and clusters.
    query: &'q StatusQuery,
    kind: QueryType,
}

impl<'a, 'q> Listed<'a, 'q> {
    /// The names of all apps.
    pub(crate) fn apps(self) -> Vec<Cow<'a, str>> {
        let apps = self.context.iter().flat_map(|context| &context.apps);
        apps.map(|app| (&**app.name()).into()).collect()
    }

    /// The clusters of each selected app.
    pub(crate) fn clusters<C, A>(
        self,
        cluster: impl Fn(&'a ClusterName) -> C,
        app: impl Fn(&'a str, Vec<C>) -> A,
    ) -> Vec<A> {
        let of_app = |view: &'a Arc<AppView>| {
            let clusters = view.clusters().iter();
            let clusters = clusters.map(|placement| cluster(placement.cluster()));
            app(view.name(), clusters.collect())
        };
        self.selected().map(of_app).collect()
    }

    /// The resources of each selected app in each selected cluster.
    pub(crate) fn resources<A>(
        self,
        of: impl Fn(&'a str, &'a ClusterName, ListedNames<'a>) -> A,
    ) -> Vec<A> {
        let mut listed = Vec::new();
        for app in self.selected() {
            let views = app.clusters().iter();
            let views = views.filter(|view| self.selection().selects_cluster(view.cluster()));
            listed.extend(views.map(|view| {
                let resources = Resources::all(view, self.query, self.kind);
                of(app.name(), view.cluster(), ListedNames(resources))
            }));
        }
        listed
    }

    fn selected(self) -> impl Iterator<Item = &'a Arc<AppView>> + use<'a, 'q> {
        let apps = self.context.into_iter().flat_map(|context| &context.apps);
        apps.filter(move |app| self.selection().selects_app(app.name()))
    }

    fn selection(self) -> Selection<'q> {
        Selection {
            query: self.query,
            kind: self.kind,
            desired: Desired::Present,
        }
    }
}

impl Subject {
    /// The lists of names that `query` can request.
    pub(crate) fn listed<'q>(&self, query: &'q StatusQuery) -> Listed<'_, 'q> {
        Listed {
            context: self.context.as_deref(),
            query,
            kind: query.kind.unwrap_or(self.default_kind()),
        }
    }

    /// The names that `query` requests.
    pub(super) fn names(
        &self,
        listing: Listing,
        query: &StatusQuery,
    ) -> Result<Names<'_, ListedNames<'_>>, QueryError> {
        if let Some(context) = &self.context {
            check_names(context, query, &PastNames::default())?;
        }
        let listed = self.listed(query);
        let list = name_list!(
            listed,
            listing,
            NameList,
            ClustersOfApp,
            NamedCluster,
            ResourcesOfApp
        );
        Ok(Names {
            app: self.composite_app(),
            name: self.name(),
            list,
        })
    }
}
