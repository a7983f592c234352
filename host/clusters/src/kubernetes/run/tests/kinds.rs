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
