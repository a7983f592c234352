//! Asks one interpreter that is not live yet.

use std::sync::Arc;

use kindsight_model::{Object, Verdict};

use crate::accept::accept;
use crate::fault::Fault;
use crate::limits::Limits;
use crate::load::Interpreter;
use crate::memo::Answer;
use crate::prepared::Prepared;
use crate::related::Siblings;
use crate::warm::Warm;

/// Tries one interpreter that is not live yet.
pub(crate) struct Trial<'i> {
    interpreter: &'i Interpreter,
    limits: &'i Limits,
    warm: Option<Warm>,
    prepared: Prepared,
}

impl<'i> Trial<'i> {
    pub(crate) fn new(interpreter: &'i Interpreter, limits: &'i Limits) -> Self {
        Self {
            interpreter,
            limits,
            warm: None,
            prepared: Prepared::default(),
        }
    }

    /// Judges one object, or says why there is no verdict.
    pub(crate) fn judge(
        &mut self,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
        settings: Option<&str>,
    ) -> Result<Verdict, String> {
        let handled = self.interpreter.description().kinds.iter();
        let handled = handled
            .filter(|handled| handled.pattern.matches(&object.gvk))
            .max_by_key(|handled| handled.pattern.specificity())
            .ok_or_else(|| format!("no pattern of its description matches {}", object.gvk))?;
        let text = |fault: Fault| fault.to_string();
        self.prepared
            .fill(handled, object, siblings)
            .map_err(text)?;
        let by = || Arc::clone(self.interpreter.by());
        let mut warm = match self.warm.take() {
            Some(warm) => warm,
            // Nobody asks how a trial went: it is counted for itself.
            None => Warm::start(self.interpreter.pre(), by(), self.limits, Arc::default())
                .map_err(text)?,
        };
        let related = self.prepared.related();
        let input = self.prepared.input(&related, now_ms, settings);
        let answer = warm.interpret(input, self.limits).map_err(text)?;
        self.warm = Some(warm);
        match accept(self.interpreter, answer).map_err(text)? {
            Answer::Verdict(verdict) => Ok(verdict),
            Answer::Unsupported => Err("it says it does not judge such an object".to_owned()),
        }
    }
}
