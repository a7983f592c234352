//! Reports of a session, and the check that their deltas add up.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_cluster_index::GroupReport;
use kindsight_clusters::ClusterEvent;
use kindsight_model::{
    ClusterName, Coverage, Identity, KindCoverage, KindState, Presence, Removal, Report, Scope,
    Subject,
};

use super::{Reported, Source, Watch};
use crate::tests::sessions::expected::identity;
use crate::tests::sessions::server::APPLICATIONS;

fn cluster() -> ClusterName {
    "p+a".parse().unwrap()
}

impl Source {
    /// The events of the changes since the last call.
    pub(in crate::tests::sessions) fn report(&mut self) -> Vec<ClusterEvent> {
        let mut events = Vec::new();
        let mut watches = self.watches.iter();
        if !self.is_synced && (self.is_late || watches.all(|watch| self.is_settled(watch))) {
            self.is_synced = true;
            self.is_listed = true;
            let scopes: BTreeSet<_> = self.watches.iter().map(|watch| watch.scope).collect();
            self.index
                .retain(|scope| scopes.contains(&scope), |_, _| false);
            self.expected.retain(|scope| scopes.contains(&scope));
        }
        self.follow_coverage();
        let worst = self.sent.as_ref().map(|sent| sent.worst_of(&self.coverage));
        self.cover(worst.unwrap_or_else(|| self.coverage.clone()), &mut events);
        if self.is_listed {
            let reports = self.index.take_reports(&self.coverage);
            for report in &reports {
                self.add_up(report);
            }
            events.extend(reports.into_iter().map(|report| ClusterEvent::Reports {
                cluster: cluster(),
                reports: vec![report],
                missing: Vec::new(),
            }));
            if !self.index.is_any_waiting() {
                self.compare();
                self.cover(self.coverage.clone(), &mut events);
            }
        }
        if self.is_stale && self.is_synced && !self.index.is_any_waiting() {
            self.is_stale = false;
            events.push(ClusterEvent::Synced { cluster: cluster() });
        }
        events
    }

    /// Returns whether a Kind was listed, or cannot be.
    fn is_settled(&self, watch: &Watch) -> bool {
        let is_listed = watch.is_listed && watch.pass.is_none() && !watch.is_asked;
        !self.server.answers(watch.kind) || (is_listed && !self.are_parts_needed(watch))
    }

    fn cover(&mut self, coverage: Coverage, events: &mut Vec<ClusterEvent>) {
        if self.sent.as_ref() != Some(&coverage) {
            self.sent = Some(coverage.clone());
            let cluster = cluster();
            events.push(ClusterEvent::Coverage { cluster, coverage });
        }
    }

    /// The coverage of a Kind that is listed again stays as it was.
    fn follow_coverage(&mut self) {
        let mut coverage = Coverage::nothing();
        for watch in &self.watches {
            let is_listing = !watch.is_listed && self.server.answers(watch.kind);
            let before = self.index.coverage_of(watch.scope);
            let found = match before {
                Some(before) if is_listing && before.state != KindState::Listing => {
                    if self.is_late {
                        KindCoverage::new(KindState::Unavailable)
                    } else {
                        before.clone()
                    }
                }
                _ => self.coverage_of(watch),
            };
            if !is_listing || self.is_late {
                let is_complete = found.state == KindState::Complete;
                self.index
                    .set_coverage(watch.scope, found.clone(), is_complete);
            }
            coverage.set(super::GROUP, watch.kind, watch.extent(), found);
        }
        self.coverage = coverage;
    }

    fn coverage_of(&self, watch: &Watch) -> KindCoverage {
        let state = self.server.states[watch.kind];
        KindCoverage::new(match state {
            KindState::Complete if !watch.is_listed => KindState::Listing,
            KindState::Complete if watch.is_skipped => KindState::Incomplete,
            KindState::Complete if self.configuration.is_cut(watch.kind) => KindState::Selected,
            state => state,
        })
    }

