//! One thread's way from an object to its verdict.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;
use std::sync::Arc;

use kindsight_model::{Gvk, InterpretedBy, Object, Verdict, host_reason};

use crate::bindings::{self, Failure, Input, RelatedObject};
use crate::describe::{Description, HandledKind};
use crate::fault::Fault;
use crate::interpreters::Judged;
use crate::limits::{EXTRAS_BYTES_MAX, Isolation, Limits, MESSAGE_BYTES_MAX, REASON_BYTES_MAX};
use crate::load::Interpreter;
use crate::memo::{Answer, Memo};
use crate::published::{Live, Published, Route};
use crate::related::Siblings;
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
        }
    }

    /// Judges one object. Always answers, and within the limits.
    pub fn judge(
        &mut self,
        set: &Published,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
    ) -> Judged {
        self.judge_prepared(set, &object.gvk, now_ms, |prepared, handled| {
            prepared.fill(handled, object, siblings)
        })
    }

    /// Judges text that is cut down already: what is left is the call. For benchmarks.
    pub fn judge_trimmed(&mut self, set: &Published, gvk: &Gvk, json: &str, now_ms: i64) -> Judged {
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
    ) -> Judged {
        self.follow(set);
        for route in self.routes(set, gvk).iter() {
            let prepared = match route.handled() {
                Some(handled) => prepare(&mut self.prepared, handled),
                None => continue,
            };
            match prepared.and_then(|()| self.ask(&route.live, now_ms)) {
                Ok(Answer::Unsupported) => {}
                Ok(Answer::Verdict(verdict)) => return Judged::by(verdict, &route.live),
                Err(fault) => {
                    tracing::warn!(interpreter = ?route.live.interpreter, object.gvk = %gvk, "{fault}");
                    let verdict = fault.verdict(route.live.interpreter.by());
                    return Judged::by(verdict, &route.live);
                }
            }
        }
        let message = format!("no interpreter speaks for {gvk}");
        Judged {
            verdict: Verdict::unknown(host_reason::NO_INTERPRETER, message),
            by: None,
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
        if let Some(answer) = self.memo.get(live.scope, &self.prepared.text, now_ms) {
            return Ok(answer);
        }
        let answer = self.call(live, now_ms)?;
        let input = &self.prepared.text;
        self.memo.put(live.scope, input, answer.clone());
        Ok(answer)
    }

    /// Calls the component with what is prepared. An instance that did anything wrong is not kept.
    fn call(&mut self, live: &Live, now_ms: i64) -> Result<Answer, Fault> {
        let interpreter = &live.interpreter;
        let warm = match self.warm.entry(live.scope) {
            Entry::Occupied(warm) => warm.into_mut(),
            Entry::Vacant(place) => {
                let by = interpreter.by().clone();
                place.insert(Warm::start(interpreter.pre(), by, &self.limits)?)
            }
        };
        let related = self.prepared.related();
        let input = self.prepared.input(&related, now_ms, None);
        let answer = warm
            .interpret(input, &self.limits)
            .and_then(|answer| accept(interpreter.description(), answer));
        let is_kept = self.limits.isolation == Isolation::Warm && !warm.is_worn(&self.limits);
        if answer.is_err() || !is_kept {
            self.warm.remove(&live.scope);
        }
        answer
    }
}

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
        let description = self.interpreter.description();
        let handled = description.kinds.iter();
        let handled = handled
            .filter(|handled| handled.pattern.matches(&object.gvk))
            .max_by_key(|handled| handled.pattern.specificity())
            .ok_or_else(|| format!("no pattern of its description matches {}", object.gvk))?;
        let text = |fault: Fault| fault.to_string();
        self.prepared
            .fill(handled, object, siblings)
            .map_err(text)?;
        let by = || self.interpreter.by().clone();
        let mut warm = match self.warm.take() {
            Some(warm) => warm,
            None => Warm::start(self.interpreter.pre(), by(), self.limits).map_err(text)?,
        };
        let related = self.prepared.related();
        let input = self.prepared.input(&related, now_ms, settings);
        let answer = warm.interpret(input, self.limits).map_err(text)?;
        self.warm = Some(warm);
        match accept(description, answer).map_err(text)? {
            Answer::Verdict(verdict) => Ok(verdict),
            Answer::Unsupported => Err("it says it does not judge such an object".to_owned()),
        }
    }
}

/// What goes into one call: the trimmed object, then everything that is related, in one text that is
/// also the memo's key.
#[derive(Default)]
struct Prepared {
    text: String,
    /// Where the object's own JSON ends in `text`.
    object_end: usize,
    related: Vec<Part>,
    truncated: bool,
}

