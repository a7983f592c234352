//! Needs of those who judge what clusters say: objects that are looked for beside those of an application, and
//! what was sent to each cluster.

mod recorded;

use std::sync::Arc;

use kindsight_contract::{KindPattern, Relation};
use tokio::sync::watch;

use crate::{Identities, Starts};

pub use recorded::{Recorded, RecordedDeployment, RecordedDeployments};

/// Needs of those who judge what a source of clusters says.
#[derive(Debug, Clone)]
pub struct Needs {
    /// The relations that are asked about now. A source follows it while it runs.
    pub related: watch::Receiver<Arc<RelatedRules>>,
    /// The deployments that `AppContext`s send to clusters now. A source follows it while it runs.
    pub recorded: watch::Receiver<Arc<Recorded>>,
    /// The names of each cluster, shared by all sources that have a clone of it.
    pub identities: Identities,
    /// Room for clusters that start, shared likewise.
    pub starts: Starts,
}

impl Default for Needs {
    /// Nothing.
    fn default() -> Self {
        Self {
            related: watch::channel(Arc::default()).1,
            recorded: watch::channel(Arc::default()).1,
            identities: Identities::default(),
            starts: Starts::default(),
        }
    }
}

/// One relation that is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedKinds {
    /// Pattern of the objects that are judged.
    pub judged: KindPattern,
    /// Pattern of the objects that are related with them.
    pub related: KindPattern,
    /// Their relation.
    pub relation: Relation,
}

/// All relations that are asked about, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RelatedRules(Vec<RelatedKinds>);

impl RelatedRules {
    /// All relations that are asked about, of objects of this Kind.
    pub(crate) fn about(
        &self,
        (group, version, kind): (&str, &str, &str),
    ) -> impl Iterator<Item = &RelatedKinds> {
        let rules = self.0.iter();
        rules.filter(move |it| it.judged.matches(group, version, kind))
    }

    /// The relations in which objects of this Kind are the related ones.
    pub(crate) fn with(
        &self,
        (group, version, kind): (&str, &str, &str),
    ) -> impl Iterator<Item = &RelatedKinds> {
        let rules = self.0.iter();
        rules.filter(move |it| it.related.matches(group, version, kind))
    }
}

impl RelatedKinds {
    /// The group and the Kind of the related objects, where the pattern says which.
    pub(crate) fn kind(&self) -> Option<(&str, &str)> {
        let KindPattern { group, kind, .. } = &self.related;
        (!group.starts_with('*') && kind != "*").then_some((group, kind))
    }
}

impl FromIterator<RelatedKinds> for RelatedRules {
    fn from_iter<I: IntoIterator<Item = RelatedKinds>>(rules: I) -> Self {
        let mut all = Vec::new();
        for rule in rules {
            if !all.contains(&rule) {
                all.push(rule);
            }
        }
        Self(all)
    }
}
