//! Kinds that the live interpreters name.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_interpreter::Published;
use kindsight_model::{Gvk, KindPattern};

/// The Kinds that the live interpreters name: Kinds of objects that they evaluate, and Kinds of related objects.
#[derive(Debug, Default)]
pub(crate) struct LiveKinds {
    /// Group and Kind of each Kind that an interpreter evaluates, by exact patterns alone.
    exact: BTreeSet<(Arc<str>, Arc<str>)>,
    /// The pattern of evaluated objects, and group and Kind of related objects. Without conditional rules and rules about any Kind.
    related: Vec<(KindPattern, Arc<str>, Arc<str>)>,
}

impl LiveKinds {
    /// The Kinds of a set of interpreters.
    pub(crate) fn of(set: &Published) -> Self {
        let exact = set.kinds().filter_map(exact_kind);
        // Few objects have the field that a conditional rule requires, or related objects by a rule about any Kind.
        // Without the related Kind, the others are evaluated as before.
        let always = set
            .related_rules()
            .filter(|(kind, _)| kind.when.is_none() && kind.pattern.kind != "*");
        let related = always.filter_map(|(evaluated, rule)| {
            let (group, kind) = exact_kind(&rule.pattern)?;
            Some((evaluated.pattern.clone(), group, kind))
        });
        Self {
            exact: exact.collect(),
            related: related.collect(),
        }
    }

    /// Group and Kind of each Kind that an interpreter names exactly.
    pub(crate) fn exact(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.exact.iter().map(|(group, kind)| (group, kind))
    }

    /// Group and Kind of the objects that are related with objects of this Kind.
    pub(crate) fn related_with(&self, gvk: &Gvk) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        let rules = self.related.iter();
        let rules = rules.filter(|(evaluated, ..)| gvk.matches(evaluated));
        rules.map(|(_, group, kind)| (group, kind))
    }
}

/// Group and Kind of a pattern of one Kind.
fn exact_kind(pattern: &KindPattern) -> Option<(Arc<str>, Arc<str>)> {
    let is_exact = !pattern.group.starts_with('*') && pattern.kind != "*";
    is_exact.then(|| (pattern.group.as_str().into(), pattern.kind.as_str().into()))
}
