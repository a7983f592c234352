//! Trial calls of an interpreter that is not live yet.

use std::sync::Arc;

use kindsight_model::{Object, Verdict};

use crate::call_input::{Asked, CallInput, Settings};
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::limits::Limits;
use crate::memo::Answer;
use crate::pool::{Callee, InstancePool};
use crate::related::Siblings;
use crate::stats::CallStats;
use crate::worker::Purpose;

/// The pool of a trial holds instances of one component only.
const SCOPE: u128 = 0;

/// A trial of one interpreter that is not live yet, called as a worker calls it.
pub(crate) struct Trial<'i> {
    interpreter: &'i Interpreter,
    pool: InstancePool,
    input: CallInput,
    /// Never read, but the pool needs it.
    stats: Arc<CallStats>,
}

impl<'i> Trial<'i> {
    /// Makes a trial within these limits.
    pub(crate) fn new(interpreter: &'i Interpreter, limits: &Limits) -> Self {
        Self {
            interpreter,
            pool: InstancePool::new(limits.clone()),
            input: CallInput::default(),
            stats: Arc::default(),
        }
    }

    /// Judges one object.
    ///
    /// # Errors
    /// The reason why there is no verdict, in words for the author.
    pub(crate) fn judge(
        &mut self,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
        settings: &Settings,
    ) -> Result<Verdict, String> {
        let handled = self.interpreter.description().kinds.iter();
        let handled = handled
            .filter(|handled| handled.pattern.matches(&object.gvk))
            .max_by_key(|handled| handled.pattern.specificity())
            .ok_or_else(|| format!("no pattern of its description matches {}", object.gvk))?;
        let tree = object.tree();
        let asked = Asked {
            object,
            tree: &tree,
            siblings,
        };
        let encoding = self.interpreter.exports().encoding();
        self.input.fill(encoding, handled, asked, settings);
        let now_ms = handled.uses_now.then_some(now_ms);
        let callee = Callee {
            scope: SCOPE,
            interpreter: self.interpreter,
            settings,
            stats: &self.stats,
            purpose: Purpose::Reported,
        };
        let answer = self.pool.call(callee, &self.input, now_ms);
        match answer.map_err(|fault: Fault| fault.to_string())? {
            Answer::Verdict(verdict) => Ok(verdict),
            Answer::Unsupported(why) => {
                Err(format!("it says it does not judge such an object: {why}"))
            }
        }
    }
}
