//! Lookups of instances.

use std::collections::BTreeSet;

use kindsight_api::k8splugin::{
    RbInstance, RbInstanceParameters, RbInstanceRefusal, RbInstanceStatus, RbInstanceSummary,
};
use kindsight_model::{ClusterName, DigName, INSTANCE_LABEL};
use kindsight_read_model::VisibleModel;
use kindsight_status::{ApplicationQuery, Applications, StatusQuery, Subject};

use crate::found::Found;
use crate::settings::{ConfiguredInstance, InstanceSettings, InstanceSettingsError};

/// Looks up instances in the read model, as a reader may see it.
#[derive(Debug)]
pub struct Instances {
    settings: InstanceSettings,
}

/// The status of an instance, and the reason why it may be out of date.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredStatus {
    /// The status.
    pub status: RbInstanceStatus,
    /// The reason why the report of the cluster is stale; `None` if it is current.
    pub stale: Option<String>,
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a path to a method names one lifetime of the found instance, and the callers need any"
)]
impl Instances {
    /// Instances of this configuration.
    ///
    /// # Errors
    /// [`InstanceSettings::check`].
    pub fn new(settings: InstanceSettings) -> Result<Self, InstanceSettingsError> {
        settings.check()?;
        Ok(Self { settings })
    }

    /// The instances that the parameters select, in order of their IDs. The cost grows with the objects of the
    /// applications that may be instances.
    pub fn list(
        &self,
        model: &VisibleModel,
        parameters: &RbInstanceParameters,
    ) -> Vec<RbInstanceSummary> {
        let configured = self.settings.instances.iter();
        let configured = configured.filter_map(|instance| {
            self.configured(model, instance, |found| found.summary())
                .ok()
        });
        let mut summaries: Vec<_> = configured.collect();
        let applications = model.applications(&ApplicationQuery::default());
        let applications = applications.iter().flat_map(Applications::subjects);
        for (name, subject) in applications.filter(|(name, _)| may_be_labelled(name)) {
            let id = &*name.composite_app;
            if self.configuration_of(id).is_some() {
                continue;
            }
            let clusters = labelled(subject, id);
            let found = clusters
                .iter()
                .map(|cluster| self.labelled_in(id, name, subject, cluster));
            summaries.extend(found.map(|found| found.summary()));
        }
        summaries.retain(|summary| is_selected(summary, parameters));
        summaries.sort_by(|one, other| {
            let key = |of: &RbInstanceSummary| (of.id.clone(), of.request.cloud_region.clone());
            key(one).cmp(&key(other))
        });
        summaries
    }

    /// An instance with the identities of its resources.
    ///
    /// # Errors
    /// [`RbInstanceRefusal`] if the ID names no instance, or more than one.
    pub fn get(&self, model: &VisibleModel, id: &str) -> Result<RbInstance, RbInstanceRefusal> {
        self.with_found(model, id, |found| found.instance())
    }

    /// The status of an instance.
    ///
    /// # Errors
    /// As for [`Instances::get`].
    pub fn status(
        &self,
        model: &VisibleModel,
        id: &str,
    ) -> Result<AnsweredStatus, RbInstanceRefusal> {
        self.with_found(model, id, |found| found.status())
    }

