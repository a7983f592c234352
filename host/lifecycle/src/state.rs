//! The state machines of deployment intent groups and of the network intents of clusters.

use kindsight_model::{LifecycleState, RecordSubject};

#[cfg(test)]
mod tests;

/// An action on a deployment intent group, or on the network intents of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Replaces the content.
    Put,
    /// Sends the network intents of a cluster.
    Apply,
    /// Approves the intent.
    Approve,
    /// Sends the resources to their clusters.
    Instantiate,
    /// Sends the changed content of an instantiated group.
    Update,
    /// Sends the content of an earlier revision of an instantiated group.
    Rollback,
    /// Removes the resources from their clusters.
    Terminate,
    /// Ends a running instantiation or termination.
    Stop,
    /// Deletes the record with its content and its contexts.
    Delete,
}

impl Action {
    /// The actions on a group, in the order of a life.
    const OF_GROUP: [Self; 8] = [
        Self::Put,
        Self::Approve,
        Self::Instantiate,
        Self::Update,
        Self::Rollback,
        Self::Terminate,
        Self::Stop,
        Self::Delete,
    ];
    /// The actions on network intents that depend on their state, in the order of a life.
    const OF_NETWORK_INTENTS: [Self; 3] = [Self::Apply, Self::Terminate, Self::Delete];

    /// The word of the action in commands, answers and logs. The command `apply` replaces the content of a group, and sends
    /// network intents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Put | Self::Apply => "apply",
            Self::Approve => "approve",
            Self::Instantiate => "instantiate",
            Self::Update => "update",
            Self::Rollback => "rollback",
            Self::Terminate => "terminate",
            Self::Stop => "stop",
            Self::Delete => "delete",
        }
    }
}

/// The form of a lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifecycle {
    /// Of a deployment intent group: its content needs an approval.
    Group,
    /// Of the network intents of a cluster: created, applied, terminated.
    NetworkIntents,
}

impl Lifecycle {
    /// The form of the lifecycle of a subject.
    pub(crate) fn of(subject: &RecordSubject) -> Self {
        match subject {
            RecordSubject::Group(_) | RecordSubject::LogicalCloud(_) => Self::Group,
            RecordSubject::Cluster(_) => Self::NetworkIntents,
        }
    }

    /// The actions whose permission depends on the state.
    pub fn actions(self) -> &'static [Action] {
        match self {
            Self::Group => &Action::OF_GROUP,
            Self::NetworkIntents => &Action::OF_NETWORK_INTENTS,
        }
    }
}

/// The state of a subject, as far as it decides which actions are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    /// The form of the lifecycle.
    pub of: Lifecycle,
    /// The state after the last action.
    pub state: LifecycleState,
    /// True while the last instance is being sent or removed.
    pub is_running: bool,
    /// True if the content of a group was replaced while the group was instantiated, and not approved since.
    pub is_unapproved: bool,
    /// True if the last termination ended as `TerminateFailed` without a stop, so that clusters may still have resources.
    pub has_remains: bool,
}

/// The effect of a permitted action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The subject gets this state.
    State(LifecycleState),
    /// The content or its approval changes. The state stays.
    Content,
    /// The subject has the wanted state already.
    Unchanged,
    /// The subject is deleted.
    Deleted,
}

/// The refusal of an action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not possible in the state {}: {reason}", action.as_str(), situation.state)]
pub struct Refusal {
    /// The situation.
    pub situation: Situation,
    /// The refused action.
    pub action: Action,
    /// The reason, as a fragment of a sentence.
    pub reason: &'static str,
}

impl Refusal {
    /// The actions that are possible instead.
    pub fn allowed(&self) -> Vec<Action> {
        self.situation.allowed()
    }
}

impl Situation {
    /// The state after an action.
    ///
    /// # Errors
    /// [`Refusal`] if the action is not possible.
    pub fn after(self, action: Action) -> Result<Next, Refusal> {
        self.next(action).map_err(|reason| Refusal {
            situation: self,
            action,
            reason,
        })
    }

    /// The possible actions.
    pub fn allowed(self) -> Vec<Action> {
        let actions = self.of.actions().iter().copied();
        actions
            .filter(|action| self.next(*action).is_ok())
            .collect()
    }

