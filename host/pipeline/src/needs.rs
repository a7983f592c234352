//! Needs of the judging: what sources of clusters are to look for.

use std::sync::Arc;

use kindsight_clusters::{RelatedKinds, RelatedRules};
use kindsight_interpreter::Published;
use tokio::sync::watch;

/// The relations that the published set asks about, for the sources of clusters.
pub(crate) struct Asked(watch::Sender<Arc<RelatedRules>>);

impl Asked {
    /// Relations that a set asks about.
    pub(crate) fn by(set: &Published) -> Self {
        Self(watch::Sender::new(rules_of(set)))
    }

    /// Tells the sources what another set asks about, if that is something else.
    pub(crate) fn follow(&self, set: &Published) {
        let rules = rules_of(set);
        self.0.send_if_modified(|asked| {
            let is_other = **asked != *rules;
            *asked = rules;
            is_other
        });
    }

    /// Follows them as they change.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<RelatedRules>> {
        self.0.subscribe()
    }
}

fn rules_of(set: &Published) -> Arc<RelatedRules> {
    let rules = set.related_rules().map(|(judged, rule)| RelatedKinds {
        judged: judged.clone(),
        related: rule.pattern.clone(),
        relation: rule.relation.clone(),
    });
    Arc::new(rules.collect())
}
