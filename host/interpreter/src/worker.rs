//! A worker, which judges one object after another on one thread.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{Gvk, Object, Verdict, host_reason};

use crate::accept::dated;
use crate::call_input::{CallInput, InputObjects};
use crate::failed_input::FailedInput;
use crate::fault::Fault;
use crate::limits::{FAULT_LINES_PER_SPAN_MAX, Limits};
use crate::memo::{Answer, Memo};
use crate::pool::{Callee, InstancePool};
use crate::published::{Live, Published, Route};
use crate::related::Siblings;
use crate::stats::CallStats;

/// Maximum number of Kinds whose routes one worker caches. If there are more, the routes are
/// determined again.
const ROUTES_MAX: usize = 4096;

/// The reason why objects are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A cluster reported the objects: calls count in [`CallStats`] and for the circuit breaker,
    /// and answers are stored in the memo.
    Reported,
    /// A client sent the objects with a request. They are judged in the same way, but have no
    /// effect on anything else: calls do not count, answers are not stored, and faults are logged
    /// at debug level.
    Sent,
}

/// One question to an interpreter.
#[derive(Clone, Copy)]
struct Question<'o> {
    gvk: &'o Gvk,
    /// `None` in benchmarks, whose input has already been written.
    objects: Option<InputObjects<'o>>,
    purpose: Purpose,
    now_ms: i64,
}

/// The worker of one thread, with its own pooled instances.
pub struct Worker {
    pool: InstancePool,
    memo: Arc<Memo>,
    generation: Option<u64>,
    routes: HashMap<Gvk, Arc<[Route]>, foldhash::quality::RandomState>,
    input: CallInput,
    /// The statistics of an isolated worker, instead of the statistics of the live interpreters.
    own_stats: Option<Arc<CallStats>>,
}

impl Worker {
    /// Makes a worker without instances. They are made when they are first needed.
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

    /// Makes a worker without an effect on the live interpreters: it has no memo, counts its calls
    /// in `stats`, and logs faults only at debug level.
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

    /// The same as [`Self::judge`], for any purpose.
    pub(crate) fn judge_for(
        &mut self,
        purpose: Purpose,
        set: &Published,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
    ) -> Verdict {
        let tree = object.tree();
        let question = Question {
            gvk: &object.gvk,
            objects: Some(InputObjects {
                object,
                tree: &tree,
                siblings,
            }),
            purpose,
            now_ms,
        };
        let judged = self.answer(set, question);
        self.input.clear();
        judged
    }

    /// Judges the input that [`Self::fill`] wrote, so that only the call is measured. For
    /// benchmarks.
    pub fn judge_filled(&mut self, set: &Published, gvk: &Gvk, now_ms: i64) -> Verdict {
        let question = Question {
            gvk,
            objects: None,
            purpose: Purpose::Reported,
            now_ms,
        };
        self.answer(set, question)
    }

    /// Writes the input for the first interpreter that handles an object, and returns it in the
    /// form that the interpreter receives. For benchmarks.
    pub fn fill(&mut self, set: &Published, object: &Object, siblings: &Siblings) -> &[u8] {
        self.follow(set);
        let routes = self.routes(set, &object.gvk);
        let Some((route, handled)) = routes
            .iter()
            .find_map(|route| Some((route, route.handled()?)))
        else {
            return &[];
        };
        let tree = object.tree();
        let objects = InputObjects {
            object,
            tree: &tree,
            siblings,
        };
        let encoding = route.live.interpreter.exports().encoding();
        self.input
            .fill(encoding, handled, objects, &route.live.settings);
        self.input.key(encoding)
    }

    /// Judges one reported object as [`Self::judge`] does, with the memo and all other steps of a
    /// call, but with a native rule in place of the component. For the benchmark that compares
    /// both.
    pub fn judge_natively(
        &mut self,
        set: &Published,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
        rule: impl FnOnce(&[u8], Option<i64>) -> Verdict,
    ) -> Verdict {
        self.fill(set, object, siblings);
        let routes = self.routes(set, &object.gvk);
        let Some(Route { live, .. }) = routes.first() else {
            return Verdict::unknown(host_reason::NO_INTERPRETER, "");
        };
        let input = self.input.key(live.interpreter.exports().encoding());
        let remembered = self.memo.get(live.scope, input, Some(now_ms));
        let verdict = if let Some(Answer::Verdict(verdict)) = remembered {
            verdict
        } else {
            let verdict = rule(input, Some(now_ms));
            let answer = Answer::Verdict(verdict.clone());
            self.memo.put(live.scope, input, Some(now_ms), answer);
            verdict
        };
        self.input.clear();
        verdict
    }

