//! Lists of names, for either dialect.

use std::borrow::Cow;

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
use crate::read_model::Subject;
use crate::rollup::Desired;
use crate::view::{AppView, ContextView};

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

/// The lists of names of one context, as a query selects them. A context that is not there has none.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a, 'q> {
    pub(crate) context: Option<&'a ContextView>,
    /// The apps and clusters that are asked for.
    pub(crate) query: &'q StatusQuery,
    pub(crate) kind: QueryType,
}

impl<'a, 'q> Listed<'a, 'q> {
    /// The names of all apps.
    pub(crate) fn apps(self) -> Vec<Cow<'a, str>> {
        let apps = self.context.iter().flat_map(|context| &context.apps);
        apps.map(|app| (&*app.name).into()).collect()
    }

    /// The clusters of each selected app.
    pub(crate) fn clusters<C, A>(
        self,
        cluster: impl Fn(&'a ClusterName) -> C,
        app: impl Fn(&'a str, Vec<C>) -> A,
    ) -> Vec<A> {
        let of_app = |view: &'a AppView| {
            let clusters = view.clusters.iter().map(|it| cluster(it.cluster()));
            app(&view.name, clusters.collect())
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
            let views = app.clusters.iter();
            let views = views.filter(|view| self.selection().selects_cluster(view.cluster()));
            listed.extend(views.map(|view| {
                let resources = Resources::all(view, self.query, self.kind);
                of(&app.name, view.cluster(), ListedNames(resources))
            }));
        }
        listed
    }

    fn selected(self) -> impl Iterator<Item = &'a AppView> + use<'a, 'q> {
        let apps = self.context.into_iter().flat_map(|context| &context.apps);
        apps.filter(move |app| self.selection().selects_app(&app.name))
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
    /// The names that `query` asks for.
    pub(super) fn names(
        &self,
        listing: Listing,
        query: &StatusQuery,
    ) -> Result<Names<'_, ListedNames<'_>>, QueryError> {
        if let Some(context) = &self.context {
            check_names(context, query, &PastNames::default())?;
        }
        let listed = Listed {
            context: self.context.as_deref(),
            query,
            kind: query.kind.unwrap_or(self.default_kind()),
        };
        let list = match listing {
            Listing::Apps => NameList::Apps(listed.apps()),
            Listing::Clusters => {
                let clusters = listed.clusters(named_cluster, |app, clusters| ClustersOfApp {
                    app: app.into(),
                    clusters,
                });
                NameList::ClustersByApp(clusters)
            }
            Listing::Resources => {
                let resources = listed.resources(|app, cluster, resources| ResourcesOfApp {
                    app: app.into(),
                    cluster_provider: (&*cluster.provider).into(),
                    cluster: (&*cluster.name).into(),
                    resources,
                });
                NameList::ResourcesByApp(resources)
            }
        };
        Ok(Names {
            app: self.composite_app(),
            name: self.name(),
            list,
        })
    }
}

fn named_cluster(cluster: &ClusterName) -> NamedCluster<'_> {
    NamedCluster {
        cluster_provider: (&*cluster.provider).into(),
        cluster: (&*cluster.name).into(),
    }
}
