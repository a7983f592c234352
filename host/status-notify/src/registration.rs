//! Registrations, as clients send them.

use std::fmt::Display;

use kindsight_api::problem::PartialProblem;
use kindsight_api::status::{Output, QueryType};
use kindsight_model::RecordSubject;
use kindsight_status::{StatusQuery, clipped, cluster_name, dig_name, logical_cloud_name};
use tonic::Status;

use crate::proto::status_registration::Key;
use crate::proto::{OutputType, StatusRegistration, StatusValue};

/// A valid registration. The names in it need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registration {
    /// The subject.
    pub(crate) name: RecordSubject,
    /// The selected part, and the type of status.
    pub(crate) query: StatusQuery,
    /// The requested status.
    pub(crate) status: RequestedStatus,
}

/// The status that a registration requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedStatus {
    /// State of the resources in their clusters.
    Ready,
    /// Results of sending the resources to their clusters.
    Deployed,
}

impl RequestedStatus {
    /// The value for a status that is reached or not.
    pub(crate) fn value(self, is_reached: bool) -> StatusValue {
        match (self, is_reached) {
            (Self::Ready, true) => StatusValue::Ready,
            (Self::Ready, false) => StatusValue::NotReady,
            (Self::Deployed, true) => StatusValue::Deployed,
            (Self::Deployed, false) => StatusValue::NotDeployed,
        }
    }
}

impl Registration {
    /// Reads a registration.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` with the member and its valid form.
    pub(crate) fn read(of: StatusRegistration) -> Result<Self, Status> {
        let status = match of.status_type() {
            StatusValue::Ready => RequestedStatus::Ready,
            StatusValue::Deployed => RequestedStatus::Deployed,
            StatusValue::StatusError | StatusValue::NotReady | StatusValue::NotDeployed => {
                return Err(invalid("statusType", "READY or DEPLOYED"));
            }
        };
        let output = match OutputType::try_from(of.output) {
            Ok(OutputType::Summary) => Output::Summary,
            Ok(OutputType::All) => Output::All,
            Err(_) => return Err(invalid("output", "SUMMARY or ALL")),
        };
        let clusters = of.clusters.iter().map(|cluster| {
            cluster.parse().map_err(|_| {
                let expected = format!("`provider+name`, and not `{}`", clipped(cluster));
                invalid("clusters", expected)
            })
        });
        let query = StatusQuery {
            kind: Some(match status {
                RequestedStatus::Ready => QueryType::Cluster,
                RequestedStatus::Deployed => QueryType::Rsync,
            }),
            output,
            clusters: clusters.collect::<Result<_, _>>()?,
            apps: of.apps.into_iter().collect(),
            resources: of.resources.into_iter().collect(),
            ..StatusQuery::default()
        };
        Ok(Self {
            name: name(of.key)?,
            query,
            status,
        })
    }
}

fn name(key: Option<Key>) -> Result<RecordSubject, Status> {
    let name = match key {
        None => return Err(invalid("key", "a `digKey`, an `lcKey` or a `clusterKey`")),
        Some(Key::DigKey(key)) => dig_name(
            &key.project,
            &key.composite_app,
            &key.composite_app_version,
            &key.deployment_intent_group,
        )
        .map(RecordSubject::Group),
        Some(Key::LcKey(key)) => {
            logical_cloud_name(&key.project, &key.logical_cloud).map(RecordSubject::LogicalCloud)
        }
        Some(Key::ClusterKey(key)) => {
            cluster_name(&key.cluster_provider, &key.cluster).map(RecordSubject::Cluster)
        }
    };
    name.map_err(|problems| Status::invalid_argument(text(&problems)))
}

/// The problems in words.
pub(crate) fn text(problems: &[PartialProblem]) -> String {
    let problems = problems.iter().map(|problem| {
        let PartialProblem {
            parameter,
            detail,
            expected,
        } = problem;
        format!("`{parameter}`: {detail}; expected {expected}")
    });
    problems.collect::<Vec<_>>().join("; ")
}

fn invalid(member: &str, expected: impl Display) -> Status {
    Status::invalid_argument(format!("`{member}` must be {expected}"))
}
