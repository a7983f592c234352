//! Findings over all verdicts of a run: the exit code, and hints on standard error.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use kindsight_api::interpret::ObjectVerdict;
use kindsight_model::{Digest, Phase, host_reason};
use kindsight_server::catalog::pattern_text;
use kindsight_server::interpreter::{Fault, Interpreter};

use crate::FOUND;
use crate::cli::FailOn;
use crate::commands::interpret::judged::Judged;
use crate::commands::interpreters::tables::counted;

/// Kinds of an interpreter that a hint names.
const KINDS_NAMED_MAX: usize = 8;

/// Findings of the verdicts so far.
pub(crate) struct Findings<'a> {
    fail_on: &'a [FailOn],
    documents: u64,
    /// Verdicts of `fail_on`.
    failing: u64,
    /// The components that gave a verdict, or failed to.
    asked: BTreeSet<Digest>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(fail_on: &'a [FailOn]) -> Self {
        Self {
            fail_on,
            documents: 0,
            failing: 0,
            asked: BTreeSet::new(),
        }
    }

    /// Counts these verdicts.
    pub(crate) fn add(&mut self, judged: &[Judged]) {
        for Judged { verdict, .. } in judged {
            self.documents += 1;
            if self.fail_on.iter().any(|on| holds(*on, verdict)) {
                self.failing += 1;
            }
            if let Some(by) = &verdict.interpreter
                && !self.asked.contains(&by.digest)
            {
                self.asked.insert(by.digest.clone());
            }
        }
    }

    /// Returns whether the input contained no documents.
    pub(crate) fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// [`FOUND`] if a verdict matched `--fail-on`, else success.
    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.failing > 0 {
            ExitCode::from(FOUND)
        } else {
            ExitCode::SUCCESS
        }
    }

    /// Hints that the output does not contain: interpreters from files that judged no object, and the number of
    /// verdicts that matched `--fail-on`.
    pub(crate) fn hints(&self, from_files: &[Arc<Interpreter>]) -> Vec<String> {
        let idle = from_files
            .iter()
            .filter(|loaded| !self.is_empty() && !self.asked.contains(loaded.digest()));
        let mut hints: Vec<String> = idle.map(|loaded| self.idle(loaded)).collect();
        if self.failing > 0 {
            let of = counted(self.documents, "verdict");
            hints.push(format!("{} of {of} matched --fail-on", self.failing));
        }
        hints
    }

    fn idle(&self, interpreter: &Interpreter) -> String {
        let kinds = &interpreter.description().kinds;
        let named = kinds.iter().take(KINDS_NAMED_MAX);
        let named: Vec<String> = named.map(|kind| pattern_text(&kind.pattern)).collect();
        let more = match kinds.len().saturating_sub(KINDS_NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "{} judged nothing of {}: it judges {}{more}",
            interpreter.by().label(),
            counted(self.documents, "document"),
            named.join(", ")
        )
    }
}

fn holds(on: FailOn, verdict: &ObjectVerdict) -> bool {
    match on {
        FailOn::Phase(phase) => verdict.phase == phase,
        FailOn::Fault => verdict.phase == Phase::Unknown && is_fault(&verdict.reason),
    }
}

/// Returns whether a reason says that no interpreter answered.
fn is_fault(reason: &str) -> bool {
    let of_host = [host_reason::NO_INTERPRETER, host_reason::NO_ANSWER];
    of_host.contains(&reason) || Fault::is_reason(reason)
}
