//! Records of lifecycle actions on deployment intent groups, clusters and logical clouds.

use std::collections::HashSet;
use std::sync::Arc;

use kindsight_model::{ContextId, LifecycleState};

/// Lifecycle actions on a deployment intent group, a cluster or a logical cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordView {
    /// The composite profile it is deployed with; clusters and logical clouds have none.
    pub profile: Option<Arc<str>>,
    /// The context that the statuses of the current instance are kept in, where the record tells it.
    pub status_context: Option<ContextId>,
    /// The actions, oldest first.
    pub actions: Vec<ActionView>,
    /// True for a record that is kept here; another comes from the contexts of another orchestrator and from the
    /// states that it keeps.
    pub is_own: bool,
}

impl RecordView {
    /// The default context of a query: that of the latest action that has one.
    ///
    /// Approving again has none, and must not hide a context that still exists.
    pub fn latest_instance(&self) -> Option<&ContextId> {
        self.actions
            .iter()
            .rev()
            .find_map(|action| action.instance.as_ref())
    }

    /// All contexts that it was instantiated as, without duplicates, oldest first.
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
    /// The state it led to.
    pub state: LifecycleState,
    /// The context it concerned, if any.
    pub instance: Option<ContextId>,
    /// Time of the action in RFC 3339, verbatim as it was recorded.
    pub time: Arc<str>,
    /// The revision of the group that it made or left; 0 for none.
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
    fn approving_again_does_not_hide_the_context() {
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
    fn what_was_never_instantiated_has_no_context() {
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
