//! Worker: judges one object after another on one thread.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{Gvk, Object, Verdict, host_reason};

use crate::call_input::CallInput;
use crate::describe::HandledKind;
use crate::failed_input::FailedInput;
use crate::fault::Fault;
use crate::limits::{FAULT_LINES_PER_SPAN_MAX, Limits};
use crate::memo::{Answer, Memo};
use crate::pool::{Callee, InstancePool};
use crate::published::{Live, Published, Route};
use crate::related::Siblings;
use crate::stats::CallStats;

/// Kinds whose routes one worker remembers; over the limit they are looked up again.
const ROUTES_MAX: usize = 4096;

/// The reason why objects are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A cluster reported them: calls count in [`CallStats`] and for the circuit breaker, and answers
    /// are remembered.
    Reported,
    /// Somebody sent them with a request: judged in the same way, but the sender changes nothing for
    /// others. Calls count nowhere, answers are not remembered, faults are logged at debug level.
    Sent,
}

/// The objects that are asked about.
#[derive(Clone, Copy)]
struct Asked<'o> {
    gvk: &'o Gvk,
    /// None in benchmarks, where it is trimmed already.
    object: Option<&'o Object>,
    purpose: Purpose,
    now_ms: i64,
}

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

    /// Judges one reported object. Always returns a verdict, within the limits.
    pub fn judge(
        &mut self,
        set: &Published,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
    ) -> Verdict {
        self.judge_for(Purpose::Reported, set, object, siblings, now_ms)
    }

    /// As [`Self::judge`], for any purpose.
    pub(crate) fn judge_for(
        &mut self,
        purpose: Purpose,
        set: &Published,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
    ) -> Verdict {
        let asked = Asked {
            gvk: &object.gvk,
            object: Some(object),
            purpose,
            now_ms,
        };
        let judged = self.judge_input(set, asked, |input, handled| {
            input.fill(handled, object, siblings)
        });
        self.input.clear();
        judged
    }

    /// Judges an object that is trimmed already, so that only the call is measured. For benchmarks.
    pub fn judge_trimmed(
        &mut self,
        set: &Published,
        gvk: &Gvk,
        json: &str,
        now_ms: i64,
    ) -> Verdict {
        let asked = Asked {
            gvk,
            object: None,
            purpose: Purpose::Reported,
            now_ms,
        };
        self.judge_input(set, asked, |input, _| {
            input.set_trimmed(json);
            Ok(())
        })
    }

    /// Asks one interpreter after the other until one judges the object.
    fn judge_input(
        &mut self,
        set: &Published,
        asked: Asked<'_>,
        fill: impl Fn(&mut CallInput, &HandledKind) -> Result<(), Fault>,
    ) -> Verdict {
        self.follow(set);
        let gvk = asked.gvk;
        let routes = self.routes(set, gvk);
        let json = asked.object.map(|object| &*object.json);
        for (position, route) in routes.iter().enumerate() {
            if !route.takes(json, routes.get(..position).unwrap_or_default()) {
                continue;
            }
            let filled = match route.handled() {
                Some(handled) => fill(&mut self.input, handled),
                None => continue,
            };
            match filled.and_then(|()| self.ask(&route.live, asked)) {
                Ok(Answer::Unsupported) => {}
                Ok(Answer::Verdict(verdict)) => return verdict,
                Err(fault) => {
                    self.log(&fault, &route.live, asked);
                    return fault.verdict(route.live.interpreter.by());
                }
            }
        }
        let message = format!("no interpreter speaks for {gvk}");
        Verdict::unknown(host_reason::NO_INTERPRETER, message)
    }

    fn log(&self, fault: &Fault, live: &Live, Asked { gvk, purpose, .. }: Asked<'_>) {
        let interpreter = &live.interpreter;
        if self.own_stats.is_some() {
            tracing::debug!(?interpreter, object.gvk = %gvk, "in a comparison: {fault}");
        } else if purpose == Purpose::Sent {
            tracing::debug!(?interpreter, object.gvk = %gvk, "in a request: {fault}");
        } else if (live.stats.fault_lines).take(FAULT_LINES_PER_SPAN_MAX, interpreter.by()) {
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
    fn ask(&mut self, live: &Live, asked: Asked<'_>) -> Result<Answer, Fault> {
        let (now_ms, is_sent) = (asked.now_ms, asked.purpose == Purpose::Sent);
        let stats = self.own_stats.as_ref().unwrap_or(&live.stats);
        if let Some(answer) = self.memo.get(live.scope, self.input.text(), now_ms) {
            if !is_sent {
                stats.memo_answered();
            }
            return Ok(answer);
        }
        let callee = Callee {
            scope: live.scope,
            interpreter: &live.interpreter,
            settings: live.settings.as_deref(),
            stats,
            purpose: asked.purpose,
        };
        if is_sent {
            return self.pool.call(callee, &self.input, now_ms);
        }
        let begun = stats.begin();
        let answer = self.pool.call(callee, &self.input, now_ms);
        if let Err(fault) = &answer
            && !matches!(fault, Fault::InvalidInput(_))
        {
            let input = &self.input;
            stats.failed(input.text(), || {
                Some(FailedInput {
                    object: asked.object?.clone(),
                    related: input.related_objects(),
                    now_ms,
                })
            });
        }
        stats.end(begun, answer.as_ref().err());
        let answer = answer?;
        self.memo.put(live.scope, self.input.text(), answer.clone());
        Ok(answer)
    }
}
