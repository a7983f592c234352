//! One epoch: a complete report, and the changes after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_api::push::PushRefusal;
use kindsight_clusters::{ClusterEvent, PushedBatch, PushedNeeds};
use kindsight_model::{
    ClusterName, Coverage, DigName, KindState, MissingResources, Origin, Report, Subject,
    is_label_value, is_name,
};

use super::coverages::Coverages;
use super::held_report::HeldReport;
use super::made::Made;
use super::reported::Reported;
use super::signals::{deployment, take_signal};
use super::size::{Size, bytes_of_missing, bytes_of_removed, bytes_of_texts};
use super::staged::Staged;
use crate::wire::{CoverageLine, GoneLine, Line, MissingOfLine, ReportLine};

/// The state of an epoch.
#[derive(Debug)]
pub(super) struct Epoch {
    pub(super) number: u64,
    /// The sequence number of the next body.
    pub(super) expected: u64,
    coverages: Coverages,
    staged: Staged,
    held: BTreeMap<Subject, HeldReport>,
    /// Size of the missing resources of each application that has some.
    missing: BTreeMap<DigName, Size>,
    /// Size of the reports and the missing resources.
    size: Size,
    /// Reports and missing resources of the moment that the next `commit` ends.
    reports: Vec<(Subject, Report)>,
    missing_of: Vec<MissingResources>,
    made: Made,
    /// Reports of earlier epochs that this epoch has not replaced, with the current coverage of the pipeline.
    unseen: Reported,
    /// Withdrawn and replaced reports. The pipeline has them until the events of the body and of the next `commit` are sent.
    unsent: Reported,
}

impl Epoch {
    /// Begins an epoch after others. The pipeline has these reports of the other epochs. If they alone are over the limit
    /// of a cluster, the pipeline forgets the cluster: an agent that never completes a report would fill the memory.
    pub(super) fn begin(
        number: u64,
        unseen: Reported,
        cluster: &ClusterName,
        batch: &mut PushedBatch,
    ) -> Self {
        let is_over = unseen.size().check().is_err();
        let mut epoch = Self::new(number, unseen);
        if is_over {
            tracing::warn!(%cluster, "the agent has begun many reports and completed none; the state of the cluster is forgotten until the agent has reported it again");
            epoch.forget(cluster, batch);
        }
        epoch
    }

    fn new(number: u64, unseen: Reported) -> Self {
        Self {
            number,
            expected: 0,
            coverages: Coverages::default(),
            staged: Staged::default(),
            held: BTreeMap::new(),
            missing: BTreeMap::new(),
            size: Size::default(),
            reports: Vec::new(),
            missing_of: Vec::new(),
            made: Made::default(),
            unseen,
            unsent: Reported::default(),
        }
    }

    /// Ends the epoch. Returns everything that the pipeline may have.
    pub(super) fn end(self) -> Reported {
        let mut reported = self.unsent;
        reported.extend(self.unseen);
        let held = self.held.into_iter().map(|(subject, held)| {
            let size = size_of(&subject, &held);
            (subject, size)
        });
        reported.subjects.extend(held);
        // The pipeline has no other subjects, and such a name can have megabytes.
        reported
            .subjects
            .retain(|subject, _| has_valid_app(subject));
        reported.missing.extend(self.missing);
        reported
    }

    /// Ends the epoch after a refused body. The events of the body are not sent, so the last coverage of the epoch proves
    /// nothing.
    pub(super) fn end_refused(self) -> Reported {
        let mut reported = self.end();
        let nothing = Coverage::of_others(KindState::Unavailable);
        reported.coverage = Some(Arc::new(nothing));
        reported
    }

    /// Ends a body, whose events are sent.
    pub(super) fn end_body(&mut self) {
        self.expected += 1;
        if self.reports.is_empty() && self.missing_of.is_empty() {
            self.unsent = Reported::default();
        }
        self.coverages.end_body();
        self.made.end_body();
    }

