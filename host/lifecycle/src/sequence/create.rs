//! The contexts of instances.

use std::collections::BTreeMap;

use kindsight_appcontext::{
    AppDependency, ContextMeta, ContextSnapshot, DependsOn, Error as StoreError, Intent, IntentApp,
    IntentCondition, NewApp, NewCluster, NewContext, NewInstance, NewResource, ResourceWait,
};
use kindsight_model::{ClusterName, ContextId, RecordSubject};

use super::Run;
use crate::work::Job;
use crate::{Error, Result, manifest};

impl Run<'_> {
    /// Reads the context. Creates the context from the content of its revision if it does not exist.
    pub(super) fn created(&self) -> Result<ContextSnapshot> {
        let (contexts, records) = (&self.of.contexts, &self.of.records);
        if let Some(snapshot) = contexts.read(&self.work.context)? {
            return Ok(snapshot);
        }
        let Job::Subject(subject) = self.job else {
            return Err(Error::ContextDeleted);
        };
        // The first instance may have been updated before its context was created.
        let status_context = &self.work.status_context;
        let is_first = *status_context == self.work.context;
        if !is_first && !self.exists(status_context)? {
            let content = records.revision(subject, self.work.status_revision)?;
            let content = content.ok_or_else(|| Error::ReadOnly(subject.clone()))?;
            contexts.create_instance(status_context, &new_instance(subject, None, &content)?)?;
        }
        let status_context = (!is_first).then_some(status_context);
        let content = self.content.as_ref();
        let content = content.ok_or_else(|| Error::ReadOnly(subject.clone()))?;
        let new = new_instance(subject, status_context, content)?;
        contexts.create_instance(&self.work.context, &new)?;
        if records.get(subject)?.is_none() {
            // The subject was deleted while its contexts were created.
            contexts.delete(&self.work.context)?;
            contexts.delete(&self.work.status_context)?;
        }
        self.snapshot()
    }

    fn exists(&self, id: &ContextId) -> Result<bool> {
        match self.of.contexts.load(id) {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn new_instance(
    subject: &RecordSubject,
    status_context: Option<&ContextId>,
    content: &Intent,
) -> Result<NewInstance> {
    let apps = content.apps.iter().map(new_app);
    let waiting = content.apps.iter().filter(|app| !app.depends_on.is_empty());
    let waiting = waiting.map(|app| (app.name.clone(), dependency(app)));
    let resources = content
        .apps
        .iter()
        .filter(|app| !app.resource_dependencies.is_empty());
    let resources = resources.map(|app| (app.name.clone(), waits(app)));
    Ok(NewInstance {
        context: NewContext {
            meta: ContextMeta::of(subject),
            apps: apps.collect::<Result<_>>()?,
        },
        status_context: status_context.cloned(),
        apps: waiting.collect::<BTreeMap<_, _>>(),
        resources: resources.collect::<BTreeMap<_, _>>(),
    })
}

/// The app with all its clusters. The clusters of a group have its number, from 1.
fn new_app(app: &IntentApp) -> Result<NewApp> {
    let resources = new_resources(app)?;
    let cluster = |cluster: &ClusterName, group| NewCluster {
        cluster: cluster.clone(),
        group,
        resources: resources.clone(),
    };
    let all_of = app.clusters.iter().map(|name| cluster(name, None));
    let any_of = (1_usize..).zip(&app.any_of).flat_map(|(number, group)| {
        let names = group.iter();
        names.map(move |name| (name, Some(number.to_string())))
    });
    let any_of = any_of.map(|(name, group)| cluster(name, group));
    Ok(NewApp {
        name: app.name.clone(),
        clusters: all_of.chain(any_of).collect(),
    })
}

fn new_resources(app: &IntentApp) -> Result<Vec<NewResource>> {
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
    resources.collect()
}

/// The status of a dependency, in the words of the key layout.
fn word(condition: IntentCondition) -> &'static str {
    match condition {
        IntentCondition::Applied => "Deployed",
        IntentCondition::Ready => "Ready",
    }
}

fn dependency(app: &IntentApp) -> AppDependency {
    let apps = app.depends_on.iter();
    let apps =
        apps.map(|app| DependsOn::new(&*app.app, word(app.condition), app.wait_seconds.into()));
    AppDependency {
        apps: apps.collect(),
    }
}

fn waits(app: &IntentApp) -> Vec<ResourceWait> {
    let waits = app
        .resource_dependencies
        .iter()
        .map(|dependency| ResourceWait {
            resource: dependency.resource.clone(),
            on: dependency.on.clone(),
            status: word(dependency.condition).to_owned(),
            wait_seconds: dependency.wait_seconds.into(),
        });
    waits.collect()
}
