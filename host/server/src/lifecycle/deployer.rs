//! The lifecycle of groups without a server, with given times and ids.

use std::sync::Arc;

use kindsight_api::lifecycle::GroupIntent;
use kindsight_appcontext::{AppContexts, Records};
use kindsight_clusters::Needs;
use kindsight_lifecycle::{Error, Groups, Job, Outcome, Sender, Sequence};
use kindsight_model::{ContextId, DigName, RecordSubject};
use kindsight_rest::GroupCommand;
use tokio_util::sync::CancellationToken;

use super::{ConfiguredClusters, command_of, draft};
use crate::settings::Settings;

/// Creates and changes groups in the store of a server that does not run: the demo and tests prepare a store with it.
///
/// The thread of the caller does the work of each action. Resources are sent to clusters that are folders; outside of a
/// runtime, resources for an API server are refused.
pub struct Deployer {
    groups: Groups,
    sequence: Sequence,
    sender: Arc<dyn Sender>,
}

/// The reason why an action was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// The action is refused, or the store failed.
    #[error(transparent)]
    Lifecycle(#[from] Error),
    /// A cluster does not take its resources now.
    #[error("the work on {0} is not complete: a cluster cannot be reached")]
    Incomplete(DigName),
}

impl Deployer {
    /// Groups in the store of these settings. The first revisions of each group get these `ids`, and later revisions get
    /// random ids.
    pub fn new(settings: &Settings, ids: &[ContextId]) -> Self {
        let contexts = AppContexts::new(Arc::clone(&settings.contexts));
        let records = Records::new(Arc::clone(&settings.store));
        let needs = Needs::default();
        let clusters = ConfiguredClusters::of(settings, &needs, CancellationToken::new());
        let sender: Arc<dyn Sender> = Arc::new(clusters);
        Self {
            groups: Groups::new(contexts.clone(), records.clone()).with_ids(ids),
            sequence: Sequence::new(contexts, records, Arc::clone(&sender)),
            sender,
        }
    }

    /// Creates a group, or replaces its content. `now` is the time in RFC 3339.
    ///
    /// # Errors
    /// [`DeployError::Lifecycle`].
    pub fn put(&self, name: &DigName, intent: GroupIntent, now: &str) -> Result<(), DeployError> {
        let profile = intent.profile.clone();
        self.groups
            .put(&name.into(), profile.as_deref(), draft(intent), now)?;
        Ok(())
    }

    /// Appends an action at the time `now`, in RFC 3339, and does the work.
    ///
    /// # Errors
    /// [`DeployError`].
    pub fn act(&self, name: &DigName, command: GroupCommand, now: &str) -> Result<(), DeployError> {
        let command = (command_of(command), false);
        let subject = RecordSubject::from(name);
        self.groups.act(&subject, command, &*self.sender, now)?;
        match self.sequence.run(&Job::Subject(subject))? {
            Outcome::Complete => Ok(()),
            Outcome::Waiting | Outcome::Retry => Err(DeployError::Incomplete(name.clone())),
        }
    }
}
