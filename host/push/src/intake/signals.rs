//! Lines about the cluster and the connection to it.

use std::sync::Arc;

use kindsight_api::push::PushRefusal;
use kindsight_clusters::{ClusterEvent, PushedBatch};
use kindsight_model::{ClusterFacts, ClusterName, DeploymentId};

use super::held_report::text;
use crate::wire::{ConfirmedLine, Line, UnreadableLine};

/// Maximum number of faults of a cluster.
const FAULTS_MAX: usize = 100;

/// Takes a line about the cluster and the connection to it.
pub(super) fn take_signal(
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

/// The deployment of a name.
pub(super) fn deployment(name: &str) -> Result<DeploymentId, PushRefusal> {
    let parsed = name.parse::<DeploymentId>();
    parsed.map_err(|error| PushRefusal::Invalid(error.to_string()))
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
