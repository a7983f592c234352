use std::sync::mpsc;

use kindsight_model::Phase;

use super::*;
use crate::guarded_worker::tests::PANICS;
use crate::{Interpreters, Limits, Memo};

fn objects(names: &[&str]) -> Arc<[Object]> {
    let object = |name: &&str| {
        let json = format!(r#"{{"kind": "K", "metadata": {{"name": "{name}"}}}}"#);
        Object::from_json(json).expect("an object")
    };
    names.iter().map(object).collect()
}

fn one_worker() -> Limits {
    Limits {
        workers: 1,
        ..Limits::default()
    }
}

#[test]
fn a_worker_that_panics_is_replaced() {
    let interpreters = Interpreters::start(one_worker(), None).expect("an engine");
    for _ in 0..3 {
        for purpose in [Purpose::Reported, Purpose::Sent] {
            let objects = objects(&["a", PANICS, "b"]);
            let judged = match purpose {
                Purpose::Reported => interpreters.judge(&objects, 0),
                Purpose::Sent => interpreters.judge_sent(&objects, 0, &Arc::default()),
            };
            let reasons: Vec<&str> = judged.iter().map(|verdict| &*verdict.reason).collect();
            assert_eq!(reasons, ["NoInterpreter", "NoAnswer", "NoInterpreter"]);
            assert!(judged.iter().all(|verdict| verdict.phase == Phase::Unknown));
        }
    }
}

#[test]
fn each_verdict_is_at_the_position_of_its_object() {
    let interpreters = Interpreters::start(one_worker(), None).expect("an engine");
    let kinds: Vec<String> = (0..200)
        .map(|number| format!("K{}", number * 7 % 5))
        .collect();
    let object = |kind: &String| {
        let json = format!(r#"{{"kind": "{kind}", "metadata": {{"name": "a"}}}}"#);
        Object::from_json(json).expect("an object")
    };
    let objects: Arc<[Object]> = kinds.iter().map(object).collect();
    let judged = interpreters.judge(&objects, 0);
    assert_eq!(judged.len(), kinds.len());
    for (verdict, kind) in judged.iter().zip(&kinds) {
        assert!(
            verdict.message.ends_with(kind.as_str()),
            "{verdict:?} of {kind}"
        );
    }
}

/// A thread that does one turn at a time, and the queues before it.
fn stage() -> (WorkerThread, Queues) {
    let (queues, work) = queues(100);
    let worker = GuardedWorker::new(one_worker(), Arc::new(Memo::new(0)));
    (WorkerThread::new(worker, work, Duration::ZERO), queues)
}

/// A slice, and the receiver of its verdicts.
fn slice(objects: &Arc<[Object]>) -> (Slice, Receiver<(usize, Vec<Verdict>)>) {
    let (reply, judged) = bounded(1);
    let slice = Slice {
        set: Arc::default(),
        objects: Arc::clone(objects),
        range: 0..objects.len(),
        siblings: Arc::default(),
        now_ms: 0,
        is_gone: Arc::default(),
        request: Span::none(),
        reply,
    };
    (slice, judged)
}

#[test]
fn a_report_is_judged_before_requests_that_came_earlier() {
    let (mut thread, queues) = stage();
    let objects = objects(&["a"]);
    let mut requests = Vec::new();
    for _ in 0..50 {
        let (request, judged) = slice(&objects);
        queues.sent.send(request).expect("a queue");
        requests.push(judged);
    }
    for request in requests.iter().take(3) {
        let (report, reported) = slice(&objects);
        queues.reported.send(report).expect("a queue");
        assert!(thread.turn());
        assert!(!reported.is_empty());
        assert!(request.is_empty());
        assert!(thread.turn());
        assert!(!request.is_empty(), "no report was waiting");
    }
}

#[test]
fn requests_get_their_share_beside_a_flood_of_reports() {
    let (mut thread, queues) = stage();
    let objects = objects(&["a"; 64]);
    let (request, judged) = slice(&objects);
    queues.sent.send(request).expect("a queue");
    for _ in 0..10_000 {
        // There is always a report.
        let (report, _reported) = slice(&objects);
        queues.reported.send(report).expect("a queue");
        assert!(thread.turn());
        if !judged.is_empty() {
            return;
        }
    }
    panic!("the request was never judged");
}

#[test]
fn a_request_whose_client_has_gone_is_left() {
    let (mut thread, queues) = stage();
    let (request, judged) = slice(&objects(&["a"; 64]));
    let is_gone = Arc::clone(&request.is_gone);
    is_gone.store(true, Ordering::Relaxed);
    queues.sent.send(request).expect("a queue");
    assert!(thread.turn());
    assert!(thread.begun.is_none());
    assert!(judged.recv().is_err(), "no object was judged");
}

#[test]
fn a_thread_ends_with_its_queues() {
    let (thread, queues) = stage();
    let (ended, end) = mpsc::channel();
    let running = thread::spawn(move || {
        thread.run();
        ended.send(()).expect("a test");
    });
    drop(queues);
    end.recv().expect("it ends");
    running.join().expect("no panic");
}
