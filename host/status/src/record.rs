//! Records of lifecycle actions on deployment intent groups, clusters and logical clouds.

use std::collections::HashSet;
use std::sync::Arc;

use kindsight_model::{ContextId, LifecycleState};

/// Lifecycle actions on a deployment intent group, a cluster or a logical cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordView {
    /// The composite profile of the deployment; clusters and logical clouds have none.
    pub profile: Option<Arc<str>>,
    /// The context that stores the statuses of the current instance, if the record names it.
    pub status_context: Option<ContextId>,
    /// The actions, oldest first.
    pub actions: Vec<ActionView>,
    /// True for a record in kindsight's own store. Any other record is derived from the contexts and states
    /// of another orchestrator.
    pub is_own: bool,
}

impl RecordView {
    /// The default context of a query: the context of the latest action that has one.
    ///
    /// A second approval has no context, and must not hide a context that still exists.
    pub fn latest_instance(&self) -> Option<&ContextId> {
        self.actions
            .iter()
            .rev()
            .find_map(|action| action.instance.as_ref())
    }

    /// The contexts of all instances, without duplicates, oldest first.
    pub fn instances(&self) -> Vec<&ContextId> {
        let mut seen = HashSet::new();
        self.actions
            .iter()
            .filter(|action| {
                matches!(
                    action.state,
                    LifecycleState::Instantiated | LifecycleState::Applied
                )
            })
            .filter_map(|action| action.instance.as_ref())
            .filter(|id| seen.insert(*id))
            .collect()
    }

    /// Returns whether any action concerned this context.
    pub(crate) fn has_instance(&self, id: &ContextId) -> bool {
        self.actions
            .iter()
            .any(|action| action.instance.as_ref() == Some(id))
    }
}

/// One lifecycle action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionView {
    /// The state after the action.
    pub state: LifecycleState,
    /// The context of the action, if any.
    pub instance: Option<ContextId>,
    /// Time of the action in RFC 3339, verbatim from the record.
    pub time: Arc<str>,
    /// The revision of the group after the action; 0 if the action has no revision.
    pub revision: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(actions: &[(&str, &str)]) -> RecordView {
        let actions = actions.iter().map(|&(state, instance)| ActionView {
            state: serde_json::from_value(state.into()).unwrap(),
            instance: instance.parse().ok(),
            time: "2020-08-21T05:36:54.186Z".into(),
            revision: 0,
        });
        RecordView {
            actions: actions.collect(),
            ..RecordView::default()
        }
    }

    #[test]
    fn a_second_approval_does_not_hide_the_context() {
        let record = record(&[
            ("Created", ""),
            ("Approved", ""),
            ("Instantiated", "7"),
            ("Terminated", "7"),
            ("Approved", ""),
        ]);
        assert_eq!(record.latest_instance(), "7".parse().ok().as_ref());
    }

    #[test]
    fn a_record_without_an_instance_has_no_context() {
        let record = record(&[("Created", ""), ("Approved", "")]);
        assert_eq!(record.latest_instance(), None);
        assert!(record.instances().is_empty());
    }

    #[test]
    fn instances_are_listed_once_and_oldest_first() {
        let record = record(&[
            ("Instantiated", "9"),
            ("Terminated", "9"),
            ("Instantiated", "4"),
            ("Updated", "4"),
            ("Instantiated", "9"),
        ]);
        let ids: Vec<_> = record.instances().iter().map(|id| id.as_str()).collect();
        assert_eq!(ids, ["9", "4"]);
    }
}
