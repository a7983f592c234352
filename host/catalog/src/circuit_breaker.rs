//! The circuit breaker: rolls back from interpreters that fail too often.

use std::time::Instant;

use kindsight_api::interpreters::{Outcome, Refusal};
use kindsight_model::{CatalogAction, Digest, InterpreterName};

use crate::catalog::Catalog;

impl Catalog {
    /// Trips for everything that fails too often, by the share of faults among the calls of about the
    /// last minute. Called every second; takes no lock of a call.
    pub fn check_breaker(&self, now: Instant) {
        let limits = &self.options.limits;
        let percent = limits.breaker_fault_percent;
        if percent == 0 {
            return;
        }
        let set = self.options.interpreters.published();
        for (_, interpreter) in set.interpreters() {
            let by = interpreter.by();
            let Some(recent) = set.stats(&by.name).map(|stats| stats.recent(now)) else {
                continue;
            };
            let is_faulty =
                recent.faults.saturating_mul(100) >= percent.saturating_mul(recent.calls);
            if recent.calls < limits.breaker_calls_min || !is_faulty {
                continue;
            }
            let why = format!(
                "{} of its last {} calls ended in a fault",
                recent.faults, recent.calls
            );
            if let Err(error) = self.trip_breaker(&by.name, &by.digest, &why) {
                tracing::error!(interpreter = ?interpreter, why, %error, "the circuit breaker could not roll back");
            }
        }
    }

    /// Rolls back from an interpreter that fails too often: to the version before, or where there is
    /// none, to whoever judges its Kinds otherwise. Where it cannot roll back (that version refuses the
    /// settings, or is not stored any more) the name is left out, as by `disable`.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where another version is live by now.
    pub fn trip_breaker(
        &self,
        name: &InterpreterName,
        digest: &Digest,
        why: &str,
    ) -> Result<Outcome, Refusal> {
        match self.roll_back_faulty(name, digest, why) {
            Err(error @ (Refusal::Refused { .. } | Refusal::Failed(_))) => {
                self.change(name, CatalogAction::Breaker, None, |entry| {
                    let (_, faulty) = entry.live(digest)?;
                    entry.is_disabled = true;
                    let detail = format!("{why}; disabled, since it cannot roll back: {error}");
                    Ok((Some(faulty), detail))
                })
            }
            outcome => outcome,
        }
    }

    fn roll_back_faulty(
        &self,
        name: &InterpreterName,
        digest: &Digest,
        why: &str,
    ) -> Result<Outcome, Refusal> {
        self.change(name, CatalogAction::Breaker, None, |entry| {
            let (source, faulty) = entry.live(digest)?;
            let versions = entry.sources.get_mut(&source);
            let now = versions.and_then(|versions| versions.roll_back(why));
            let back = match (&now, entry.effective()) {
                (Some(now), _) => format!("rolled back to {}", now.version),
                (None, Some((lower, it))) => {
                    format!("rolled back to {} from {lower}", it.version)
                }
                (None, None) => "its Kinds fall back to the next interpreter".to_owned(),
            };
            Ok((Some(faulty), format!("{why}; {back}")))
        })
    }
}
