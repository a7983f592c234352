//! Inputs of interpreters as JSON, for authors who look for a field or relation that is missing.

use std::sync::Arc;

use kindsight_model::{InterpretedBy, Object, Verdict};

use crate::call_input::{Asked, CallInput};
use crate::published::Published;
use crate::related::Siblings;

/// The input that one interpreter is given with an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenInput {
    /// The interpreter.
    pub by: Arc<InterpretedBy>,
    /// A JSON object with the members of the contract's `input`: `object` (cut down to the fields asked
    /// for), `related`, `settings` and, where the Kind has `uses-now`, `now-ms`.
    pub json: String,
}

impl Published {
    /// The inputs of the interpreters that are asked about an object, in order: those that decline, then
    /// the one that gave `verdict`. Written as they are for a call, and read back from that.
    pub fn inputs(
        &self,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
        verdict: &Verdict,
    ) -> Vec<GivenInput> {
        let tree = object.tree();
        let asked = Asked {
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
            input.fill(encoding, handled, asked, &live.settings);
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
