//! Changes of histories.

use std::sync::Arc;

use kindsight_model::{ClusterName, Gvk, InterpretedBy};
use kindsight_status::{
    ApplicationHistory, HistoryChange, PhaseState, Recorded, ResourceId, Transition,
    TransitionCause,
};
use serde::{Deserialize, Serialize};

use super::error::WireError;

/// The change of the history of an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct HistoryLine {
    /// The application, as text.
    pub of: Arc<str>,
    /// The complete history, without its transitions; left out if transitions are added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replace: Option<ReplacedHistory>,
    /// The transitions, oldest first.
    transitions: Vec<WireTransition>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ReplacedHistory {
    dropped: u64,
    /// The last transition of the application's own state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    application: Option<WireTransition>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct WireTransition {
    id: u64,
    /// Left out for the application itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resource: Option<WireResourceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<PhaseState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<PhaseState>,
    at_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    reason: Arc<str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    message: Arc<str>,
    /// Number of the interpreter; left out for a state of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<u32>,
    cause: TransitionCause,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct WireResourceId {
    app: Arc<str>,
    cluster: String,
    #[serde(rename = "GVK")]
    gvk: Gvk,
    namespace: Arc<str>,
    name: Arc<str>,
}

impl HistoryLine {
    /// The form on the wire; `None` if no transition was added. `number` returns the number of an interpreter.
    pub(crate) fn of(
        of: &Arc<str>,
        change: &HistoryChange,
        mut number: impl FnMut(&InterpretedBy) -> u32,
    ) -> Option<Self> {
        let (recorded, replace) = match change {
            HistoryChange::Append(added) if added.is_empty() => return None,
            HistoryChange::Append(added) => (added, None),
            HistoryChange::Replace {
                history,
                application,
            } => {
                let application = application.as_deref();
                let replaced = ReplacedHistory {
                    dropped: history.dropped,
                    application: application.map(|last| WireTransition::of(0, last, &mut number)),
                };
                (&history.transitions, Some(replaced))
            }
        };
        let transitions = recorded.iter();
        let transitions =
            transitions.map(|it| WireTransition::of(it.id, &it.transition, &mut number));
        Some(Self {
            of: Arc::clone(of),
            replace,
            transitions: transitions.collect(),
        })
    }

    /// The change. `by` returns the interpreter with a number.
    pub(crate) fn read(
        self,
        by: impl Fn(u32) -> Option<Arc<InterpretedBy>>,
    ) -> Result<HistoryChange, WireError> {
        let read = |transition: WireTransition| transition.read(&by);
        let recorded = self.transitions.into_iter().map(read);
        let transitions = recorded.collect::<Result<Vec<Recorded>, _>>()?;
        let Some(replaced) = self.replace else {
            return Ok(HistoryChange::Append(transitions));
        };
        let application = replaced.application.map(read).transpose()?;
        Ok(HistoryChange::Replace {
            history: ApplicationHistory {
                transitions,
                dropped: replaced.dropped,
            },
            application: application.map(|recorded| recorded.transition),
        })
    }
}

impl WireTransition {
    fn of(
        id: u64,
        transition: &Transition,
        number: &mut impl FnMut(&InterpretedBy) -> u32,
    ) -> Self {
        let resource = transition.resource.as_deref();
        Self {
            id,
            resource: resource.map(|resource| WireResourceId {
                app: Arc::clone(&resource.app),
                cluster: resource.cluster.to_string(),
                gvk: resource.gvk.clone(),
                namespace: Arc::clone(&resource.namespace),
                name: Arc::clone(&resource.name),
            }),
            from: transition.from.clone(),
            to: transition.to.clone(),
            at_ms: transition.at_ms,
            since_ms: transition.since_ms,
            reason: Arc::clone(&transition.reason),
            message: Arc::clone(&transition.message),
            by: transition.by.as_deref().map(number),
            cause: transition.cause,
        }
    }

    fn read(self, by: &impl Fn(u32) -> Option<Arc<InterpretedBy>>) -> Result<Recorded, WireError> {
        let unknown = WireError::Unknown("an interpreter");
        let by = self.by.map(|number| by(number).ok_or(unknown));
        let resource = self.resource.map(WireResourceId::read).transpose()?;
        let transition = Transition {
            resource: resource.map(Arc::new),
            from: self.from,
            to: self.to,
            at_ms: self.at_ms,
            since_ms: self.since_ms,
            reason: self.reason,
            message: self.message,
            by: by.transpose()?,
            cause: self.cause,
        };
        Ok(Recorded {
            id: self.id,
            transition: Arc::new(transition),
        })
    }
}

impl WireResourceId {
    fn read(self) -> Result<ResourceId, WireError> {
        let cluster = self.cluster.parse::<ClusterName>();
        Ok(ResourceId {
            app: self.app,
            cluster: cluster.map_err(|_| WireError::name("the cluster", &self.cluster))?,
            gvk: self.gvk,
            namespace: self.namespace,
            name: self.name,
        })
    }
}
