//! Objects that several applications claim.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use kindsight_model::{Claims, DeploymentId, OtherClaim};

use super::ClusterIndex;
use super::entry::Entry;
use super::objects::Id;
use super::place::{Claimant, Claimed};

/// Maximum number of other applications that are named for one object.
const OTHERS_MAX: usize = 16;

impl ClusterIndex {
    /// The claims on those objects that several applications claim.
    pub(super) fn contested(&self, objects: &[Id]) -> BTreeMap<Id, Arc<Claims>> {
        let mut shared: HashSet<Arc<Claims>> = HashSet::new();
        let mut contested = BTreeMap::new();
        for id in objects {
            let Some(claims) = self.claims_on(*id) else {
                continue;
            };
            let known = shared.get(&claims).cloned();
            let claims = known.unwrap_or_else(|| Arc::new(claims));
            shared.insert(Arc::clone(&claims));
            contested.insert(*id, claims);
        }
        contested
    }

    /// The claims on an object; none unless several applications claim it.
    fn claims_on(&self, id: Id) -> Option<Claims> {
        let winner = self.claimed_of(id)?;
        let mut others: Vec<OtherClaim> = Vec::new();
        let claims = self.with_owners(id);
        let claims = claims.flat_map(|entry| self.claims_of(entry));
        for claimed in claims.filter(|claim| claim.by != winner.by) {
            let application = self.name_of(&claimed.by);
            let is_known = others.iter().any(|claim| claim.application == application)
                || application == self.name_of(&winner.by);
            if is_known || others.len() >= OTHERS_MAX {
                continue;
            }
            let evidence = self.evidence(id, &claimed);
            others.push(OtherClaim {
                application,
                evidence,
            });
        }
        (!others.is_empty()).then(|| Claims {
            evidence: self.evidence(id, &winner),
            others,
        })
    }

    /// The name of an application, as text for readers.
    fn name_of(&self, claimant: &Claimant<'_>) -> Arc<str> {
        match claimant {
            Claimant::Recorded(deployment) => deployment.to_string().into(),
            Claimant::Application(claim) => self.application_of(claim).to_string().into(),
        }
    }

    /// The reason of a claim on an object, as text for readers.
    fn evidence(&self, id: Id, claimed: &Claimed<'_>) -> Arc<str> {
        let mut text = match claimed.by {
            Claimant::Recorded(_) => format!("label {}", DeploymentId::LABEL),
            Claimant::Application(claim) => claim.evidence.to_string(),
        };
        let own = self.objects.get(id);
        let is_own = own.is_some_and(|own| std::ptr::eq(own, claimed.entry));
        let owner = self.scopes.get(&claimed.entry.scope());
        if let Some(owner) = owner.filter(|_| !is_own) {
            let Entry { name, .. } = claimed.entry;
            // Writing to a String does not fail.
            let _ = write!(text, " (owner {} {name})", owner.kind.gvk.kind);
        }
        text.into()
    }
}
