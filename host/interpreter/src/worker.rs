//! One thread's way from an object to its verdict.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use kindsight_model::{Gvk, Object, Verdict, host_reason};

use crate::accept::accept;
use crate::describe::HandledKind;
use crate::fault::Fault;
use crate::limits::{Isolation, Limits};
use crate::memo::{Answer, Memo};
use crate::prepared::Prepared;
use crate::published::{Live, Published, Route};
use crate::related::Siblings;
use crate::stats::CallStats;
use crate::warm::Warm;

/// Kinds whose routes one worker remembers; over it they are looked up again.
const ROUTES_MAX: usize = 4096;

/// Judges objects on the thread that owns it, with warm instances of its own.
pub struct Worker {
    limits: Limits,
    memo: Arc<Memo>,
    generation: Option<u64>,
    routes: HashMap<Gvk, Arc<[Route]>, foldhash::quality::RandomState>,
    warm: HashMap<u128, Warm, foldhash::quality::RandomState>,
    prepared: Prepared,
    /// Where its calls are counted instead of with what is live.
    apart: Option<Arc<CallStats>>,
}

impl Worker {
    /// A worker without instances; they are made when they are first needed.
    pub fn new(limits: Limits, memo: Arc<Memo>) -> Self {
        Self {
            limits,
            memo,
            generation: None,
            routes: HashMap::default(),
            warm: HashMap::default(),
            prepared: Prepared::default(),
            apart: None,
        }
    }

    /// A worker of which what is live knows nothing: it remembers no verdict, its calls are all
    /// counted in `stats`, and its faults are logged for those who look for them only.
    pub(crate) fn apart(limits: Limits, stats: Arc<CallStats>) -> Self {
        let mut worker = Self::new(limits, Arc::new(Memo::new(0)));
        worker.apart = Some(stats);
        worker
    }

    /// Judges one object. Always answers, and within the limits.
    pub fn judge(
        &mut self,
        set: &Published,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
    ) -> Verdict {
        self.judge_prepared(set, &object.gvk, now_ms, |prepared, handled| {
            prepared.fill(handled, object, siblings)
        })
    }

    /// Judges text that is cut down already: what is left is the call. For benchmarks.
    pub fn judge_trimmed(
        &mut self,
        set: &Published,
        gvk: &Gvk,
        json: &str,
        now_ms: i64,
    ) -> Verdict {
        self.judge_prepared(set, gvk, now_ms, |prepared, _| {
            prepared.take(json);
            Ok(())
        })
    }

    /// Asks one interpreter after the other until one speaks for the object.
    fn judge_prepared(
        &mut self,
        set: &Published,
        gvk: &Gvk,
        now_ms: i64,
        prepare: impl Fn(&mut Prepared, &HandledKind) -> Result<(), Fault>,
    ) -> Verdict {
        self.follow(set);
        for route in self.routes(set, gvk).iter() {
            let prepared = match route.handled() {
                Some(handled) => prepare(&mut self.prepared, handled),
                None => continue,
            };
            match prepared.and_then(|()| self.ask(&route.live, now_ms)) {
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
        if self.apart.is_some() {
            tracing::debug!(?interpreter, object.gvk = %gvk, "apart: {fault}");
        } else {
            tracing::warn!(?interpreter, object.gvk = %gvk, "{fault}");
        }
    }

    /// Retires what the set no longer holds.
    fn follow(&mut self, set: &Published) {
        if self.generation != Some(set.generation()) {
            self.generation = Some(set.generation());
            self.routes.clear();
            self.warm.retain(|scope, _| set.is_live(*scope));
        }
    }

    /// Retires instances that nobody asked for since the last sweep. The pool calls it once per
    /// [`Limits::idle_max`].
    pub fn sweep(&mut self) {
        self.warm.retain(|_, warm| warm.was_used());
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

    /// What is known of what is prepared, or else what the component says of it.
    fn ask(&mut self, live: &Live, now_ms: i64) -> Result<Answer, Fault> {
        if let Some(answer) = self.memo.get(live.scope, self.prepared.text(), now_ms) {
            self.stats(live).remembered();
            return Ok(answer);
        }
        let begun = self.stats(live).begin();
        let answer = self.call(live, now_ms);
        self.stats(live).end(begun, answer.as_ref().err());
        let answer = answer?;
        let input = self.prepared.text();
        self.memo.put(live.scope, input, answer.clone());
        Ok(answer)
    }

    fn stats<'s>(&'s self, live: &'s Live) -> &'s CallStats {
        self.apart.as_ref().unwrap_or(&live.stats)
    }

    /// Calls the component with what is prepared. An instance that did anything wrong is not kept.
    fn call(&mut self, live: &Live, now_ms: i64) -> Result<Answer, Fault> {
        let interpreter = &live.interpreter;
        let warm = match self.warm.entry(live.scope) {
            Entry::Occupied(warm) => warm.into_mut(),
            Entry::Vacant(place) => {
                let by = Arc::clone(interpreter.by());
                let stats = Arc::clone(self.apart.as_ref().unwrap_or(&live.stats));
                place.insert(Warm::start(interpreter.pre(), by, &self.limits, stats)?)
            }
        };
        let related = self.prepared.related();
        let input = self
            .prepared
            .input(&related, now_ms, live.settings.as_deref());
        let answer = warm
            .interpret(input, &self.limits)
            .and_then(|answer| accept(interpreter, answer));
        let is_kept = self.limits.isolation == Isolation::Warm && !warm.is_worn(&self.limits);
        if answer.is_err() || !is_kept {
            self.warm.remove(&live.scope);
        }
        answer
    }
}
