//! Notifications, from the status of a subject.

use kindsight_api::emco::ReadyStatus;
use kindsight_api::status::{App, Cluster, Resource};
use kindsight_model::{ContextStatus, Phase, RecordSubject, RsyncStatus};
use kindsight_status::{Resources, Subject, emco_ready_status};

use crate::proto::status_detail::StatusDetail as Detail;
use crate::proto::{
    AppStatus, ClusterStatus, Gvk, ResourceStatus, StatusDetail, StatusNotification,
};
use crate::registration::{Registration, RequestedStatus};

/// The current notification for a registration. The cost grows with its size.
pub(crate) fn notification(subject: &Subject, of: &Registration) -> StatusNotification {
    let status = subject.selected(&of.query);
    let is_deployed = status.status.as_ref().is_some_and(is_deployed);
    let is_reached = match of.status {
        RequestedStatus::Deployed => is_deployed,
        // Nothing was sent for a found application.
        RequestedStatus::Ready => {
            (is_deployed || subject.is_found()) && is_ready(status.readiness.ready_phase)
        }
    };
    let apps = status.apps.iter().map(|app| of.status.app(app));
    StatusNotification {
        status_value: of.status.value(is_reached).into(),
        details: match of.name {
            RecordSubject::Group(_) => apps.map(Detail::App).map(detail).collect(),
            RecordSubject::Cluster(_) | RecordSubject::LogicalCloud(_) => {
                let clusters = apps.flat_map(|app| app.clusters);
                clusters.map(Detail::Cluster).map(detail).collect()
            }
        },
    }
}

/// EMCO's orchestrator sets `Updated` after an update; its resources are as deployed as after an instantiation.
fn is_deployed(status: &ContextStatus) -> bool {
    matches!(status.as_str(), "Instantiated" | "Updated")
}

fn detail(of: Detail) -> StatusDetail {
    StatusDetail {
        status_detail: Some(of),
    }
}

fn is_ready(phase: Option<Phase>) -> bool {
    phase.is_some_and(|phase| emco_ready_status(phase) == ReadyStatus::Ready)
}

impl RequestedStatus {
    fn app(self, app: &App<'_, Resources<'_>>) -> AppStatus {
        let clusters: Vec<ClusterStatus> = app
            .clusters
            .iter()
            .map(|cluster| self.cluster(cluster))
            .collect();
        let is_reached = match self {
            Self::Ready => is_ready(app.readiness.ready_phase),
            Self::Deployed => {
                let deployed: i32 = self.value(true).into();
                clusters
                    .iter()
                    .all(|cluster| cluster.status_value == deployed)
            }
        };
        AppStatus {
            app: app.name.to_string(),
            status_value: self.value(is_reached).into(),
            clusters,
        }
    }

    fn cluster(self, cluster: &Cluster<'_, Resources<'_>>) -> ClusterStatus {
        let resources = || cluster.resources.iter();
        let is_reached = match self {
            Self::Ready => is_ready(cluster.readiness.ready_phase),
            Self::Deployed => resources().all(|resource| self.is_reached(&resource)),
        };
        ClusterStatus {
            cluster_provider: cluster.cluster_provider.to_string(),
            cluster: cluster.cluster.to_string(),
            status_value: self.value(is_reached).into(),
            resources: resources()
                .map(|resource| self.resource(&resource))
                .collect(),
        }
    }

    fn resource(self, resource: &Resource<'_>) -> ResourceStatus {
        let gvk = &resource.gvk;
        ResourceStatus {
            name: resource.name.to_string(),
            gvk: Some(Gvk {
                group: gvk.group.to_string(),
                version: gvk.version.to_string(),
                kind: gvk.kind.to_string(),
            }),
            status_value: self.value(self.is_reached(resource)).into(),
        }
    }

    fn is_reached(self, resource: &Resource<'_>) -> bool {
        match self {
            Self::Ready => is_ready(resource.phase),
            Self::Deployed => resource.rsync_status == Some(RsyncStatus::Applied),
        }
    }
}
