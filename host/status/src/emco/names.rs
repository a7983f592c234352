//! Lists of names in EMCO's newer dialect.

use kindsight_api::emco::{AppClusters, AppResources, ClusterRef, EmcoNameList, EmcoNames};
use kindsight_api::status::Listing;

use super::EmcoQuery;
use crate::answer::{ListedNames, name_list};
use crate::subject::Subject;

impl Subject {
    /// The names that `query` requests. Empty for a subject that was never instantiated.
    pub(super) fn emco_names(
        &self,
        listing: Listing,
        query: &EmcoQuery,
    ) -> EmcoNames<'_, ListedNames<'_>> {
        let listed = self.listed(&query.selection);
        let list = name_list!(
            listed,
            listing,
            EmcoNameList,
            AppClusters,
            ClusterRef,
            AppResources
        );
        EmcoNames {
            app: self.emco_app(),
            name: self.name(),
            list,
        }
    }
}
