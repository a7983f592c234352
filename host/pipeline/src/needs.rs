//! The related objects that interpreters need. Sources of clusters search for them.

use std::sync::Arc;

use kindsight_clusters::{RelatedKinds, RelatedRules};
use kindsight_interpreter::{Published, RelatedRule, Relation};
use tokio::sync::watch;

/// The related rules of the published set, sent to the sources of clusters.
pub(crate) struct RelatedNeeds(watch::Sender<Arc<RelatedRules>>);

impl RelatedNeeds {
    /// The related rules of a set.
    pub(crate) fn of(set: &Published) -> Self {
        Self(watch::Sender::new(rules_of(set)))
    }

    /// Sends the related rules of another set, if they differ.
    pub(crate) fn follow(&self, set: &Published) {
        let rules = rules_of(set);
        self.0.send_if_modified(|needed| {
            let is_other = **needed != *rules;
            *needed = rules;
            is_other
        });
    }

    /// A receiver of the rules, for one source.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<RelatedRules>> {
        self.0.subscribe()
    }
}

fn rules_of(set: &Published) -> Arc<RelatedRules> {
    let rules = set.related_rules().map(|(judged, rule)| RelatedKinds {
        judged: judged.pattern.clone(),
        when: judged.when.clone(),
        related: rule.pattern.clone(),
        relation: rule.relation.clone(),
        is_identity_enough: is_identity_enough(rule),
    });
    Arc::new(rules.collect())
}

/// Returns whether a rule needs only the identity of its related objects. The other relations compare labels and uids
/// too.
fn is_identity_enough(rule: &RelatedRule) -> bool {
    matches!(rule.relation, Relation::Named(_)) && rule.fields.is_empty()
}
