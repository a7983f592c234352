//! Everything that the source said, and the part of it that the server has at the end of the frames.
//!
//! Lines are the difference between the two. While frames cannot be stored, changes are merged, so that the memory of an
//! outage is bounded by two reports on the cluster.

mod lines;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use kindsight_clusters::ClusterEvent;
use kindsight_model::{
    ClusterFacts, Coverage, DeploymentId, DigName, MissingResource, MissingResources, Report,
    Subject,
};
use tokio::time::Instant;

use crate::agent::slots::Slots;
use crate::agent::subject_state::SubjectState;
use crate::wire::{ConfirmedLine, UnreadableLine};

/// Maximum number of unreadable reports that are repeated in a complete report, the last ones.
const UNREADABLE_MAX: usize = 64;

/// Subjects whose reports are of one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Group {
    Application(DigName),
    Deployment(DeploymentId),
}

/// The end of the complete report that begins an epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Completion {
    /// The source has not listed the cluster yet, so no report is complete.
    #[default]
    Unlisted,
    /// The end follows the reports.
    Due,
    /// The end is in the frames.
    Written,
}

/// The connection of the source to its cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Connection {
    Synced,
    Stale(String),
}

/// A value, and whether the server has it at the end of the frames.
#[derive(Debug, Default)]
struct Sent<T> {
    value: T,
    is_sent: bool,
}

impl<T> Sent<T> {
    fn set(&mut self, value: T) {
        self.value = value;
        self.is_sent = false;
    }

    /// The value, if the server does not have it. The caller sends it.
    fn take_unsent(&mut self) -> Option<&T> {
        let is_sent = std::mem::replace(&mut self.is_sent, true);
        (!is_sent).then_some(&self.value)
    }
}

/// Everything that the source said.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    subjects: BTreeMap<Subject, SubjectState>,
    missing: BTreeMap<DigName, Sent<Vec<MissingResource>>>,
    /// Groups with changes, in the order of their first change.
    changed: VecDeque<Group>,
    queued: HashSet<Group>,
    /// The time of the first change that is not in the frames.
    changed_at: Option<Instant>,
    coverage: Sent<Option<Coverage>>,
    /// The last coverage whose worse states are in the frames.
    worse_sent: Option<Coverage>,
    facts: Sent<Option<Arc<ClusterFacts>>>,
    faults: Sent<Vec<String>>,
    /// The last unreadable reports; the first ones are in the frames.
    unreadable: Vec<UnreadableLine>,
    unreadable_sent: usize,
    connection: Sent<Option<Connection>>,
    is_heard: bool,
    confirmed: Vec<ConfirmedLine>,
    is_forgotten: bool,
    completion: Completion,
    slots: Slots,
}

impl Ledger {
    /// The time of the first change that is not in the frames; none if there is no change.
    pub(crate) fn changed_at(&self) -> Option<Instant> {
        self.changed_at
    }

    /// Takes an event of the source.
    pub(crate) fn take(&mut self, event: ClusterEvent) {
        match event {
            ClusterEvent::Reports {
                reports, missing, ..
            } => {
                for (subject, report) in reports {
                    self.take_report(subject, report);
                }
                for MissingResources {
                    application,
                    resources,
                } in missing
                {
                    let known = self.missing.entry(application.clone()).or_default();
                    known.set(resources);
                    self.queue(Group::Application(application));
                }
            }
            ClusterEvent::Coverage { coverage, .. } => self.coverage.set(Some(coverage)),
            ClusterEvent::Gone { deployment, .. } => {
                self.withdraw(deployment);
            }
            ClusterEvent::Unreadable {
                deployment,
                may_be_newer,
                origin,
                error,
                ..
            } => self.take_unreadable(UnreadableLine {
                deployment: deployment.map(|deployment| deployment.to_string()),
                may_be_newer,
                origin,
                error,
            }),
            // The server knows the cluster and its owner.
            ClusterEvent::Added { .. } | ClusterEvent::Owner { .. } => return,
            ClusterEvent::Removed { .. } => {
                *self = Self {
                    is_forgotten: true,
                    ..Self::default()
                };
            }
            ClusterEvent::Facts { facts, .. } => self.facts.set(Some(facts)),
            ClusterEvent::Faults { faults, .. } => self.faults.set(faults),
            ClusterEvent::Heard { .. } => self.is_heard = true,
            ClusterEvent::Synced { .. } => {
                if self.completion == Completion::Unlisted {
                    self.completion = Completion::Due;
                }
                self.connection.set(Some(Connection::Synced));
            }
            ClusterEvent::Stale { reason, .. } => {
                self.connection.set(Some(Connection::Stale(reason)));
            }
        }
        self.note_change();
    }

