//! The configured clusters as receivers of resources: folders and API servers.

mod api_server;
mod folder;

use std::collections::BTreeSet;

use kindsight_clusters::{
    Absences, AwaitedClusters, ClusterSource, KubernetesCluster, Needs, ProjectRights, Projects,
};
use kindsight_lifecycle::{
    Applied, CannotSend, Deletion, InstalledDefinition, Preview, SendError, Sender, SentDefinition,
    SentResource, SentStatus, Target,
};
use kindsight_model::ClusterName;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::cluster_changes::cluster_changes;
use crate::settings::{ClusterChanges, Settings};
use api_server::{ApiServer, ApiServers};

/// The clusters and the rights of projects, as they are in the configuration at the time of each call.
pub(crate) struct ConfiguredClusters {
    clusters: ClusterChanges,
    projects: watch::Receiver<Projects>,
    api_servers: ApiServers,
    awaited: AwaitedClusters,
}

/// A resource with the rights of its project.
struct Sent<'a> {
    target: &'a Target,
    resource: &'a SentResource<'a>,
    rights: ProjectRights,
}

/// One cluster as the receiver of resources. The methods are the methods of [`Sender`].
trait Receiver {
    fn vet(&self, sent: &Sent<'_>) -> Result<(), SendError>;
    fn apply(&self, sent: &Sent<'_>) -> Result<Applied, SendError>;
    fn preview(&self, sent: &Sent<'_>) -> Result<Preview, SendError>;
    fn read(&self, sent: &Sent<'_>) -> Result<String, SendError>;
    fn delete(&self, sent: &Sent<'_>) -> Result<Deletion, SendError>;
    fn announce(&self, target: &Target) -> Result<(), SendError>;
    fn removed(&self, target: &Target) -> Result<(), SendError>;
}

impl ConfiguredClusters {
    /// The clusters of these settings, whose sources have these needs. Calls end at `shutdown`.
    pub(crate) fn of(settings: &Settings, needs: &Needs, shutdown: CancellationToken) -> Self {
        Self {
            clusters: cluster_changes(settings),
            projects: settings.projects.clone(),
            api_servers: ApiServers::new(needs.absences.clone(), shutdown),
            awaited: needs.awaited.clone(),
        }
    }

    /// One cluster, for a command of an operator.
    pub(crate) fn only(cluster: KubernetesCluster) -> Self {
        Self {
            clusters: watch::channel(vec![ClusterSource::Kubernetes(Box::new(cluster))]).1,
            projects: watch::channel(Projects::default()).1,
            api_servers: ApiServers::new(Absences::default(), CancellationToken::new()),
            awaited: AwaitedClusters::default(),
        }
    }

    fn source(&self, name: &ClusterName) -> Result<ClusterSource, CannotSend> {
        let clusters = self.clusters.borrow();
        let source = clusters.iter().find(|cluster| cluster.name() == name);
        source
            .cloned()
            .ok_or_else(|| CannotSend::Unknown(name.clone()))
    }

    fn names(&self) -> BTreeSet<ClusterName> {
        let clusters = self.clusters.borrow();
        let names = clusters.iter().map(|cluster| cluster.name().clone());
        names.collect()
    }

    fn receiver(&self, target: &Target) -> Result<Box<dyn Receiver>, SendError> {
        let source = self.source(&target.cluster);
        let source = source.map_err(|error| SendError::Unreachable(error.to_string()))?;
        Ok(match source {
            ClusterSource::Folder(folder) => Box::new(folder),
            ClusterSource::Pushed(_) => {
                return Err(SendError::Refused(pushed(&target.cluster).to_string()));
            }
            ClusterSource::Kubernetes(cluster) => {
                // Probes find an outage of the cluster early while resources are sent.
                self.awaited.request(cluster.name());
                Box::new(self.api_servers.of(&cluster, || self.names())?)
            }
        })
    }

    /// The API server of a cluster.
    fn api_server(&self, name: &ClusterName) -> Result<ApiServer, SendError> {
        let source = self.source(name);
        match source.map_err(|error| SendError::Unreachable(error.to_string()))? {
            ClusterSource::Kubernetes(cluster) => self.api_servers.of(&cluster, || self.names()),
            ClusterSource::Folder(_) | ClusterSource::Pushed(_) => Err(SendError::Refused(
                "only a watched cluster has an API server".to_owned(),
            )),
        }
    }

    fn rights(&self, target: &Target) -> Result<ProjectRights, SendError> {
        let Some(project) = &target.project else {
            // The network intents of a cluster belong to no project.
            return Ok(ProjectRights::default());
        };
        let rights = self.projects.borrow().of(project);
        rights.map_err(|error| SendError::Refused(error.to_string()))
    }

    /// Sends a resource to a cluster that the project may use, and logs a failure.
    fn send<T>(
        &self,
        target: &Target,
        resource: &SentResource<'_>,
        send: impl FnOnce(&dyn Receiver, &Sent<'_>) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let sent = self.rights(target).and_then(|rights| {
            let permitted = rights.check_cluster(&target.cluster);
            permitted.map_err(|error| SendError::Refused(error.to_string()))?;
            let receiver = self.receiver(target)?;
            let sent = Sent {
                target,
                resource,
                rights,
            };
            send(&*receiver, &sent)
        });
        logged(target, Some(resource), sent)
    }
}

impl Sender for ConfiguredClusters {
    fn check(&self, cluster: &ClusterName) -> Result<(), CannotSend> {
        match self.source(cluster)? {
            ClusterSource::Folder(_) | ClusterSource::Kubernetes(_) => Ok(()),
            ClusterSource::Pushed(_) => Err(pushed(cluster)),
        }
    }

    fn vet(&self, target: &Target, resource: &SentResource<'_>) -> Result<(), SendError> {
        self.send(target, resource, |to, sent| to.vet(sent))
    }

    fn apply(&self, target: &Target, resource: &SentResource<'_>) -> Result<Applied, SendError> {
        self.send(target, resource, |to, sent| to.apply(sent))
    }

    fn preview(&self, target: &Target, resource: &SentResource<'_>) -> Result<Preview, SendError> {
        self.send(target, resource, |to, sent| to.preview(sent))
    }

    fn read(&self, target: &Target, resource: &SentResource<'_>) -> Result<String, SendError> {
        self.send(target, resource, |to, sent| to.read(sent))
    }

    /// A later change of the project's clusters does not prevent a deletion.
    fn delete(&self, target: &Target, resource: &SentResource<'_>) -> Result<Deletion, SendError> {
        let deleted = self.rights(target).and_then(|rights| {
            let sent = Sent {
                target,
                resource,
                rights,
            };
            self.receiver(target)?.delete(&sent)
        });
        logged(target, Some(resource), deleted)
    }

    fn announce(&self, target: &Target) -> Result<(), SendError> {
        let announced = self.receiver(target).and_then(|to| to.announce(target));
        logged(target, None, announced)
    }

    /// The caller logs a failure.
    fn apply_status(&self, status: &SentStatus<'_>) -> Result<(), SendError> {
        self.api_server(status.cluster)?.apply_status(status)
    }

    /// The caller reports a failure.
    fn install(&self, definition: &SentDefinition<'_>) -> Result<InstalledDefinition, SendError> {
        self.api_server(definition.cluster)?.install(definition)
    }

    fn removed(&self, target: &Target) -> Result<(), SendError> {
        let removed = self.receiver(target).and_then(|to| to.removed(target));
        logged(target, None, removed)
    }
}

/// The reason why nothing can be sent to a pushed cluster.
fn pushed(cluster: &ClusterName) -> CannotSend {
    CannotSend::Unsupported {
        cluster: cluster.clone(),
        reason: "an agent pushes its reports, and resources are sent to watched clusters only",
    }
}

/// Logs a failure. Its text has no content of the resource.
fn logged<T>(
    target: &Target,
    resource: Option<&SentResource<'_>>,
    done: Result<T, SendError>,
) -> Result<T, SendError> {
    if let Err(error) = &done {
        let resource = resource.map(|resource| format!("{} {}", resource.kind, resource.name));
        tracing::warn!(
            cluster = %target.cluster,
            deployment = %target.deployment,
            resource,
            %error,
            "a resource was not sent, removed or read"
        );
    }
    done
}

#[cfg(test)]
mod tests;
