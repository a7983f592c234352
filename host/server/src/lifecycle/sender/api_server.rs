//! An API server as the receiver of resources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use kindsight_clusters::{
    Absences, KindDefinition, KubernetesCluster, ObjectDeletion, ObjectError, ObjectSender,
    ObjectStatus, SentObject,
};
use kindsight_lifecycle::{
    Applied, Change, Deletion, InstalledDefinition, Preview, SendError, SentDefinition, SentStatus,
    Target, differences,
};
use kindsight_model::ClusterName;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{Receiver, Sent};

/// The senders of the clusters that were used, with the configuration of each.
pub(super) struct ApiServers {
    /// `None` if the caller has no runtime: then resources are sent to folders only.
    runtime: Option<Handle>,
    shutdown: CancellationToken,
    absences: Absences,
    used: Mutex<BTreeMap<ClusterName, (KubernetesCluster, Arc<ObjectSender>)>>,
}

/// An API server. Its methods block, so only blocking threads may call them.
pub(super) struct ApiServer {
    sender: Arc<ObjectSender>,
    runtime: Handle,
    shutdown: CancellationToken,
}

impl ApiServers {
    /// Senders that work on the current runtime, if there is one, until `shutdown`.
    pub(super) fn new(absences: Absences, shutdown: CancellationToken) -> Self {
        Self {
            runtime: Handle::try_current().ok(),
            shutdown,
            absences,
            used: Mutex::default(),
        }
    }

    /// The API server of a cluster. A changed configuration makes a new sender, and a new sender replaces the senders of
    /// clusters that are not `configured` any more.
    pub(super) fn of(
        &self,
        cluster: &KubernetesCluster,
        configured: impl FnOnce() -> BTreeSet<ClusterName>,
    ) -> Result<ApiServer, SendError> {
        let no_runtime = || SendError::Refused("this process sends to folders only".to_owned());
        let runtime = self.runtime.clone().ok_or_else(no_runtime)?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let known = used.get(cluster.name());
        let known = known.filter(|(configured, _)| configured == cluster);
        let sender = known.map(|(_, sender)| Arc::clone(sender));
        let sender = sender.unwrap_or_else(|| {
            let configured = configured();
            used.retain(|name, _| configured.contains(name));
            let sender = ObjectSender::new(cluster.clone());
            let sender = Arc::new(sender.with_absences(self.absences.clone()));
            let entry = (cluster.clone(), Arc::clone(&sender));
            used.insert(cluster.name().clone(), entry);
            sender
        });
        Ok(ApiServer {
            sender,
            runtime,
            shutdown: self.shutdown.clone(),
        })
    }
}

impl ApiServer {
    /// Applies the status of an object.
    pub(super) fn apply_status(&self, status: &SentStatus<'_>) -> Result<(), SendError> {
        let status = ObjectStatus {
            api_version: status.api_version,
            plural: status.plural,
            namespace: status.namespace,
            name: status.name,
            forms: status.forms,
        };
        self.wait(self.sender.apply_status(&status))
    }

    /// Installs the definition of a Kind.
    pub(super) fn install(
        &self,
        definition: &SentDefinition<'_>,
    ) -> Result<InstalledDefinition, SendError> {
        let definition = KindDefinition {
            name: definition.name,
            manifest: definition.manifest,
            manager: definition.manager,
        };
        let is_own = self.wait(self.sender.install(&definition))?;
        Ok(if is_own {
            InstalledDefinition::Own
        } else {
            InstalledDefinition::Kept
        })
    }

    /// Waits for a call. A stop of this process ends the wait: the call is repeated after the start.
    fn wait<T>(&self, call: impl Future<Output = Result<T, ObjectError>>) -> Result<T, SendError> {
        let called = self
            .runtime
            .block_on(self.shutdown.run_until_cancelled(call));
        let called = called.unwrap_or_else(|| {
            let text = "this server is stopping";
            Err(ObjectError::Unreachable(text.to_owned()))
        });
        called.map_err(|error| match error {
            ObjectError::Refused(why) => SendError::Refused(why),
            ObjectError::Unreachable(why) => SendError::Unreachable(why),
        })
    }
}

impl Receiver for ApiServer {
    fn vet(&self, sent: &Sent<'_>) -> Result<(), SendError> {
        self.wait(self.sender.vet(&object(sent)))
    }

    fn apply(&self, sent: &Sent<'_>) -> Result<Applied, SendError> {
        let applied = self.wait(self.sender.apply(&object(sent)))?;
        Ok(Applied {
            uid: Some(applied.uid),
            generation: applied.generation,
        })
    }

    fn preview(&self, sent: &Sent<'_>) -> Result<Preview, SendError> {
        let preview = self.wait(self.sender.preview(&object(sent)))?;
        let (change, differences) = match &preview.before {
            None => (Change::Create, Vec::new()),
            Some(before) if *before == preview.after => (Change::Unchanged, Vec::new()),
            Some(before) => (Change::Update, differences(before, &preview.after)),
        };
        Ok(Preview {
            change,
            differences,
        })
    }

    fn read(&self, sent: &Sent<'_>) -> Result<String, SendError> {
        self.wait(self.sender.read(&object(sent)))
    }

    fn delete(&self, sent: &Sent<'_>) -> Result<Deletion, SendError> {
        let deletion = self.wait(self.sender.delete(&object(sent)))?;
        Ok(match deletion {
            ObjectDeletion::Deleted => Deletion::Deleted,
            ObjectDeletion::Deleting(why) => Deletion::Deleting { why },
            ObjectDeletion::Kept(why) => Deletion::Kept { why },
        })
    }

    fn announce(&self, target: &Target) -> Result<(), SendError> {
        self.wait(self.sender.announce(&target.deployment))
    }

    fn removed(&self, target: &Target) -> Result<(), SendError> {
        self.wait(self.sender.withdraw(&target.deployment))
    }
}

fn object<'a>(sent: &'a Sent<'_>) -> SentObject<'a> {
    SentObject {
        manifest: sent.resource.manifest,
        deployment: &sent.target.deployment,
        rights: &sent.rights,
        uid: sent.resource.uid,
        force: sent.resource.force,
    }
}