    fn next(self, action: Action) -> Result<Next, &'static str> {
        match self.of {
            Lifecycle::Group => self.next_of_group(action),
            Lifecycle::NetworkIntents => self.next_of_network_intents(action),
        }
    }

    /// Network intents are stored in every state. The next `apply` sends them.
    fn next_of_network_intents(self, action: Action) -> Result<Next, &'static str> {
        use LifecycleState::{Applied, Created, Terminated};
        match (action, self.state) {
            (Action::Put, _) => Ok(Next::Content),
            (Action::Apply | Action::Delete, Created | Terminated) if self.is_running => {
                Err("the network intents are still being removed")
            }
            (Action::Apply, Created | Applied | Terminated) => Ok(Next::State(Applied)),
            (Action::Terminate, Applied) => Ok(Next::State(Terminated)),
            (Action::Terminate, Terminated) if self.has_remains => Ok(Next::State(Terminated)),
            (Action::Terminate, Terminated) => Err("the network intents are terminated already"),
            (Action::Terminate, _) => Err("the network intents are not applied"),
            (Action::Delete, Created | Terminated) => Ok(Next::Deleted),
            (Action::Delete, _) => Err("the network intents must be terminated first"),
            _ => Err("network intents have no such action or state"),
        }
    }

    fn next_of_group(self, action: Action) -> Result<Next, &'static str> {
        match action {
            Action::Put => return self.put(),
            Action::Apply => return Err("a group has no such action"),
            Action::Approve => return self.approve(),
            Action::Instantiate => self.instantiate(),
            Action::Update => self.update(),
            Action::Rollback => self.if_instantiated(),
            Action::Terminate => self.terminate(),
            Action::Stop => self.stop(),
            Action::Delete => return self.if_at_rest().map(|()| Next::Deleted),
        }
        .map(Next::State)
    }

    /// Checks that no cluster has a resource of the group.
    fn if_at_rest(self) -> Result<(), &'static str> {
        use LifecycleState::{Approved, Created, Terminated};
        match self.state {
            Created | Approved | Terminated if self.is_running => Err(STILL_REMOVED),
            Created | Approved | Terminated => Ok(()),
            _ => Err("the group must be terminated first"),
        }
    }

    /// Checks that clusters may have resources of the group, which is not being terminated.
    fn if_instantiated(self) -> Result<LifecycleState, &'static str> {
        use LifecycleState::{InstantiateStopped, Instantiated};
        match self.state {
            Instantiated | InstantiateStopped => Ok(Instantiated),
            _ => Err("the group is not instantiated"),
        }
    }

    fn put(self) -> Result<Next, &'static str> {
        if self.if_instantiated().is_ok() {
            return Ok(Next::Content);
        }
        self.if_at_rest()?;
        Ok(Next::State(LifecycleState::Created))
    }

    fn update(self) -> Result<LifecycleState, &'static str> {
        self.if_instantiated()?;
        self.if_approved()?;
        Ok(LifecycleState::Instantiated)
    }

    fn if_approved(self) -> Result<(), &'static str> {
        if self.is_unapproved {
            Err("the changed content must be approved first")
        } else {
            Ok(())
        }
    }

    fn approve(self) -> Result<Next, &'static str> {
        use LifecycleState::{
            Approved, Created, InstantiateStopped, Instantiated, Terminated, Updated,
        };
        match self.state {
            Instantiated | InstantiateStopped if self.is_unapproved => Ok(Next::Content),
            Instantiated | InstantiateStopped => Err("its content is approved already"),
            Approved if !self.is_unapproved => Ok(Next::Unchanged),
            Created | Approved | Terminated | Updated => Ok(Next::State(Approved)),
            _ => Err("only a group that is Created or Terminated can be approved"),
        }
    }

    fn instantiate(self) -> Result<LifecycleState, &'static str> {
        use LifecycleState::{
            Applied, Approved, Created, InstantiateStopped, Instantiated, TerminateStopped,
            Terminated, Updated,
        };
        match self.state {
            Approved | Terminated | TerminateStopped if self.is_running => Err(STILL_REMOVED),
            Approved | Terminated | TerminateStopped => self.if_approved().map(|()| Instantiated),
            Created => Err("the group must be approved first"),
            Instantiated | Updated => {
                Err("the group is instantiated already; `update` sends changed content")
            }
            InstantiateStopped => {
                Err("its instantiation was stopped; the group must be updated or terminated first")
            }
            Applied => Err("the group must be terminated first"),
        }
    }

    fn terminate(self) -> Result<LifecycleState, &'static str> {
        use LifecycleState::{
            Approved, InstantiateStopped, Instantiated, TerminateStopped, Terminated,
        };
        match self.state {
            Instantiated | InstantiateStopped | TerminateStopped => Ok(Terminated),
            Approved | Terminated if self.has_remains => Ok(Terminated),
            Terminated => Err("the group is terminated already"),
            _ => Err("the group is not instantiated"),
        }
    }

    fn stop(self) -> Result<LifecycleState, &'static str> {
        use LifecycleState::{InstantiateStopped, Instantiated, TerminateStopped, Terminated};
        match self.state {
            Instantiated if self.is_running => Ok(InstantiateStopped),
            Terminated if self.is_running => Ok(TerminateStopped),
            InstantiateStopped => Err("its instantiation is stopped already"),
            TerminateStopped => Err("its termination is stopped already"),
            _ => Err("the group is neither being instantiated nor being terminated"),
        }
    }
}

const STILL_REMOVED: &str = "its previous instance is still being removed";
