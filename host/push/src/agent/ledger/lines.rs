//! Changes of a ledger as lines, in the order that the server relies on: worse coverage, reports, better coverage, and
//! then the state of the connection.

use kindsight_model::{DigName, Subject};

use super::{Completion, Connection, Group, Ledger, Sent};
use crate::agent::frames::Frames;
use crate::wire::{CoverageLine, FactsLine, Line, MissingLine, MissingOfLine, Nothing, StaleLine};

impl Ledger {
    /// Writes changes until `is_full` returns true. The rest is written by a later call.
    pub(crate) fn write(
        &mut self,
        frames: &mut Frames,
        mut is_full: impl FnMut(&mut Frames) -> bool,
    ) {
        self.write_first(frames);
        while !self.changed.is_empty() {
            if is_full(frames) {
                return;
            }
            if let Some(group) = self.changed.pop_front() {
                self.queued.remove(&group);
                self.write_group(&group, frames);
            }
        }
        self.write_last(frames);
        self.changed_at = None;
    }

    /// Writes what precedes reports: the facts, and states of Kinds that are worse than before.
    fn write_first(&mut self, frames: &mut Frames) {
        if std::mem::take(&mut self.is_forgotten) {
            frames.line(&Line::Forget(Nothing {}));
        }
        if let Some(Some(facts)) = self.facts.take_unsent() {
            frames.line(&Line::Facts(Box::new(FactsLine::from(&**facts))));
        }
        if let Some(coverage) = self
            .coverage
            .value
            .clone()
            .filter(|_| !self.coverage.is_sent)
            && self.worse_sent.as_ref() != Some(&coverage)
        {
            let slot = self.slots.of(&coverage, frames);
            frames.line(&Line::Coverage(CoverageLine {
                slot,
                worse_only: true,
            }));
            self.worse_sent = Some(coverage);
        }
    }

    /// Writes the changed reports of one group, as of one moment.
    fn write_group(&mut self, group: &Group, frames: &mut Frames) {
        match group {
            Group::Deployment(deployment) => {
                let subject = Subject::Deployment(deployment.clone());
                if let Some(state) = self.subjects.get_mut(&subject) {
                    state.write(&subject, &mut self.slots, frames);
                }
            }
            Group::Application(application) => {
                let first = Subject::Application {
                    application: application.clone(),
                    app: "".into(),
                };
                let subjects = self.subjects.range_mut(first..);
                let of_application = subjects.take_while(|(subject, _)| group.has(subject));
                for (subject, state) in of_application {
                    state.write(subject, &mut self.slots, frames);
                }
                self.write_missing(application, frames);
            }
        }
        frames.line(&Line::Commit(Nothing {}));
    }

    fn write_missing(&mut self, application: &DigName, frames: &mut Frames) {
        let known = self.missing.get_mut(application);
        let Some(resources) = known.and_then(Sent::take_unsent) else {
            return;
        };
        for resource in resources {
            frames.line(&Line::Missing(MissingLine::from(resource)));
        }
        frames.line(&Line::MissingOf(MissingOfLine {
            application: application.to_string(),
            count: resources.len(),
        }));
    }

    /// Writes what follows all reports.
    fn write_last(&mut self, frames: &mut Frames) {
        let coverage = self.coverage.take_unsent().cloned().flatten();
        if let Some(coverage) = coverage {
            let slot = self.slots.of(&coverage, frames);
            frames.line(&Line::Coverage(CoverageLine {
                slot,
                worse_only: false,
            }));
            self.worse_sent = Some(coverage);
        }
        if let Some(faults) = self.faults.take_unsent() {
            frames.line(&Line::Faults(faults.clone()));
        }
        for line in self.unreadable.iter().skip(self.unreadable_sent) {
            frames.line(&Line::Unreadable(line.clone()));
        }
        self.unreadable_sent = self.unreadable.len();
        if self.completion == Completion::Due {
            self.completion = Completion::Written;
            frames.line(&Line::Complete(Nothing {}));
        }
        match self.connection.take_unsent() {
            Some(Some(Connection::Synced)) => frames.line(&Line::Synced(Nothing {})),
            Some(Some(Connection::Stale(reason))) => {
                let reason = reason.clone();
                frames.line(&Line::Stale(StaleLine { reason }));
            }
            Some(None) | None => {}
        }
        if std::mem::take(&mut self.is_heard) {
            frames.line(&Line::Heard(Nothing {}));
        }
        for line in self.confirmed.drain(..) {
            frames.line(&Line::Confirmed(line));
        }
    }
}
