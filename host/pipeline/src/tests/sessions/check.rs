//! The view of the pipeline, compared with the reports, the model and the server.

use std::collections::{BTreeMap, BTreeSet};

use super::expected::identity;
use super::source::Reported;
use super::*;

impl Run<'_> {
    /// Compares the view with the reports of the source.
    pub(super) fn check(&mut self) {
        let Some(coverage) = self.source.sent.clone() else {
            return;
        };
        let none = Reported::new();
        for application in APPLICATIONS {
            let reported = self.source.reported.get(application).unwrap_or(&none);
            let (resources, is_stale) = self.resources(application);
            let mut listed = BTreeSet::new();
            for resource in &resources {
                let identity = resource.identity();
                let object = reported.get(&identity);
                let scope = Scope::Namespace(&identity.namespace);
                let found = coverage.of(Some(GROUP), &identity.kind, scope).state;
                if resource.role == Role::Gone {
                    assert!(object.is_none(), "{identity:?} is gone and exists");
                    // Kinds that the server does not serve for ten minutes have no objects.
                    let is_known = matches!(found, KindState::Complete | KindState::Unserved);
                    let known = (application, identity);
                    assert!(
                        is_known || self.gone.contains(&known),
                        "{known:?} is gone: {found}"
                    );
                    self.gone.insert(known);
                    continue;
                }
                listed.insert(identity.clone());
                let Some(object) = object else {
                    let is_uncertain =
                        is_stale || !matches!(found, KindState::Complete | KindState::Selected);
                    assert!(is_uncertain, "{identity:?} is kept: {found}");
                    assert!(is_stale || !is_green(resource), "{identity:?} is green");
                    continue;
                };
                match found.presence() {
                    Presence::Current => {
                        let is_ready = object.as_ref().is_some_and(is_ready);
                        assert_eq!(is_green(resource), is_ready, "{identity:?}");
                    }
                    Presence::Kept => assert!(is_stale, "{identity:?} may be out of date"),
                    Presence::Unreported => {
                        let reason = object.as_ref().map_or("Unreadable", |_| "NotReported");
                        assert_eq!(&*resource.verdict.reason, reason, "{identity:?}");
                    }
                }
            }
            for identity in reported.keys() {
                assert!(listed.contains(identity), "{identity:?} is not listed");
            }
        }
    }

    /// Compares the view with the objects of the server, all of which were listed.
    pub(super) fn compare(&self, application: &'static str) {
        let (resources, is_stale) = self.resources(application);
        assert!(!is_stale, "every Kind was listed");
        let configuration = self.source.configuration;
        // The configuration excludes a last-known object since a restart: the coverage cannot tell that from a Kind
        // that is not served yet.
        let is_excluded = |resource: &&ResourceView| {
            let is_elsewhere = *resource.namespace != *NAMESPACES[1];
            let is_unknown = &*resource.verdict.reason == "NotReported";
            configuration.is_one_namespace && is_elsewhere && is_unknown
        };
        let listed = resources
            .iter()
            .filter(|resource| resource.role != Role::Gone && !is_excluded(resource));
        let listed: BTreeMap<_, bool> = listed
            .map(|resource| (resource.identity(), is_green(resource)))
            .collect();
        let objects = &self.source.server.objects;
        let members = objects
            .iter()
            .filter(|((kind, (namespace, name)), stored)| {
                let is_seen = !configuration.is_one_namespace || *namespace == NAMESPACES[1];
                let owner = stored.owner.and_then(|uid| {
                    let owner = objects.get(&(KINDS[0], (*namespace, *name)))?;
                    (owner.uid == uid && configuration.sends(KINDS[0], owner.spec))
                        .then_some(owner.spec)
                });
                let claim = owner.and_then(|owner| configuration.claim(owner));
                let claim = claim.or_else(|| configuration.claim(stored.spec));
                is_seen && configuration.sends(kind, stored.spec) && claim == Some(application)
            });
        let members: BTreeMap<_, bool> = members
            .map(|(member, stored)| {
                let spec = stored.spec;
                (identity(*member), spec.is_ready && spec.is_readable)
            })
            .collect();
        assert_eq!(listed, members, "{application}");
    }
}

fn is_ready(object: &kindsight_model::Object) -> bool {
    object.json.contains(r#""status":"True""#)
}
