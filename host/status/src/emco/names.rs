//! Lists of names in EMCO's newer dialect.

use kindsight_api::emco::{AppClusters, AppResources, ClusterRef, EmcoNameList, EmcoNames};
use kindsight_api::status::Listing;
use kindsight_model::ClusterName;

use super::EmcoQuery;
use crate::answer::{Listed, ListedNames};
use crate::read_model::Subject;

impl Subject {
    /// The names that `query` asks for. One that was never instantiated has none.
    pub(super) fn emco_names(
        &self,
        listing: Listing,
        query: &EmcoQuery,
    ) -> EmcoNames<'_, ListedNames<'_>> {
        let listed = Listed {
            context: self.context.as_deref(),
            query: &query.selection,
            kind: query.selection.kind.unwrap_or(self.default_kind()),
        };
        let list = match listing {
            Listing::Apps => EmcoNameList::Apps(listed.apps()),
            Listing::Clusters => {
                let clusters = listed.clusters(cluster_ref, |app, clusters| AppClusters {
                    app: app.into(),
                    clusters,
                });
                EmcoNameList::ClustersByApp(clusters)
            }
            Listing::Resources => {
                let resources = listed.resources(|app, cluster, resources| AppResources {
                    app: app.into(),
                    cluster_provider: (&*cluster.provider).into(),
                    cluster: (&*cluster.name).into(),
                    resources,
                });
                EmcoNameList::ResourcesByApp(resources)
            }
        };
        EmcoNames {
            app: self.emco_app(),
            name: self.name(),
            list,
        }
    }
}

fn cluster_ref(cluster: &ClusterName) -> ClusterRef<'_> {
    ClusterRef {
        cluster_provider: (&*cluster.provider).into(),
        cluster: (&*cluster.name).into(),
    }
}
