//! The needs of the server, for the source of the agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kindsight_api::push::AgentNeeds;
use kindsight_clusters::{
    ClusterSource, ConfiguredApplication, ConfirmationId, KubernetesCluster, Needs, PushedNeeds,
    Recorded, RelatedRules,
};
use kindsight_model::{ClusterName, DeploymentId, InvolvedKinds};
use tokio::sync::watch;

use super::spool::write_whole;
use crate::wire::needs_from_wire;

/// File of the last needs. A restarted agent begins with them, so that its first reports are as complete as the last
/// ones.
const NEEDS_FILE: &str = "needs.json";
/// Maximum size of this file, in bytes.
const NEEDS_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The needs of the server as channels.
#[derive(Debug)]
pub(super) struct NeedsChannels {
    cluster: ClusterName,
    file: PathBuf,
    related: watch::Sender<Arc<RelatedRules>>,
    recorded: watch::Sender<Arc<Recorded>>,
    applications: Arc<[ConfiguredApplication]>,
    /// The configuration of the source; none before it is asked for.
    configured: Option<watch::Sender<ClusterSource>>,
    revision: Option<u64>,
    /// The requests for confirmation that were passed on, as of the last needs.
    asked: Vec<ConfirmationId>,
}

impl NeedsChannels {
    /// The channels, with the last needs that a folder has.
    pub(super) fn open(cluster: ClusterName, folder: &Path) -> (Self, Needs) {
        let (related, related_rx) = watch::channel(Arc::default());
        let (recorded, recorded_rx) = watch::channel(Arc::default());
        let mut channels = Self {
            cluster,
            file: folder.join(NEEDS_FILE),
            related,
            recorded,
            applications: Arc::default(),
            configured: None,
            revision: None,
            asked: Vec::new(),
        };
        if let Some(known) = read(&channels.file) {
            channels.apply(&needs_from_wire(known));
        }
        let needs = Needs {
            related: related_rx,
            recorded: recorded_rx,
            ..Needs::default()
        };
        (channels, needs)
    }

    /// The configuration of a source, which follows the applications that the server selects.
    pub(super) fn configured(
        &mut self,
        cluster: KubernetesCluster,
    ) -> watch::Receiver<ClusterSource> {
        let source = ClusterSource::Kubernetes(Box::new(cluster));
        let source = source.with_applications(&self.applications);
        let (configured, receiver) = watch::channel(source);
        self.configured = Some(configured);
        receiver
    }

    /// The revision of the needs of the server that runs now; none before its first answer.
    pub(super) fn revision(&self) -> Option<u64> {
        self.revision
    }

    /// Returns whether the server records a deployment.
    pub(super) fn is_recorded(&self, deployment: &DeploymentId) -> bool {
        let recorded = self.recorded.borrow();
        recorded.of(&self.cluster).contains_key(deployment)
    }

    /// Takes needs of the server. Returns the requests for confirmation that are new.
    pub(super) fn take(&mut self, needs: AgentNeeds) -> Vec<(ConfirmationId, InvolvedKinds)> {
        self.revision = Some(needs.revision);
        let kept = AgentNeeds {
            confirmations: Vec::new(),
            ..needs.clone()
        };
        let needs = needs_from_wire(needs);
        if self.apply(&needs) {
            self.keep(&kept);
        }
        let asked = std::mem::take(&mut self.asked);
        self.asked = needs.confirmations.keys().copied().collect();
        let confirmations = needs.confirmations.into_iter();
        confirmations
            .filter(|(id, _)| !asked.contains(id))
            .collect()
    }

    /// Passes the needs on. Returns whether they changed.
    fn apply(&mut self, needs: &PushedNeeds) -> bool {
        let mut recorded = Recorded::default();
        for (id, deployment) in needs.recorded.iter() {
            recorded.insert(&self.cluster, id.clone(), deployment.clone());
        }
        let is_related = send(&self.related, Arc::clone(&needs.related));
        let is_recorded = send(&self.recorded, Arc::new(recorded));
        let is_selected = self.applications != needs.applications;
        if is_selected {
            self.applications = Arc::clone(&needs.applications);
            if let Some(configured) = &self.configured {
                configured.send_modify(|source| {
                    *source = source.clone().with_applications(&self.applications);
                });
            }
        }
        is_related || is_recorded || is_selected
    }

    fn keep(&self, needs: &AgentNeeds) {
        let text = serde_json::to_string(needs).map_err(std::io::Error::from);
        if let Err(error) = text.and_then(|text| write_whole(&self.file, &text)) {
            tracing::warn!(path = %self.file.display(), %error, "the needs of the server cannot be kept for the next start");
        }
    }
}

fn send<T: PartialEq>(channel: &watch::Sender<T>, value: T) -> bool {
    channel.send_if_modified(|current| {
        let is_changed = *current != value;
        if is_changed {
            *current = value;
        }
        is_changed
    })
}

fn read(file: &Path) -> Option<AgentNeeds> {
    let bytes = std::fs::metadata(file).ok()?.len();
    if bytes > NEEDS_BYTES_MAX {
        return None;
    }
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}
