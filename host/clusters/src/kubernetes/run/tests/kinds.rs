//! States of single Kinds: the response to a request determines whether the Kind is answered or awaited.

use super::*;

fn is_list_of_widgets(target: &str) -> bool {
    target.starts_with("/apis/example.org/v1/widgets?limit")
}

fn refused(code: u16) -> Answer {
    Answer::Json(code, json!({"code": code, "message": "no"}))
}

#[tokio::test]
async fn a_refusal_is_an_answer_only_after_a_repeated_request_confirms_it() {
    for (code, state) in [(403, KindState::Forbidden), (404, KindState::Unserved)] {
        let api = Api::new(move |target| is_list_of_widgets(target).then(|| refused(code)));
        let mut source = Source::begin(&api, Needs::default());
        let states = source.states_until("example.org", "Widget", state).await;
        assert_eq!(states, [KindState::Listing], "{code}");
    }
}

#[tokio::test]
async fn a_server_that_starts_and_refuses_once_refuses_no_kind() {
    for code in [403, 404] {
        let mut lists = 0;
        let api = Api::new(move |target| {
            lists += usize::from(is_list_of_widgets(target));
            (is_list_of_widgets(target) && lists == 1).then(|| refused(code))
        });
        let mut source = Source::begin(&api, Needs::default());
        let complete = KindState::Complete;
        let states = source.states_until("example.org", "Widget", complete).await;
        assert_eq!(states, [KindState::Listing], "{code}");
    }
}

#[tokio::test]
async fn a_kind_whose_first_list_fails_is_awaited() {
    for code in [429, 500, 503, 504] {
        let mut lists = 0;
        let api = Api::new(move |target| {
            lists += usize::from(is_list_of_widgets(target));
            (is_list_of_widgets(target) && lists == 1).then(|| refused(code))
        });
        let mut source = Source::begin(&api, Needs::default());
        let complete = KindState::Complete;
        let states = source.states_until("example.org", "Widget", complete).await;
        assert_eq!(states.last(), Some(&KindState::Unavailable), "{code}");
    }
}

#[tokio::test]
async fn a_list_that_hangs_makes_only_its_kind_unavailable() {
    let (held_tx, held) = mpsc::unbounded_channel();
    let api = Api::new(move |target| {
        if is_list_of_widgets(target) {
            let (release, until) = blocking::channel();
            held_tx.send(release).unwrap();
            return Some(Answer::Held(until, list(&[])));
        }
        (is_list_of_services(target) || is_part_of_services(target)).then(front)
    });
    let mut source = Source::begin(&api, Needs::default());
    let unavailable = KindState::Unavailable;
    source
        .states_until("example.org", "Widget", unavailable)
        .await;
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    drop(held);
}

/// Returns whether a request opens a watch of Services, apart from a streamed list.
fn is_watch_of_services(target: &str) -> bool {
    target.starts_with("/api/v1/services?watch=1&") && !target.contains("sendInitialEvents")
}

/// The states of Services if the server answers the first four watches with `answer`. The wait after the fourth watch is
/// longer than a second.
async fn states_after_four_watches(
    answer: impl Fn() -> Answer + Send + 'static,
) -> (Vec<KindState>, String) {
    let mut watches = 0;
    let api = Api::new(move |target| {
        watches += usize::from(is_watch_of_services(target));
        (is_watch_of_services(target) && watches <= 4).then(&answer)
    });
    let mut source = Source::begin(&api, Needs::default());
    let (unavailable, complete) = (KindState::Unavailable, KindState::Complete);
    let states = source.states_until("", "Service", unavailable).await;
    let shown = source.coverage.of(Some(""), "Service", Scope::Cluster);
    let why = shown.cause().to_owned();
    source.states_until("", "Service", complete).await;
    (states, why)
}

#[tokio::test]
async fn a_kind_is_unavailable_during_a_long_wait_for_the_list_after_an_outdated_version() {
    let outdated = || Answer::Json(410, json!({"code": 410, "message": "too old"}));
    let (states, why) = states_after_four_watches(outdated).await;
    assert_eq!(states.last(), Some(&KindState::Complete));
    assert_eq!(
        why,
        "its watch could not continue; it is listed again in less than a minute"
    );
}

#[tokio::test]
async fn a_kind_is_unavailable_during_a_long_wait_after_a_watch_that_the_server_ended() {
    let ended = || Answer::Json(200, Value::Null);
    let (states, why) = states_after_four_watches(ended).await;
    assert_eq!(states.last(), Some(&KindState::Complete));
    assert_eq!(why, "the server ends its watches early");
}

#[tokio::test]
async fn a_kind_without_versions_is_listed_again_before_its_watch_continues() {
    let (listed_tx, mut listed) = mpsc::unbounded_channel();
    let api = Api::new(move |target| {
        if is_list_of_services(target) {
            let shop = json!({"app.kubernetes.io/instance": "shop"});
            // The test may have ended.
            let _ = listed_tx.send(());
            let items = [object("front", &shop)];
            return Some(Answer::Json(200, json!({"metadata": {}, "items": items})));
        }
        is_part_of_services(target).then(front)
    });
    let _source = Source::begin(&api, Needs::default());
    listed.recv().await.unwrap();
    // The Service belongs to an application, so the watch continues with complete objects.
    listed.recv().await.unwrap();
}

#[tokio::test]
async fn a_watch_without_versions_that_ends_is_followed_by_a_list() {
    let (asked_tx, mut asked) = mpsc::unbounded_channel();
    let api = Api::new(move |target| {
        // A probe lists one object.
        if is_list_of_services(target) && !target.ends_with("?limit=1") {
            // The test may have ended.
            let _ = asked_tx.send("list");
            return Some(Answer::Json(200, json!({"metadata": {}, "items": []})));
        }
        is_watch_of_services(target).then(|| {
            let _ = asked_tx.send("watch");
            Answer::Json(200, Value::Null)
        })
    });
    let _source = Source::begin(&api, Needs::default());
    for expected in ["list", "watch", "list", "watch", "list"] {
        assert_eq!(asked.recv().await, Some(expected));
    }
}