    /// Takes one line with its number of bytes, and adds its events to the batch.
    ///
    /// # Errors
    /// The line does not fit the lines before it, or the cluster or the body is over a limit.
    pub(super) fn take(
        &mut self,
        (line, bytes): (Line<'_>, usize),
        cluster: &ClusterName,
        needs: &PushedNeeds,
        batch: &mut PushedBatch,
    ) -> Result<(), PushRefusal> {
        self.made.line(&line)?;
        let Some(line) = self.staged.take(line, bytes) else {
            return self.size.plus(self.staged.size).check();
        };
        match line {
            Line::Report(line) => self.take_report(*line),
            Line::MissingOf(line) => self.take_missing(&line),
            Line::CoverageSlot(line) => self.coverages.set(line),
            Line::Coverage(line) => self.cover(&line, cluster, batch),
            Line::Gone(line) => self.withdraw(&line, cluster, batch),
            Line::Commit(_) => self.commit(cluster, needs, batch),
            Line::Complete(_) => {
                self.complete(cluster, batch);
                Ok(())
            }
            Line::Forget(_) => {
                self.forget(cluster, batch);
                Ok(())
            }
            signal => take_signal(signal, cluster.clone(), batch),
        }
    }

    fn take_report(&mut self, line: ReportLine) -> Result<(), PushRefusal> {
        let subject = line.subject.subject();
        let subject = subject.map_err(|error| PushRefusal::Invalid(error.to_string()))?;
        let origin = line.origin.origin(&subject).ok_or_else(|| {
            let why = "an application has the origin `found`, a deployment `direct` or `monitor`";
            PushRefusal::Invalid(why.to_owned())
        })?;
        let mut held = self.take_last(&subject).unwrap_or_default();
        let coverages = &self.coverages;
        let report = held.apply(line, origin, &mut self.staged, |slot| {
            coverages.of_slot(slot)
        })?;
        let size = size_of(&subject, &held);
        // They do not count as objects: an agent that was away can name more of them than the cluster has objects.
        let removed = Size {
            objects: 0,
            bytes: bytes_of_removed(&report.removed),
        };
        let is_forgotten = report.is_empty() && matches!(subject, Subject::Application { .. });
        if !is_forgotten {
            self.size = self.size.plus(size);
            self.held.insert(subject.clone(), held);
        }
        self.reports.push((subject, report));
        self.made.report(size.plus(removed))?;
        self.check()
    }

    fn take_missing(&mut self, line: &MissingOfLine) -> Result<(), PushRefusal> {
        let application: DigName = line
            .application
            .parse()
            .map_err(|error| PushRefusal::Invalid(format!("{error}")))?;
        let resources = Staged::first(&mut self.staged.missing, line.count, "missing resources")?;
        let size = Size {
            objects: resources.len(),
            bytes: resources.iter().map(bytes_of_missing).sum(),
        };
        let unseen = self.unseen.missing.remove(&application);
        let before = self.missing.remove(&application);
        self.unsent.note_missing(&application, before.or(unseen));
        self.size = self.size.minus(before.unwrap_or_default()).plus(size);
        if !resources.is_empty() {
            self.missing.insert(application.clone(), size);
        }
        self.missing_of.push(MissingResources {
            application,
            resources,
        });
        // The application counts too.
        let application = Size {
            objects: 1,
            bytes: 0,
        };
        self.made.report(size.plus(application))?;
        self.check()
    }

    /// Refuses a cluster that is over a limit after a report.
    fn check(&mut self) -> Result<(), PushRefusal> {
        self.staged.settle();
        self.size.plus(self.staged.size).check()
    }

    /// Ends the reports of one moment. Reports on subjects that are not in this cluster are left out.
    fn commit(
        &mut self,
        cluster: &ClusterName,
        needs: &PushedNeeds,
        batch: &mut PushedBatch,
    ) -> Result<(), PushRefusal> {
        self.made.commit();
        let mut reports = std::mem::take(&mut self.reports);
        reports.retain(|(subject, _)| is_of_cluster(subject, needs));
        let mut missing = std::mem::take(&mut self.missing_of);
        missing.retain(|missing| is_application(&missing.application, needs));
        let applications = reports.iter().filter_map(|(subject, _)| match subject {
            Subject::Application { application, .. } => Some(application),
            Subject::Deployment(_) => None,
        });
        let missing_of = missing.iter().map(|missing| &missing.application);
        let applications: BTreeSet<&DigName> = applications.chain(missing_of).collect();
        for application in applications {
            self.made.application(application)?;
        }
        if !(reports.is_empty() && missing.is_empty()) {
            batch.events.push(ClusterEvent::Reports {
                cluster: cluster.clone(),
                reports,
                missing,
            });
        }
        Ok(())
    }

    fn cover(
        &mut self,
        line: &CoverageLine,
        cluster: &ClusterName,
        batch: &mut PushedBatch,
    ) -> Result<(), PushRefusal> {
        let next = self.coverages.of_slot(line.slot)?;
        let next = match self.unseen.coverage.take() {
            Some(before) if line.worse_only => self.coverages.share(before.worst_of(&next))?,
            Some(_) | None => next,
        };
        let (cluster, coverage) = (cluster.clone(), Coverage::clone(&next));
        self.unseen.coverage = Some(next);
        batch
            .events
            .push(ClusterEvent::Coverage { cluster, coverage });
        Ok(())
    }

    fn withdraw(
        &mut self,
        line: &GoneLine,
        cluster: &ClusterName,
        batch: &mut PushedBatch,
    ) -> Result<(), PushRefusal> {
        let deployment = deployment(&line.deployment)?;
        let subject = Subject::Deployment(deployment.clone());
        self.take_last(&subject);
        let cluster = cluster.clone();
        batch.events.push(ClusterEvent::Gone {
            cluster,
            deployment,
        });
        Ok(())
    }

    /// Ends the complete report: withdraws what earlier epochs reported and this one lacks. The coverage decides whether
    /// the objects are gone.
    fn complete(&mut self, cluster: &ClusterName, batch: &mut PushedBatch) {
        let subjects = std::mem::take(&mut self.unseen.subjects);
        let missing = std::mem::take(&mut self.unseen.missing);
        let mut reports = Vec::new();
        for (subject, size) in subjects {
            self.unsent.note_subject(&subject, Some(size));
            match subject {
                Subject::Deployment(deployment) => batch.events.push(ClusterEvent::Gone {
                    cluster: cluster.clone(),
                    deployment,
                }),
                Subject::Application { .. } => reports.push((subject, self.without_objects())),
            }
        }
        let missing = missing.into_iter().map(|(application, size)| {
            self.unsent.note_missing(&application, Some(size));
            MissingResources {
                application,
                resources: Vec::new(),
            }
        });
        let missing: Vec<MissingResources> = missing.collect();
        if !(reports.is_empty() && missing.is_empty()) {
            batch.events.push(ClusterEvent::Reports {
                cluster: cluster.clone(),
                reports,
                missing,
            });
        }
    }

    /// A report on an application that has no object in the cluster.
    fn without_objects(&self) -> Report {
        let coverage = self.unseen.coverage.as_deref().cloned();
        Report {
            coverage: coverage.unwrap_or_else(Coverage::partial),
            ..Report::empty(Origin::Found)
        }
    }

    /// Forgets everything but the slots: the name belongs to another cluster now. The events of the body count further.
    fn forget(&mut self, cluster: &ClusterName, batch: &mut PushedBatch) {
        let forgotten = Self::new(self.number, Reported::default());
        let mut before = std::mem::replace(self, forgotten);
        before.made.commit();
        self.expected = before.expected;
        self.coverages = std::mem::take(&mut before.coverages);
        self.made = std::mem::take(&mut before.made);
        self.unsent = before.end();
        let cluster = cluster.clone();
        batch.events.push(ClusterEvent::Removed {
            cluster: cluster.clone(),
        });
        batch.events.push(ClusterEvent::Added { cluster });
    }

    /// Takes the last report on a subject out, to replace or to withdraw it. Returns none if it is of an earlier epoch.
    fn take_last(&mut self, subject: &Subject) -> Option<HeldReport> {
        let held = self.held.remove(subject);
        let size = held.as_ref().map(|held| size_of(subject, held));
        self.size = self.size.minus(size.unwrap_or_default());
        let unseen = self.unseen.subjects.remove(subject);
        self.unsent.note_subject(subject, size.or(unseen));
        held
    }
}

/// The size of a report with its subject.
fn size_of(subject: &Subject, held: &HeldReport) -> Size {
    // The other names have a limited length. The app can be the name of any object in the cluster.
    let app = match subject {
        Subject::Application { app, .. } => &**app,
        Subject::Deployment(_) => "",
    };
    held.size().plus(Size {
        objects: 0,
        bytes: bytes_of_texts([app]),
    })
}

/// Returns whether the agent of the cluster may report on a subject.
fn is_of_cluster(subject: &Subject, needs: &PushedNeeds) -> bool {
    match subject {
        Subject::Deployment(deployment) => needs.recorded.contains_key(deployment),
        Subject::Application { application, .. } => {
            has_valid_app(subject) && is_application(application, needs)
        }
    }
}

/// Returns whether an app can be shown under its name. An agent also reports on other apps.
fn has_valid_app(subject: &Subject) -> bool {
    match subject {
        Subject::Deployment(_) => true,
        Subject::Application { app, .. } => is_name(app) || is_label_value(app),
    }
}

/// Returns whether an application was found by marks, or the configuration selects it in the cluster.
fn is_application(name: &DigName, needs: &PushedNeeds) -> bool {
    let mut configured = needs.applications.iter();
    name.is_found() || configured.any(|application| application.name == *name)
}

#[cfg(test)]
mod tests;