    /// Calls one interpreter after the other until one judges the object.
    fn answer(&mut self, set: &Published, question: Question<'_>) -> Verdict {
        self.follow(set);
        let mut declined = String::new();
        for route in self.routes_of(set, question).iter() {
            let (Some(handled), live) = (route.handled(), &route.live) else {
                continue;
            };
            if let Some(objects) = question.objects {
                let encoding = live.interpreter.exports().encoding();
                self.input.fill(encoding, handled, objects, &live.settings);
            }
            let now_ms = handled.uses_now.then_some(question.now_ms);
            match self.ask(live, question, now_ms) {
                Ok(Answer::Unsupported(why)) => note_decline(&mut declined, live, &why),
                Ok(Answer::Verdict(verdict)) => return dated(verdict, question.now_ms),
                Err(fault) => {
                    self.log(&fault, live, question);
                    return fault.verdict(live.interpreter.by());
                }
            }
        }
        let message = format!("no interpreter handles {}{declined}", question.gvk);
        Verdict::unknown(host_reason::NO_INTERPRETER, message)
    }

    /// The routes that apply to an object, in order.
    fn routes_of(&mut self, set: &Published, question: Question<'_>) -> Arc<[Route]> {
        let routes = self.routes(set, question.gvk);
        // Very few entries require a field, and no entry in benchmarks does.
        let asks = |route: &Route| {
            route
                .handled()
                .is_some_and(|handled| handled.when.is_some())
        };
        let Some(objects) = question.objects.filter(|_| routes.iter().any(asks)) else {
            return routes;
        };
        let document = objects.tree.document(&objects.object.json);
        let root = document.root();
        let taken = routes.iter().enumerate().filter(|(position, route)| {
            route.takes(root, routes.get(..*position).unwrap_or_default())
        });
        taken.map(|(_, route)| route.clone()).collect()
    }

    fn log(&self, fault: &Fault, live: &Live, question: Question<'_>) {
        let Question { gvk, purpose, .. } = question;
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

    /// Retires instances that were not used since the last sweep. The worker thread calls it after
    /// [`Limits::idle_max`] without work.
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

    /// Gets the answer from the memo, or else calls the component.
    fn ask(
        &mut self,
        live: &Live,
        question: Question<'_>,
        now_ms: Option<i64>,
    ) -> Result<Answer, Fault> {
        let is_sent = question.purpose == Purpose::Sent;
        let stats = self.own_stats.as_ref().unwrap_or(&live.stats);
        let input = self.input.key(live.interpreter.exports().encoding());
        if let Some(answer) = self.memo.get(live.scope, input, now_ms) {
            if !is_sent {
                stats.memo_answered();
            }
            return Ok(answer);
        }
        let callee = Callee {
            scope: live.scope,
            interpreter: &live.interpreter,
            settings: &live.settings,
            stats,
            purpose: question.purpose,
        };
        if is_sent {
            return self.pool.call(callee, &self.input, now_ms);
        }
        let begun = stats.begin();
        let answer = self.pool.call(callee, &self.input, now_ms);
        if let Err(fault) = &answer
            && fault.is_interpreters()
            // Benchmarks have no objects.
            && let Some(InputObjects {
                object, siblings, ..
            }) = question.objects
        {
            stats.failed(object, input, || FailedInput {
                object: object.clone(),
                related: Arc::new(self.input.related_siblings(siblings)),
                now_ms: question.now_ms,
            });
        }
        stats.end(begun, answer.as_ref().err());
        let answer = answer?;
        self.memo.put(live.scope, input, now_ms, answer.clone());
        Ok(answer)
    }
}

/// Adds the reason of an interpreter that declined to the message for objects that all interpreters
/// decline.
fn note_decline(declined: &mut String, live: &Live, why: &str) {
    if !why.is_empty() {
        declined.extend([
            "; ",
            live.interpreter.by().name.as_str(),
            " declined: ",
            why,
        ]);
    }
}