    /// Takes the answer to a request for confirmation. Everything that the source said before is written before it.
    pub(crate) fn confirm(&mut self, id: u64, answer: Result<(), String>) {
        let error = answer.err();
        self.confirmed.push(ConfirmedLine { id, error });
        self.note_change();
    }

    /// Withdraws the deployments that the server no longer records: their source forgets them without an event.
    pub(crate) fn retain_deployments(&mut self, is_recorded: impl Fn(&DeploymentId) -> bool) {
        let subjects = self.subjects.keys();
        let unrecorded = subjects.filter_map(|subject| match subject {
            Subject::Deployment(deployment) => (!is_recorded(deployment)).then_some(deployment),
            Subject::Application { .. } => None,
        });
        let unrecorded: Vec<DeploymentId> = unrecorded.cloned().collect();
        for deployment in unrecorded {
            self.withdraw(deployment);
        }
    }

    /// Begins an epoch: the next frames are a complete report.
    pub(crate) fn begin_epoch(&mut self) {
        let subjects: Vec<Subject> = self.subjects.keys().cloned().collect();
        for subject in subjects {
            if let Some(state) = self.subjects.get_mut(&subject) {
                state.begin_epoch();
            }
            self.queue(Group::of(&subject));
        }
        let applications: Vec<DigName> = self.missing.keys().cloned().collect();
        for application in applications {
            if let Some(known) = self.missing.get_mut(&application) {
                known.is_sent = false;
            }
            self.queue(Group::Application(application));
        }
        self.coverage.is_sent = false;
        self.worse_sent = None;
        self.facts.is_sent = false;
        self.faults.is_sent = false;
        self.unreadable_sent = 0;
        self.connection.is_sent = false;
        if self.completion == Completion::Written {
            self.completion = Completion::Due;
        }
        self.slots = Slots::default();
        self.note_change();
    }

    /// Forgets what only another epoch would have to repeat. Called when the server has received all frames.
    pub(crate) fn settle(&mut self) {
        if self.changed_at.is_none() {
            self.subjects
                .retain(|subject, state| !state.settle(subject));
            self.missing
                .retain(|_, known| !(known.is_sent && known.value.is_empty()));
        }
    }

    fn take_report(&mut self, subject: Subject, report: Report) {
        if let Subject::Deployment(deployment) = &subject {
            // A report clears the faults of its app.
            let id = deployment.to_string();
            self.retain_unreadable(|line| line.deployment.as_deref() != Some(&*id));
        }
        let group = Group::of(&subject);
        self.subjects.entry(subject).or_default().take(report);
        self.queue(group);
    }

    fn withdraw(&mut self, deployment: DeploymentId) {
        let subject = Subject::Deployment(deployment.clone());
        if let Some(state) = self.subjects.get_mut(&subject) {
            state.withdraw();
            self.queue(Group::Deployment(deployment));
            self.note_change();
        }
    }

    fn take_unreadable(&mut self, line: UnreadableLine) {
        self.retain_unreadable(|known| known.origin != line.origin);
        self.unreadable.push(line);
        if self.unreadable.len() > UNREADABLE_MAX {
            self.unreadable.remove(0);
            self.unreadable_sent = self.unreadable_sent.saturating_sub(1);
        }
    }

    fn retain_unreadable(&mut self, is_kept: impl Fn(&UnreadableLine) -> bool) {
        let mut position = 0;
        let (sent, mut dropped) = (self.unreadable_sent, 0);
        self.unreadable.retain(|line| {
            let is_kept = is_kept(line);
            dropped += usize::from(!is_kept && position < sent);
            position += 1;
            is_kept
        });
        self.unreadable_sent = sent - dropped;
    }

    fn queue(&mut self, group: Group) {
        if self.queued.insert(group.clone()) {
            self.changed.push_back(group);
        }
    }

    fn note_change(&mut self) {
        self.changed_at.get_or_insert_with(Instant::now);
    }
}

impl Group {
    fn of(subject: &Subject) -> Self {
        match subject {
            Subject::Application { application, .. } => Self::Application(application.clone()),
            Subject::Deployment(deployment) => Self::Deployment(deployment.clone()),
        }
    }

    fn has(&self, subject: &Subject) -> bool {
        match (self, subject) {
            (Self::Application(name), Subject::Application { application, .. }) => {
                name == application
            }
            (Self::Deployment(id), Subject::Deployment(deployment)) => id == deployment,
            _ => false,
        }
    }
}
