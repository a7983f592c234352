//! The removal of old instances.

use std::collections::BTreeSet;

use kindsight_appcontext::{AskedWork, Record};
use kindsight_model::{ContextId, RecordSubject, RsyncStatus};

use super::Sequence;
use crate::Result;
use crate::work::{Instance, Job, Work, WorkKind};

impl Sequence {
    /// Tidies after completed work: removes old instances of a subject, or forgets that work was asked for on a context.
    pub(super) fn completed(&self, job: &Job, work: &Work) -> Result<()> {
        match job {
            Job::Subject(subject) => match self.records.get(subject)? {
                Some(record) => self.retain(subject, &record, work),
                None => Ok(()),
            },
            Job::Context(id) => {
                let asked = match work.kind {
                    WorkKind::Instantiate => AskedWork::Instantiate,
                    WorkKind::Terminate => AskedWork::Terminate,
                    WorkKind::Read => AskedWork::Read,
                    WorkKind::Stop => return Ok(()),
                };
                Ok(self.records.forget_asked(id, asked)?)
            }
        }
    }

    /// Deletes the contexts and the contents of the revisions that are older than the last instances. Contexts that have
    /// the statuses or manifests of a kept instance stay.
    fn retain(&self, subject: &RecordSubject, record: &Record, work: &Work) -> Result<()> {
        let instances = Instance::all(record);
        let revisions = self.records.revisions(subject)?;
        if revisions.len() <= self.instances_kept {
            return Ok(());
        }
        let mut kept = Instance::kept(&instances, self.instances_kept);
        kept.extend(self.acting(&work.status_context)?);
        for revision in revisions {
            let mut of_revision = instances
                .iter()
                .filter(|instance| instance.revision == revision);
            match of_revision.next() {
                Some(instance) if kept.contains(&instance.context) => continue,
                Some(instance) => drop(self.contexts.delete(&instance.context)?),
                None => {}
            }
            self.records.delete_revision(subject, revision)?;
        }
        Ok(())
    }

    /// The contexts with the manifests of resources that are not removed.
    fn acting(&self, status_context: &ContextId) -> Result<BTreeSet<ContextId>> {
        let deployed = self.contexts.deployed(status_context)?.into_values();
        let present = deployed.filter(|resource| resource.status != RsyncStatus::Deleted);
        Ok(present.map(|it| it.acting).collect())
    }
}