    fn with_found<T>(
        &self,
        model: &VisibleModel,
        id: &str,
        answer: impl FnOnce(&Found<'_>) -> T,
    ) -> Result<T, RbInstanceRefusal> {
        if let Some(instance) = self.configuration_of(id) {
            return self.configured(model, instance, answer);
        }
        let name = DigName::found(id, None).map_err(|_| not_found(id))?;
        let subject = model.dig(&name, &StatusQuery::default());
        let subject = subject.map_err(|_| not_found(id))?;
        let clusters = labelled(&subject, id);
        let mut clusters = clusters.iter();
        match (clusters.next(), clusters.next()) {
            (None, _) => Err(not_found(id)),
            (Some(cluster), None) => Ok(answer(&self.labelled_in(id, &name, &subject, cluster))),
            (Some(one), Some(other)) => Err(ambiguous(id, one, other)),
        }
    }

    fn configuration_of(&self, id: &str) -> Option<&ConfiguredInstance> {
        let mut instances = self.settings.instances.iter();
        instances.find(|instance| instance.id == id)
    }

    /// Answers about the instance of an entry.
    fn configured<T>(
        &self,
        model: &VisibleModel,
        instance: &ConfiguredInstance,
        answer: impl FnOnce(&Found<'_>) -> T,
    ) -> Result<T, RbInstanceRefusal> {
        let id = &instance.id;
        let name = match &instance.application {
            Some(name) => name.clone(),
            None => DigName::found(id, None).map_err(|_| not_found(id))?,
        };
        let subject = model.dig(&name, &StatusQuery::default());
        let subject = subject.map_err(|_| not_found(id))?;
        let cluster = self.cluster_of(instance, &subject)?;
        let region = instance.cloud_region.clone();
        let region = region.or_else(|| cluster.as_ref().map(|cluster| self.region_of(cluster)));
        Ok(answer(&Found {
            id,
            name: &name,
            subject: &subject,
            cluster: cluster.as_ref(),
            region: region.unwrap_or_default(),
            configured: Some(instance),
        }))
    }

    fn labelled_in<'f>(
        &self,
        id: &'f str,
        name: &'f DigName,
        subject: &'f Subject,
        cluster: &'f ClusterName,
    ) -> Found<'f> {
        Found {
            id,
            name,
            subject,
            cluster: Some(cluster),
            region: self.region_of(cluster),
            configured: None,
        }
    }

    /// The cluster of an entry; `None` if the application has no cluster yet.
    fn cluster_of(
        &self,
        instance: &ConfiguredInstance,
        subject: &Subject,
    ) -> Result<Option<ClusterName>, RbInstanceRefusal> {
        let region = instance.cloud_region.as_ref();
        if let Some(cluster) = region.and_then(|region| self.settings.cloud_regions.get(region)) {
            return Ok(Some(cluster.clone()));
        }
        let is_named = |cluster: &&ClusterName| {
            region.is_none_or(|region| *cluster.name == **region || cluster.to_string() == *region)
        };
        let clusters: BTreeSet<&ClusterName> = subject.clusters().filter(is_named).collect();
        let mut clusters = clusters.into_iter();
        match (clusters.next(), clusters.next()) {
            (Some(one), Some(other)) => Err(ambiguous(&instance.id, one, other)),
            (one, _) => Ok(one.cloned()),
        }
    }

    /// The cloud region that names a cluster.
    fn region_of(&self, cluster: &ClusterName) -> String {
        let mut regions = self.settings.cloud_regions.iter();
        let region = regions.find(|(_, of)| *of == cluster);
        region.map_or_else(|| cluster.name.to_string(), |(region, _)| region.clone())
    }
}

/// Returns whether the label of an instance can name an application.
fn may_be_labelled(name: &DigName) -> bool {
    name.is_found() && &*name.dig == DigName::NONE
}

/// The clusters with objects that have the label of this instance. In a cluster that was not heard since the start, the
/// objects of before the start count.
fn labelled(subject: &Subject, id: &str) -> BTreeSet<ClusterName> {
    let placements = subject.view().into_iter().flat_map(|view| view.clusters());
    let labelled = placements.filter(|placement| placement.has_instance(id));
    labelled
        .map(|placement| placement.cluster().clone())
        .collect()
}

fn is_selected(summary: &RbInstanceSummary, by: &RbInstanceParameters) -> bool {
    let request = &summary.request;
    [
        (&by.rb_name, &request.rb_name),
        (&by.rb_version, &request.rb_version),
        (&by.profile_name, &request.profile_name),
    ]
    .iter()
    .all(|(asked, has)| asked.as_ref().is_none_or(|asked| asked == *has))
}

fn not_found(id: &str) -> RbInstanceRefusal {
    let id = kindsight_status::clipped(id);
    RbInstanceRefusal::NotFound(format!(
        "there is no instance `{id}`: no object has the label `{INSTANCE_LABEL}={id}` as its first mark, and the configuration names no visible application for this ID; `GET /v1/instance` lists the instances"
    ))
}

fn ambiguous(id: &str, one: &ClusterName, other: &ClusterName) -> RbInstanceRefusal {
    RbInstanceRefusal::Ambiguous(format!(
        "the instance `{id}` is in the clusters `{one}` and `{other}`: write an entry `[[k8splugin.instance]]` with its `cloud-region`"
    ))
}
