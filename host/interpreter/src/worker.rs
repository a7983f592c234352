//! Worker: judges one object after another on one thread.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{Gvk, Object, Verdict, host_reason};

use crate::call_input::CallInput;
use crate::describe::HandledKind;
use crate::fault::Fault;
use crate::limits::Limits;
use crate::memo::{Answer, Memo};
use crate::pool::{Callee, InstancePool};
use crate::published::{Live, Published, Route};
use crate::related::Siblings;
use crate::stats::CallStats;

/// Kinds whose routes one worker remembers; over the limit they are looked up again.
const ROUTES_MAX: usize = 4096;

/// Worker of one thread, with pooled instances of its own.
pub struct Worker {
    pool: InstancePool,
    memo: Arc<Memo>,
    generation: Option<u64>,
    routes: HashMap<Gvk, Arc<[Route]>, foldhash::quality::RandomState>,
    input: CallInput,
    /// Statistics of an isolated worker, instead of those of the live interpreters.
    own_stats: Option<Arc<CallStats>>,
}

impl Worker {
    /// A worker without instances; they are made when they are first needed.
    pub fn new(limits: Limits, memo: Arc<Memo>) -> Self {
        Self {
            pool: InstancePool::new(limits),
            memo,
            generation: None,
            routes: HashMap::default(),
            input: CallInput::default(),
            own_stats: None,
        }
    }

    /// A worker without effect on the live interpreters: it has no memo, counts its calls in
    /// `stats`, and logs faults at debug level only.
    pub(crate) fn isolated(limits: Limits, stats: Arc<CallStats>) -> Self {
        let mut worker = Self::new(limits, Arc::new(Memo::new(0)));
        worker.own_stats = Some(stats);
        worker
    }

    /// Judges one object. Always returns a verdict, within the limits.
    pub fn judge(
        &mut self,
        set: &Published,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
    ) -> Verdict {
        self.judge_input(set, &object.gvk, now_ms, |input, handled| {
            input.fill(handled, object, siblings)
        })
    }

    /// Judges an object that is trimmed already, so that only the call is measured. For benchmarks.
    pub fn judge_trimmed(
        &mut self,
        set: &Published,
        gvk: &Gvk,
        json: &str,
        now_ms: i64,
    ) -> Verdict {
        self.judge_input(set, gvk, now_ms, |input, _| {
            input.set_trimmed(json);
            Ok(())
        })
    }

    /// Asks one interpreter after the other until one judges the object.
    fn judge_input(
        &mut self,
        set: &Published,
        gvk: &Gvk,
        now_ms: i64,
        fill: impl Fn(&mut CallInput, &HandledKind) -> Result<(), Fault>,
    ) -> Verdict {
        self.follow(set);
        for route in self.routes(set, gvk).iter() {
            let filled = match route.handled() {
                Some(handled) => fill(&mut self.input, handled),
                None => continue,
            };
            match filled.and_then(|()| self.ask(&route.live, now_ms)) {
                Ok(Answer::Unsupported) => {}
                Ok(Answer::Verdict(verdict)) => return verdict,
                Err(fault) => {
                    self.log(&fault, &route.live, gvk);
                    return fault.verdict(route.live.interpreter.by());
                }
            }
        }
        let message = format!("no interpreter speaks for {gvk}");
        Verdict::unknown(host_reason::NO_INTERPRETER, message)
    }

    fn log(&self, fault: &Fault, live: &Live, gvk: &Gvk) {
        let interpreter = &live.interpreter;
        if self.own_stats.is_some() {
            tracing::debug!(?interpreter, object.gvk = %gvk, "in a comparison: {fault}");
        } else {
            tracing::warn!(?interpreter, object.gvk = %gvk, "{fault}");
        }
    }

    /// Retires the instances of interpreters that are not in the set.
    fn follow(&mut self, set: &Published) {
        if self.generation != Some(set.generation()) {
            self.generation = Some(set.generation());
            self.routes.clear();
            self.pool.retain(|scope| set.is_live(scope));
        }
    }

    /// Retires instances that were not used since the last sweep. The worker thread calls it when
    /// no work came for [`Limits::idle_max`].
    pub fn sweep(&mut self) {
        self.pool.sweep();
    }

    fn routes(&mut self, set: &Published, gvk: &Gvk) -> Arc<[Route]> {
        if let Some(routes) = self.routes.get(gvk) {
            return Arc::clone(routes);
        }
        if self.routes.len() >= ROUTES_MAX {
            self.routes.clear();
        }
        let routes: Arc<[Route]> = set.routes(gvk).into();
        self.routes.insert(gvk.clone(), Arc::clone(&routes));
        routes
    }

    /// Takes the answer from the memo, or else calls the component.
    fn ask(&mut self, live: &Live, now_ms: i64) -> Result<Answer, Fault> {
        let stats = self.own_stats.as_ref().unwrap_or(&live.stats);
        if let Some(answer) = self.memo.get(live.scope, self.input.text(), now_ms) {
            stats.memo_answered();
            return Ok(answer);
        }
        let callee = Callee {
            scope: live.scope,
            interpreter: &live.interpreter,
            settings: live.settings.as_deref(),
            stats,
        };
        let begun = stats.begin();
        let answer = self.pool.call(callee, &self.input, now_ms);
        stats.end(begun, answer.as_ref().err());
        let answer = answer?;
        self.memo.put(live.scope, self.input.text(), answer.clone());
        Ok(answer)
    }
}
