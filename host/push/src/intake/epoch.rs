//! One epoch: a complete report, and the changes after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_api::push::PushRefusal;
use kindsight_clusters::{ClusterEvent, PushedBatch, PushedNeeds};
use kindsight_model::{
    ClusterFacts, ClusterName, Coverage, DeploymentId, DigName, MissingResource, MissingResources,
    Origin, Report, Subject, is_label_value, is_name,
};

use super::held_report::{HeldReport, text};
use super::staged::{Size, Staged};
use crate::wire::{
    COVERAGE_SLOTS, ConfirmedLine, CoverageLine, CoverageSlot, GoneLine, Line, MissingOfLine,
    ReportLine, UnreadableLine,
};

/// Maximum number of faults of a cluster.
const FAULTS_MAX: usize = 100;

/// Everything of earlier epochs that the pipeline has and that no report has replaced.
#[derive(Debug, Default)]
pub(super) struct Reported {
    subjects: BTreeSet<Subject>,
    /// Applications with missing resources.
    missing: BTreeSet<DigName>,
    /// The last coverage.
    coverage: Option<Coverage>,
}

/// The state of an epoch.
#[derive(Debug)]
pub(super) struct Epoch {
    pub(super) number: u64,
    /// The sequence number of the next body.
    pub(super) expected: u64,
    slots: [Option<Coverage>; COVERAGE_SLOTS],
    staged: Staged,
    held: BTreeMap<Subject, HeldReport>,
    /// Number of missing resources of each application that has some.
    missing: BTreeMap<DigName, usize>,
    /// Size of the reports and the missing resources.
    size: Size,
    /// Reports and missing resources of the moment that the next `commit` ends.
    reports: Vec<(Subject, Report)>,
    missing_of: Vec<MissingResources>,
    /// Size of the reports and missing resources that wait for the `commit`.
    uncommitted: Size,
    /// Reports of earlier epochs that this epoch has not replaced, with the current coverage of the pipeline.
    unseen: Reported,
}

impl Epoch {
    /// An epoch after others. The pipeline has these reports of the other epochs.
    pub(super) fn new(number: u64, unseen: Reported) -> Self {
        Self {
            number,
            expected: 0,
            slots: std::array::from_fn(|_| None),
            staged: Staged::default(),
            held: BTreeMap::new(),
            missing: BTreeMap::new(),
            size: Size::default(),
            reports: Vec::new(),
            missing_of: Vec::new(),
            uncommitted: Size::default(),
            unseen,
        }
    }

    /// Ends the epoch.
    pub(super) fn end(self) -> Reported {
        let mut reported = self.unseen;
        reported.subjects.extend(self.held.into_keys());
        reported.missing.extend(self.missing.into_keys());
        reported
    }

