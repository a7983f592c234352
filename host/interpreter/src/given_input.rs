//! Inputs of interpreters as JSON, for authors who search for a missing field or relation.

use std::sync::Arc;

use kindsight_model::{InterpretedBy, Object, Verdict};

use crate::call_input::{CallInput, InputObjects};
use crate::published::Published;
use crate::related::Siblings;

/// The input that one interpreter receives with an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenInput {
    /// The interpreter.
    pub by: Arc<InterpretedBy>,
    /// A JSON object with the members of the contract's `input`: `object` (reduced to the requested
    /// fields), `related`, `settings` and, if the Kind has `uses-now`, `now-ms`.
    pub json: String,
}

impl Published {
    /// The inputs of the interpreters that were called for an object, in order: first the
    /// interpreters that declined, then the one with `verdict`. They are encoded as for a call,
    /// then converted back to JSON.
    pub fn inputs(
        &self,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
        verdict: &Verdict,
    ) -> Vec<GivenInput> {
        let tree = object.tree();
        let objects = InputObjects {
            object,
            tree: &tree,
            siblings,
        };
        let document = tree.document(&object.json);
        let routes = self.routes(&object.gvk);
        let mut input = CallInput::default();
        let mut inputs = Vec::new();
        for (position, route) in routes.iter().enumerate() {
            let before = routes.get(..position).unwrap_or_default();
            let taken = route.takes(document.root(), before);
            let Some(handled) = route.handled().filter(|_| taken) else {
                continue;
            };
            let live = &route.live;
            let encoding = live.interpreter.exports().encoding();
            input.fill(encoding, handled, objects, &live.settings);
            let now_ms = handled.uses_now.then_some(now_ms);
            let by = Arc::clone(live.interpreter.by());
            let is_last = verdict.by.as_ref() == Some(&by);
            let json = input.to_json(encoding, now_ms, &live.settings);
            inputs.push(GivenInput { by, json });
            if is_last {
                break;
            }
        }
        inputs
    }
}
