//! Log lines of a guest in the host's log.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kindsight_interpreter::{Memo, Siblings, Worker};
use kindsight_model::{LoadStep, Source};
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

use crate::{hostile, one_worker, start, thing};

/// Keeps every line that carries an interpreter's name.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        if line.marked {
            self.0.lock().expect("no panic").push(line.message);
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Line {
    marked: bool,
    message: String,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.marked |= field.name() == "interpreter.name" && value == "talker";
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            write!(self.message, "{value:?}").expect("text");
        }
    }
}

/// The lines one call writes, and the reason of its verdict.
fn logged(what: &str) -> (Vec<String>, String) {
    let interpreters = start(one_worker());
    let talker = hostile(&interpreters, r#"{"name": "talker"}"#);
    interpreters
        .publish(vec![(Source::Upload, talker)])
        .expect("a set");
    let set = interpreters.published();
    let mut worker = Worker::new(one_worker(), Arc::new(Memo::new(0)));
    let object = thing(&format!(r#"{{"do": "{what}"}}"#));
    let lines = Lines::default();
    let judged = tracing::subscriber::with_default(lines.clone(), || {
        worker.judge(&set, &object, &Siblings::none(), 0)
    });
    let lines = lines.0.lock().expect("no panic").clone();
    (lines, judged.reason.to_string())
}

/// A description with which the guest logs a thousand lines in each of `describe` and `fixtures`.
const FLOODS: &str = r#""name": "talker", "describe": "flood-log", "list-fixtures": "flood-log""#;

#[test]
fn log_lines_dropped_during_a_load_are_counted_and_reported() {
    let interpreters = start(one_worker());
    let talker = hostile(&interpreters, &format!("{{{FLOODS}}}"));
    let told = "1936 of its log lines were dropped while it was loaded: it may log 32 in a call, 100 in 10 s";
    assert_eq!(talker.description().warnings, [told]);
    for live in [vec![(Source::Upload, talker)], Vec::new()] {
        let expected = (!live.is_empty()).then_some(1936);
        interpreters.publish(live).expect("a set");
        let set = interpreters.published();
        let stats = set.stats("talker");
        assert_eq!(
            stats.map(|stats| stats.snapshot().log_lines_dropped),
            expected
        );
    }

    let wrong = format!(r#"{{{FLOODS}, "states": ["Ready", "Ready"]}}"#);
    let refused = interpreters.load(&kindsight_tests::hostile(&wrong));
    let refused = refused.expect_err("a state is declared twice");
    let text = refused.to_string();
    let told = told.replace("1936", "968");
    assert!(text.starts_with("its description is wrong: "), "{text}");
    assert!(text.ends_with(&format!("; {told}")), "{text}");
    assert_eq!(refused.step(), LoadStep::Tried);
}

#[test]
fn a_flood_ends_after_its_lines_and_costs_no_verdict() {
    let (lines, reason) = logged("flood-log");
    assert_eq!(reason, "AsAsked");
    assert_eq!(lines.len(), 32);
    assert_eq!(
        (lines[0].as_str(), lines[31].as_str()),
        ("line 0", "line 31")
    );
}

/// The log lines of `calls` calls, each about another object, and the number of dropped lines.
fn logged_by_calls(what: &str, calls: usize) -> (Vec<String>, u64) {
    let interpreters = start(one_worker());
    let talker = hostile(&interpreters, r#"{"name": "talker"}"#);
    interpreters
        .publish(vec![(Source::Upload, talker)])
        .expect("a set");
    let set = interpreters.published();
    let mut worker = Worker::new(one_worker(), Arc::new(Memo::new(0)));
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || {
        for number in 0..calls {
            let object = thing(&format!(r#"{{"do": "{what}", "number": {number}}}"#));
            worker.judge(&set, &object, &Siblings::none(), 0);
        }
        // As the circuit breaker does each second.
        let stats = set.stats("talker").expect("it is live");
        let (_, talker) = set.interpreters().next().expect("it is live");
        stats.tell_dropped_lines(Instant::now() + Duration::from_mins(1), talker.by());
    });
    let lines = lines.0.lock().expect("no panic").clone();
    let stats = set.stats("talker").expect("it is live");
    (lines, stats.snapshot().log_lines_dropped)
}

#[test]
fn many_calls_do_not_flood_the_log_either() {
    let (lines, dropped) = logged_by_calls("flood-log", 10);
    assert_eq!(lines.len(), 101);
    assert_eq!(dropped, 10_000 - 100);
    assert_eq!(
        lines[100],
        "220 lines about this interpreter were dropped: too many in 10 s"
    );
}

#[test]
fn a_line_is_one_line_without_escapes_and_cut() {
    let (lines, reason) = logged("log-escapes");
    assert_eq!(reason, "AsAsked");
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with(" [31mred red "), "{}", &lines[0][..40]);
    assert_eq!(lines[0].len(), 1024);
}

#[test]
fn a_line_that_is_more_than_the_host_takes_over_costs_the_verdict() {
    let (lines, reason) = logged("log-1-mib");
    assert_eq!(reason, "InterpreterAnswerTooLarge");
    assert!(lines.is_empty(), "{lines:?}");
}

#[test]
fn a_panic_is_in_the_log_too() {
    let (lines, reason) = logged("panic");
    assert_eq!(reason, "InterpreterTrapped");
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].contains("the hostile guest panics as asked"),
        "{}",
        lines[0]
    );
}
