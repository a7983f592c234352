//! Claims of several applications on one object.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{DigName, SubjectSet};

/// The claims of several applications on one object. An object belongs to one application.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Claims {
    /// The mark or the inventory that assigns the object to its application.
    #[schema(value_type = String, example = "label kustomize.toolkit.fluxcd.io/name")]
    pub evidence: Arc<str>,
    /// The claims of other applications, one for each, at most 16.
    pub others: Vec<OtherClaim>,
}

impl Claims {
    /// The claims without those of applications outside a set; `None` if no claim of another application remains.
    pub fn naming_only(self: &Arc<Self>, applications: &SubjectSet) -> Option<Arc<Self>> {
        if applications.is_everything() {
            return Some(Arc::clone(self));
        }
        let others = self.others.iter();
        let others = others.filter(|other| other.is_of(applications)).cloned();
        let others: Vec<OtherClaim> = others.collect();
        (!others.is_empty()).then(|| {
            Arc::new(Self {
                evidence: Arc::clone(&self.evidence),
                others,
            })
        })
    }
}

/// The claim of an application that the object does not belong to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct OtherClaim {
    /// The application.
    #[schema(value_type = String, example = "-/shop/-/web")]
    pub application: Arc<str>,
    /// The mark or the inventory that makes the claim.
    #[schema(value_type = String, example = "label app.kubernetes.io/instance")]
    pub evidence: Arc<str>,
}

impl OtherClaim {
    /// Returns whether the claim is of an application in a set. A name that cannot be parsed is in no set.
    fn is_of(&self, applications: &SubjectSet) -> bool {
        let name = self.application.parse::<DigName>();
        name.is_ok_and(|name| applications.has_application(&name))
    }
}

/// Claims on the objects of a report, by the position of the object. An object that one application claims has none.
pub type ClaimsByPosition = Arc<BTreeMap<usize, Arc<Claims>>>;