/// One related object; its JSON is a range of [`Prepared::text`].
struct Part {
    object: Object,
    json: std::ops::Range<usize>,
}

impl Prepared {
    /// An object that is cut down already, and nothing beside it.
    fn take(&mut self, json: &str) {
        self.text.clear();
        self.related.clear();
        self.truncated = false;
        self.text.push_str(json);
        self.object_end = json.len();
    }

    fn fill(
        &mut self,
        handled: &HandledKind,
        object: &Object,
        siblings: &Siblings,
    ) -> Result<(), Fault> {
        self.text.clear();
        self.related.clear();
        self.truncated = false;
        let invalid = |error: serde_json::Error| Fault::InvalidInput(error.to_string());
        handled
            .fields
            .trim(&object.json, &mut self.text)
            .map_err(invalid)?;
        self.object_end = self.text.len();
        for rule in &handled.related {
            let (found, truncated) = siblings.find(rule, object);
            self.truncated |= truncated;
            for related in found {
                self.add(&rule.fields, related).map_err(invalid)?;
            }
        }
        if self.truncated {
            self.text.push('+');
        }
        Ok(())
    }

    /// Every part is written with its length, so that no two different inputs have the same text.
    fn add(&mut self, fields: &crate::Fields, object: &Object) -> Result<(), serde_json::Error> {
        let Gvk {
            group,
            version,
            kind,
        } = &object.gvk;
        for part in [group, version, kind, &object.namespace, &object.name] {
            // Writing to a String does not fail.
            let _ = write!(self.text, "{}:{part}", part.len());
        }
        let start = self.text.len();
        fields.trim(&object.json, &mut self.text)?;
        self.related.push(Part {
            object: object.clone(),
            json: start..self.text.len(),
        });
        Ok(())
    }

    fn related(&self) -> Vec<RelatedObject<'_>> {
        let parts = self.related.iter();
        parts
            .map(|part| RelatedObject {
                group: &part.object.gvk.group,
                version: &part.object.gvk.version,
                kind: &part.object.gvk.kind,
                namespace: &part.object.namespace,
                name: &part.object.name,
                object: self.text.get(part.json.clone()).unwrap_or_default(),
            })
            .collect()
    }

    fn input<'p>(
        &'p self,
        related: &'p [RelatedObject<'p>],
        now_ms: i64,
        settings: Option<&'p str>,
    ) -> Input<'p> {
        Input {
            object: self.text.get(..self.object_end).unwrap_or_default(),
            related,
            truncated: self.truncated,
            now_ms,
            settings,
            extras: None,
        }
    }
}

/// Checks an answer against the contract and the component's own description.
fn accept(
    description: &Description,
    answer: Result<bindings::Verdict, Failure>,
) -> Result<Answer, Fault> {
    let verdict = match answer {
        Ok(verdict) => verdict,
        Err(Failure::Unsupported) => return Ok(Answer::Unsupported),
        Err(Failure::InvalidInput(what)) => return Err(Fault::InvalidInput(message(what))),
        Err(Failure::Internal(what)) => return Err(Fault::Internal(message(what))),
    };
    let Some(state) = description.state(&verdict.state) else {
        let mut name = message(verdict.state);
        name.truncate(name.floor_char_boundary(80));
        return Err(Fault::UndeclaredState(name));
    };
    if verdict.reason.len() > REASON_BYTES_MAX {
        let what = format!(
            "a reason of {} bytes, {REASON_BYTES_MAX} are right",
            verdict.reason.len()
        );
        return Err(Fault::AnswerTooLarge(what));
    }
    if verdict
        .extras
        .as_ref()
        .is_some_and(|extras| extras.len() > EXTRAS_BYTES_MAX)
    {
        return Err(Fault::AnswerTooLarge(format!(
            "extras of over {EXTRAS_BYTES_MAX} bytes"
        )));
    }
    Ok(Answer::Verdict(Verdict {
        phase: state.phase,
        state: Arc::clone(&state.name),
        reason: message(verdict.reason).into(),
        message: message(verdict.message).into(),
        look_again_at_ms: verdict.look_again_at_ms,
    }))
}

/// Cut to its limit and without control characters, which could write into terminals and logs.
fn message(mut text: String) -> String {
    if text.len() > MESSAGE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(MESSAGE_BYTES_MAX));
    }
    if text.contains(char::is_control) {
        return text.replace(char::is_control, " ");
    }
    text
}

impl Judged {
    fn by(verdict: Verdict, live: &Live) -> Self {
        let by: &InterpretedBy = live.interpreter.by();
        Self {
            verdict,
            by: Some(by.clone()),
        }
    }
}