    /// Takes one line with its number of bytes, and adds its events to the batch.
    ///
    /// # Errors
    /// The line does not fit the lines before it, or the cluster is over a limit.
    pub(super) fn take(
        &mut self,
        (line, bytes): (Line<'_>, usize),
        cluster: &ClusterName,
        needs: &PushedNeeds,
        batch: &mut PushedBatch,
    ) -> Result<(), PushRefusal> {
        let Some(line) = self.staged.take(line, bytes) else {
            return self.size.plus(self.staged.size).check();
        };
        match line {
            Line::Report(line) => self.take_report(*line),
            Line::MissingOf(line) => self.take_missing(&line),
            Line::CoverageSlot(line) => self.set_slot(line),
            Line::Coverage(line) => self.cover(&line, cluster, batch),
            Line::Gone(line) => self.withdraw(&line, cluster, batch),
            Line::Commit(_) => {
                self.commit(cluster, needs, batch);
                Ok(())
            }
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
        let mut held = self.drop_held(&subject).unwrap_or_default();
        // Until the report is complete: after an error, the next epoch withdraws it.
        self.unseen.subjects.insert(subject.clone());
        let slots = &self.slots;
        let report = held.apply(line, origin, &mut self.staged, |slot| of_slot(slots, slot))?;
        self.unseen.subjects.remove(&subject);
        let size = held.size();
        self.uncommitted = self.uncommitted.plus(size);
        let is_forgotten = report.is_empty() && matches!(subject, Subject::Application { .. });
        if !is_forgotten {
            self.size = self.size.plus(size);
            self.held.insert(subject.clone(), held);
        }
        self.reports.push((subject, report));
        self.check()
    }

    fn take_missing(&mut self, line: &MissingOfLine) -> Result<(), PushRefusal> {
        let application: DigName = line
            .application
            .parse()
            .map_err(|error| PushRefusal::Invalid(format!("{error}")))?;
        let resources = Staged::first(&mut self.staged.missing, line.count, "missing resources")?;
        let resources = resources.into_iter().map(|resource| MissingResource {
            inventory: text(&resource.inventory),
            ..resource
        });
        let resources: Vec<MissingResource> = resources.collect();
        self.unseen.missing.remove(&application);
        let count = |objects| Size { objects, bytes: 0 };
        let before = self.missing.remove(&application).unwrap_or_default();
        self.size = self.size.minus(count(before)).plus(count(resources.len()));
        // The application counts too.
        self.uncommitted = self.uncommitted.plus(count(1 + resources.len()));
        if !resources.is_empty() {
            self.missing.insert(application.clone(), resources.len());
        }
        self.missing_of.push(MissingResources {
            application,
            resources,
        });
        self.check()
    }

    /// Refuses a cluster that is over a limit after a report. An agent reports on a subject once before each `commit`, so
    /// the reports that wait for it are at most as large as all reports.
    fn check(&mut self) -> Result<(), PushRefusal> {
        self.staged.settle();
        self.uncommitted.check()?;
        self.size.plus(self.staged.size).check()
    }

    /// Ends the reports of one moment. Reports on subjects that are not in this cluster are left out.
    fn commit(&mut self, cluster: &ClusterName, needs: &PushedNeeds, batch: &mut PushedBatch) {
        self.uncommitted = Size::default();
        let mut reports = std::mem::take(&mut self.reports);
        reports.retain(|(subject, _)| is_of_cluster(subject, needs));
        let mut missing = std::mem::take(&mut self.missing_of);
        missing.retain(|missing| is_application(&missing.application, needs));
        if !(reports.is_empty() && missing.is_empty()) {
            batch.events.push(ClusterEvent::Reports {
                cluster: cluster.clone(),
                reports,
                missing,
            });
        }
    }

    fn set_slot(&mut self, line: CoverageSlot) -> Result<(), PushRefusal> {
        let slot = self.slots.get_mut(line.slot).ok_or_else(|| {
            let why = format!("there are {COVERAGE_SLOTS} slots of coverages, from 0");
            PushRefusal::Invalid(why)
        })?;
        let rows = line.rows.into_iter().map(|mut row| {
            row.cause = row.cause.as_deref().map(text);
            row
        });
        let rows = rows.collect();
        let left_out = line.left_out.as_deref().map(text);
        *slot = Some(Coverage::from(CoverageSlot {
            rows,
            left_out,
            ..line
        }));
        Ok(())
    }

    fn cover(
        &mut self,
        line: &CoverageLine,
        cluster: &ClusterName,
        batch: &mut PushedBatch,
    ) -> Result<(), PushRefusal> {
        let next = of_slot(&self.slots, line.slot)?;
        let coverage = match &self.unseen.coverage {
            Some(before) if line.worse_only => before.worst_of(&next),
            Some(_) | None => next,
        };
        self.unseen.coverage = Some(coverage.clone());
        let cluster = cluster.clone();
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
        self.drop_held(&subject);
        self.unseen.subjects.remove(&subject);
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
        for subject in subjects {
            match subject {
                Subject::Deployment(deployment) => batch.events.push(ClusterEvent::Gone {
                    cluster: cluster.clone(),
                    deployment,
                }),
                Subject::Application { .. } => reports.push((subject, self.without_objects())),
            }
        }
        let missing = missing.into_iter().map(|application| MissingResources {
            application,
            resources: Vec::new(),
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
        let coverage = self.unseen.coverage.clone();
        Report {
            coverage: coverage.unwrap_or_else(Coverage::partial),
            ..Report::empty(Origin::Found)
        }
    }

    /// Forgets everything: the name belongs to another cluster now.
    fn forget(&mut self, cluster: &ClusterName, batch: &mut PushedBatch) {
        *self = Self {
            expected: self.expected,
            slots: std::mem::replace(&mut self.slots, std::array::from_fn(|_| None)),
            ..Self::new(self.number, Reported::default())
        };
        let cluster = cluster.clone();
        batch.events.push(ClusterEvent::Removed {
            cluster: cluster.clone(),
        });
        batch.events.push(ClusterEvent::Added { cluster });
    }

    fn drop_held(&mut self, subject: &Subject) -> Option<HeldReport> {
        let held = self.held.remove(subject)?;
        self.size = self.size.minus(held.size());
        Some(held)
    }
}

/// Takes a line about the cluster and the connection to it.
fn take_signal(
    line: Line<'_>,
    cluster: ClusterName,
    batch: &mut PushedBatch,
) -> Result<(), PushRefusal> {
    let event = match line {
        Line::Unreadable(line) => unreadable(&line, cluster)?,
        Line::Facts(line) => {
            let facts = Arc::new(cleaned(&(*line).into()));
            ClusterEvent::Facts { cluster, facts }
        }
        Line::Faults(faults) => {
            let faults = faults.iter().take(FAULTS_MAX);
            let faults = faults.map(|fault| text(fault).to_string()).collect();
            ClusterEvent::Faults { cluster, faults }
        }
        Line::Heard(_) => ClusterEvent::Heard { cluster },
        Line::Synced(_) => ClusterEvent::Synced { cluster },
        Line::Stale(line) => {
            let reason = text(&line.reason).to_string();
            ClusterEvent::Stale { cluster, reason }
        }
        Line::Confirmed(ConfirmedLine { id, error }) => {
            batch.confirmed.push((id, error.map_or(Ok(()), Err)));
            return Ok(());
        }
        // The epoch takes every other line.
        _ => return Ok(()),
    };
    batch.events.push(event);
    Ok(())
}

fn of_slot(slots: &[Option<Coverage>], slot: usize) -> Result<Coverage, PushRefusal> {
    let coverage = slots.get(slot).cloned().flatten();
    coverage.ok_or_else(|| PushRefusal::Invalid(format!("slot {slot} has no coverage")))
}

fn deployment(name: &str) -> Result<DeploymentId, PushRefusal> {
    let parsed = name.parse::<DeploymentId>();
    parsed.map_err(|error| PushRefusal::Invalid(error.to_string()))
}

/// Returns whether the agent of the cluster may report on a subject.
fn is_of_cluster(subject: &Subject, needs: &PushedNeeds) -> bool {
    match subject {
        Subject::Deployment(deployment) => needs.recorded.contains_key(deployment),
        Subject::Application { application, app } => {
            (is_name(app) || is_label_value(app)) && is_application(application, needs)
        }
    }
}

/// Returns whether an application was found by marks, or the configuration selects it in the cluster.
fn is_application(name: &DigName, needs: &PushedNeeds) -> bool {
    let mut configured = needs.applications.iter();
    name.is_found() || configured.any(|application| application.name == *name)
}

fn unreadable(line: &UnreadableLine, cluster: ClusterName) -> Result<ClusterEvent, PushRefusal> {
    let deployment = line.deployment.as_deref().map(deployment).transpose()?;
    Ok(ClusterEvent::Unreadable {
        cluster,
        deployment,
        may_be_newer: line.may_be_newer,
        origin: text(&line.origin).to_string(),
        error: text(&line.error).to_string(),
    })
}

fn cleaned(facts: &ClusterFacts) -> ClusterFacts {
    ClusterFacts {
        origin: text(&facts.origin),
        identity: facts.identity.as_deref().map(text),
        selector: facts.selector.as_deref().map(text),
        server_version: facts.server_version.as_deref().map(text),
        ..facts.clone()
    }
}
