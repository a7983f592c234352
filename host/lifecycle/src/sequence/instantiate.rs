//! The sequence of an instantiation.

use kindsight_appcontext::{
    ContextMeta, ContextSnapshot, Intent, IntentApp, NewApp, NewCluster, NewContext, NewResource,
};
use kindsight_model::{ClusterName, ContextStatus, DigName, RsyncStatus};

use super::placement::{Placement, Step};
use super::{Part, Sequence};
use crate::work::Work;
use crate::{Error, Result, manifest};

impl Sequence {
    /// Sends every resource of a context in its order. After a Failed resource, the later resources of this app in this
    /// cluster stay Pending. Other apps and clusters continue.
    pub(super) fn instantiate(&self, name: &DigName, work: &Work) -> Result<Part> {
        let snapshot = self.created(name, work)?;
        if !self.is_current(name, work)? {
            return Ok(Part::Superseded);
        }
        let snapshot = self.begun(work, snapshot)?;
        let mut part = Part::Done;
        for placement in Placement::all(&snapshot)? {
            part = part.and(self.send(name, work, &placement)?);
            if part == Part::Superseded {
                return Ok(part);
            }
        }
        match part {
            Part::Done => self.set_status(&work.context, ContextStatus::Instantiated)?,
            Part::Failed => self.set_status(&work.context, ContextStatus::InstantiateFailed)?,
            Part::Retry | Part::Superseded => {}
        }
        Ok(part)
    }

    /// Reads the context. Creates the context if it does not exist.
    fn created(&self, name: &DigName, work: &Work) -> Result<ContextSnapshot> {
        if let Some(snapshot) = self.contexts.read(&work.context)? {
            return Ok(snapshot);
        }
        let intent = self.records.intent(name)?;
        let intent = intent.ok_or_else(|| Error::ReadOnly(name.clone()))?;
        self.contexts
            .create_as(&work.context, &new_context(name, &intent)?)?;
        if self.records.dig(name)?.is_none() {
            // The group was deleted while its context was created.
            self.contexts.delete(&work.context)?;
        }
        let snapshot = self.contexts.read(&work.context)?;
        snapshot.ok_or(Error::ContextDeleted)
    }

    /// Makes every resource Pending, and the context Instantiating, unless the context has this status already.
    fn begun(&self, work: &Work, snapshot: ContextSnapshot) -> Result<ContextSnapshot> {
        if snapshot.status.is_some() {
            return Ok(snapshot);
        }
        self.reset(&snapshot, |status| {
            status.is_none().then_some(RsyncStatus::Pending)
        })?;
        self.set_status(&work.context, ContextStatus::Instantiating)?;
        let snapshot = self.contexts.read(&work.context)?;
        snapshot.ok_or(Error::ContextDeleted)
    }

    /// Sends the resources of one app to one cluster.
    fn send(&self, name: &DigName, work: &Work, placement: &Placement) -> Result<Part> {
        for (position, step) in placement.steps.iter().enumerate() {
            match step.status {
                Some(RsyncStatus::Applied) => continue,
                Some(RsyncStatus::Failed) => return Ok(Part::Failed),
                _ => {}
            }
            if !self.is_current(name, work)? {
                return Ok(Part::Superseded);
            }
            let manifest = placement.manifest(step)?;
            let sent = self.sender.apply(&placement.target, &step.sent(&manifest));
            let result = (sent.map(drop), RsyncStatus::Applied);
            match self.store_result(&work.context, placement, step, result)? {
                Part::Done => {}
                Part::Retry => {
                    let rest = placement.steps.get(position..).unwrap_or_default();
                    self.retry(work, placement, rest)?;
                    return Ok(Part::Retry);
                }
                part => return Ok(part),
            }
        }
        Ok(Part::Done)
    }

    /// Makes the resources that wait for an unreachable cluster Retrying.
    fn retry(&self, work: &Work, placement: &Placement, rest: &[Step]) -> Result<()> {
        let changes: Vec<_> = rest
            .iter()
            .map(|step| (step, RsyncStatus::Retrying))
            .collect();
        self.set_statuses(&work.context, placement, &changes)
    }
}

/// The context of an instance of a group.
fn new_context(name: &DigName, intent: &Intent) -> Result<NewContext> {
    let apps = intent.apps.iter().map(|app| {
        let clusters = app.clusters.iter();
        let clusters = clusters.map(|cluster| new_cluster(app, cluster));
        Ok(NewApp {
            name: app.name.clone(),
            clusters: clusters.collect::<Result<_>>()?,
        })
    });
    Ok(NewContext {
        meta: ContextMeta::of_dig(name),
        apps: apps.collect::<Result<_>>()?,
    })
}

fn new_cluster(app: &IntentApp, cluster: &ClusterName) -> Result<NewCluster> {
    let resources = app.manifests.iter().map(|yaml| {
        let resource = manifest::checked(yaml).map_err(|why| Error::Manifest {
            resource: format!("the app {}", app.name),
            why,
        })?;
        Ok(NewResource {
            resource,
            manifest: yaml.clone(),
        })
    });
    Ok(NewCluster {
        cluster: cluster.clone(),
        group: None,
        resources: resources.collect::<Result<_>>()?,
    })
}
