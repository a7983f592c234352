//! Answers to questions whether an object is known not to exist.

use kindsight_model::Scope;

use super::Session;
use crate::absences::{AbsenceQuestion, ObjectName};
use crate::kubernetes::bundle_states;
use crate::kubernetes::known::Known;

impl Session {
    /// Answers a question from the index.
    pub(super) fn answer(&self, question: AbsenceQuestion, known: &Known) {
        let is_absent = self.is_absent(&question.object, known);
        // The client may have stopped waiting.
        let _ = question.answer.send(is_absent);
    }

    /// Returns whether the index has every object of a Kind in a namespace, and not this one.
    fn is_absent(&self, object: &ObjectName, known: &Known) -> bool {
        let is_of = |scope: Scope<'_>| match scope {
            Scope::Cluster => true,
            Scope::Namespace(namespace) => namespace == object.namespace,
        };
        let mut watches = self.watches.iter();
        let watch = watches.find(|watch| {
            let gvk = &watch.kind.gvk;
            *gvk.group == *object.group && *gvk.kind == *object.kind && is_of(watch.extent_of())
        });
        // An index without room leaves out objects, and reports of monitors are not in it.
        let is_usable = self.is_synced && !self.is_stale && known.index.left_out().is_none();
        is_usable
            && watch.is_some_and(|watch| {
                let index = &known.index;
                watch.is_complete()
                    && !bundle_states::are(&watch.kind)
                    && !index.has(watch.scope, &object.namespace, &object.name)
            })
    }
}