    /// Adds a delta to the sum of the previous ones, and compares the sum with the report.
    fn add_up(&mut self, (subject, report): &GroupReport) {
        let Subject::Application { application, .. } = subject else {
            panic!("nothing is recorded: {subject:?}");
        };
        let name: &str = &application.composite_app;
        let now = contents(report);
        let mut sum = self.reported.remove(name).unwrap_or_default();
        for (removed, reason) in &report.removed {
            assert!(
                !now.contains_key(removed),
                "{removed:?} was removed and exists"
            );
            // An object may have joined and left since the last report.
            if sum.remove(removed).is_some() {
                assert_eq!(self.reason(name, removed), Some(*reason), "{removed:?}");
            }
            let of = APPLICATIONS.into_iter().find(|of| *of == name);
            if reason.is_gone() {
                self.gone.extend(of.map(|of| (of, removed.clone())));
            }
        }
        for (identity, object) in &now {
            sum.insert(identity.clone(), object.clone());
        }
        sum.retain(|identity, _| now.contains_key(identity) || !self.may_lack(identity));
        let sum: Vec<&Identity> = sum.keys().collect();
        assert_eq!(sum, now.keys().collect::<Vec<_>>(), "the deltas of {name}");
        self.reported.insert(Arc::from(name), now);
    }

    /// Returns whether a report may lack a member: its Kind cannot be read or its scope is not read any more, and the
    /// index has no content of it.
    fn may_lack(&self, identity: &Identity) -> bool {
        let scope = Scope::Namespace(&identity.namespace);
        let found = self.coverage.of(Some(super::GROUP), &identity.kind, scope);
        found.state == KindState::NotRequested || found.state.presence() != Presence::Current
    }

    fn reason(&self, application: &str, removed: &Identity) -> Option<Removal> {
        let mut reasons = self.expected.reasons.iter();
        let reason =
            reasons.find(|((of, member), _)| *of == application && identity(*member) == *removed);
        reason.map(|(_, reason)| *reason)
    }

    /// Compares the sum of all deltas with the model.
    fn compare(&self) {
        for application in APPLICATIONS {
            let none = std::collections::BTreeMap::default();
            let members = self.expected.members.get(application).unwrap_or(&none);
            let mut reported = self.reported.get(application).cloned().unwrap_or_default();
            for (member, stored) in members {
                let identity = identity(*member);
                let Some(object) = reported.remove(&identity) else {
                    assert!(self.may_lack(&identity), "{application} lost {member:?}");
                    continue;
                };
                if !self.may_lack(&identity) {
                    let is_read = object.as_ref().map(is_of(stored.version));
                    assert_eq!(
                        is_read,
                        stored.spec.is_readable.then_some(true),
                        "{member:?}"
                    );
                }
            }
            assert_eq!(
                reported.keys().collect::<Vec<_>>(),
                Vec::<&Identity>::new(),
                "{application} kept objects"
            );
        }
    }
}

/// Returns whether an object has this version.
fn is_of(version: u64) -> impl Fn(&kindsight_model::Object) -> bool {
    move |object| {
        object
            .json
            .contains(&format!(r#""resourceVersion":"{version}""#))
    }
}

/// The objects of a report, and the items that could not be decoded.
fn contents(report: &Report) -> Reported {
    let objects = report.objects.iter();
    let objects = objects.map(|object| (Identity::from(object), Some(object.clone())));
    let rejected = report
        .rejected
        .iter()
        .filter_map(|item| item.identity.as_ref());
    let rejected = rejected.map(|identity| (Identity::from(identity), None));
    let mut contents = Reported::new();
    for (identity, object) in objects.chain(rejected) {
        let is_double = contents.insert(identity.clone(), object).is_some();
        assert!(!is_double, "{identity:?} is twice in a report");
    }
    contents
}
