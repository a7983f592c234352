//! The mailbox at given times.

use std::sync::Arc;
use std::time::Duration;

use kindsight_api::notify::NotifyFormat;
use kindsight_model::Phase;
use kindsight_outgoing::Destinations;
use kindsight_status::PhaseState;
use kindsight_store::{Entry, RedbStore, Store as _};
use tokio::time::Instant;

use super::receiver::{HttpReceiver, Reply};
use super::stage::{now_ms, settings};
use crate::ReceiverSettings;
use crate::event::{Event, GivenUp, Observed};
use crate::keys::PREFIX;
use crate::mailbox::Mailbox;
use crate::receiver::{Outcome, Receiver};
use crate::subject::Subject;
use crate::unsaved::Unsaved;

const HOLD: Duration = Duration::from_secs(30);

fn observed(phase: Phase) -> Observed {
    Observed {
        state: Some(PhaseState {
            phase,
            state: phase.state().into(),
        }),
        at_ms: 0,
        reason: "".into(),
        message: "".into(),
    }
}

fn subject(cluster: &str) -> Subject {
    Subject::Connection(format!("p+{cluster}").parse().unwrap())
}

/// A mailbox with one subject that is ready.
fn mailbox(now: Instant, unsaved: &mut Unsaved) -> Mailbox {
    let mut mailbox = loaded(|_| {}, &[], now, unsaved);
    let present = [(subject("a"), observed(Phase::Ready))];
    mailbox.begin(&present, now, 0, unsaved);
    mailbox
}

/// A mailbox with stored entries.
fn loaded(
    set: impl FnOnce(&mut ReceiverSettings),
    entries: &[Entry],
    now: Instant,
    unsaved: &mut Unsaved,
) -> Mailbox {
    let http = HttpReceiver::start(|_| Reply::status(204));
    let mut settings = settings("ops", &http);
    settings.hold = HOLD;
    set(&mut settings);
    let destinations = Destinations {
        addresses: vec!["127.0.0.0/8".parse().unwrap()],
        ..Destinations::default()
    };
    let receiver = Receiver::new(settings, &Arc::new(destinations), now_ms).unwrap();
    Mailbox::load(Arc::new(receiver), Arc::default(), entries, now, unsaved)
}

/// Writes everything that is not written, and reads the store.
fn stored(store: &RedbStore, unsaved: &mut Unsaved) -> Vec<Entry> {
    for batch in unsaved.take(store) {
        store.apply(&batch).unwrap();
    }
    store.range(PREFIX).unwrap().entries
}

fn slack(settings: &mut ReceiverSettings) {
    settings.format = NotifyFormat::Slack;
}

fn at_most_once(settings: &mut ReceiverSettings) {
    slack(settings);
    settings.at_most_once = true;
}

/// The text of the next request, whose event is marked in the store first.
fn marked(store: &RedbStore, mailbox: &mut Mailbox, now: Instant, unsaved: &mut Unsaved) -> String {
    assert_eq!(mailbox.next_request(now, 1, unsaved), None);
    assert!(
        unsaved.has_values(),
        "the mark is stored before the request"
    );
    stored(store, unsaved);
    let message = mailbox.next_request(now, 1, unsaved).unwrap();
    String::from_utf8(message.body).unwrap()
}

/// The text of the next request, which repeats a message.
fn repetition(mailbox: &mut Mailbox, now: Instant, unsaved: &mut Unsaved) -> String {
    let message = mailbox.next_request(now, 1, unsaved).unwrap();
    let text = String::from_utf8(message.body).unwrap();
    assert!(text.contains("may be a repetition"), "{text}");
    text
}

/// The dead letters among stored entries, with their positions.
fn dead_letters(entries: &[Entry]) -> Vec<(u64, Event)> {
    let dead = entries.iter().filter(|it| it.key.contains("/dead/"));
    let letters = dead.map(|it| {
        let letter: GivenUp = serde_json::from_slice(&it.value).unwrap();
        (letter.event.sequence, letter.event)
    });
    letters.collect()
}

/// A mailbox for Slack whose only event is marked in the store, and its request.
fn begun(
    set: impl FnOnce(&mut ReceiverSettings),
    store: &RedbStore,
    unsaved: &mut Unsaved,
) -> (Mailbox, String) {
    let now = Instant::now();
    let mut mailbox = loaded(set, &[], now, unsaved);
    mailbox.begin(&[(subject("a"), observed(Phase::Ready))], now, 0, unsaved);
    mailbox.observe(&subject("a"), &observed(Phase::Failed), now);
    let now = now + HOLD;
    mailbox.add_due(now, 1, unsaved);
    stored(store, unsaved);
    let text = marked(store, &mut mailbox, now, unsaved);
    assert!(!text.contains("repetition"), "{text}");
    (mailbox, text)
}

#[test]
fn a_message_for_slack_that_may_have_arrived_is_repeated_with_a_remark_or_given_up() {
    let (store, mut unsaved) = (RedbStore::in_memory().unwrap(), Unsaved::default());
    let (killed, first) = begun(slack, &store, &mut unsaved);
    drop(killed);
    let (entries, now) = (stored(&store, &mut unsaved), Instant::now());
    let mut next = loaded(slack, &entries, now, &mut unsaved);
    let again = repetition(&mut next, now, &mut unsaved);
    let text = first.trim_end_matches("\"}");
    assert!(again.starts_with(text), "{again}");

    let mut next = loaded(at_most_once, &entries, now, &mut unsaved);
    assert_eq!(next.next_request(now, 1, &mut unsaved), None);
    let entries = stored(&store, &mut unsaved);
    let letters = dead_letters(&entries);
    assert_eq!(letters.len(), 1, "{entries:?}");
    assert!(!entries.iter().any(|it| it.key.contains("/events/")));

    // A user decides to send it. It remains a dead letter until it is accepted, also across a start.
    assert_eq!(next.resend(letters.clone(), &mut unsaved), 1);
    assert_eq!(next.resend(letters, &mut unsaved), 0, "it is in the queue");
    let entries = stored(&store, &mut unsaved);
    let mut next = loaded(at_most_once, &entries, now, &mut unsaved);
    assert_eq!(marked(&store, &mut next, now, &mut unsaved), first);
    next.sent(Outcome::Delivered, now, &mut unsaved);
    let entries = stored(&store, &mut unsaved);
    let left = entries
        .iter()
        .filter(|it| !it.key.contains("/known/") && !it.key.contains("/scope/"));
    assert_eq!(left.count(), 0, "{entries:?}");
}

#[test]
fn only_a_request_without_an_answer_makes_the_next_message_a_repetition() {
    let (store, mut unsaved) = (RedbStore::in_memory().unwrap(), Unsaved::default());
    let (mut mailbox, first) = begun(slack, &store, &mut unsaved);
    let mut now = Instant::now() + HOLD;
    for (outcome, is_repetition) in [
        (
            Outcome::Failed("the receiver answered 503".to_owned(), None),
            false,
        ),
        (Outcome::Uncertain("no answer within 5 s".to_owned()), true),
        (
            Outcome::Failed("the receiver answered 503".to_owned(), None),
            true,
        ),
    ] {
        mailbox.sent(outcome, now, &mut unsaved);
        stored(&store, &mut unsaved);
        now += Duration::from_mins(10);
        if is_repetition {
            let text = repetition(&mut mailbox, now, &mut unsaved);
            assert_ne!(text, first);
        } else {
            assert_eq!(marked(&store, &mut mailbox, now, &mut unsaved), first);
        }
    }
    let refused = Outcome::Failed("connection refused".to_owned(), None);
    mailbox.sent(refused, now, &mut unsaved);
    drop(mailbox);
    // A request without an answer counts across a restart, also if a later request certainly failed.
    let entries = stored(&store, &mut unsaved);
    let mut next = loaded(slack, &entries, now, &mut unsaved);
    repetition(&mut next, now, &mut unsaved);
}

#[test]
fn an_event_that_certainly_did_not_arrive_is_no_repetition_after_a_restart() {
    for set in [slack as fn(&mut ReceiverSettings), at_most_once] {
        let (store, mut unsaved) = (RedbStore::in_memory().unwrap(), Unsaved::default());
        let (mut stopped, first) = begun(set, &store, &mut unsaved);
        let now = Instant::now() + HOLD;
        let refused = Outcome::Failed("connection refused".to_owned(), None);
        stopped.sent(refused, now, &mut unsaved);
        drop(stopped);
        let entries = stored(&store, &mut unsaved);
        let mut next = loaded(set, &entries, now, &mut unsaved);
        assert_eq!(marked(&store, &mut next, now, &mut unsaved), first);
        next.sent(Outcome::Delivered, now, &mut unsaved);
        assert!(dead_letters(&stored(&store, &mut unsaved)).is_empty());
    }
}

#[test]
fn a_dead_letter_that_is_sent_before_a_marked_event_removes_the_mark() {
    let (store, mut unsaved) = (RedbStore::in_memory().unwrap(), Unsaved::default());
    let (mut mailbox, first) = begun(at_most_once, &store, &mut unsaved);
    let mut now = Instant::now() + HOLD;
    let refused = Outcome::Refused("the receiver answered 400".to_owned());
    mailbox.sent(refused, now, &mut unsaved);
    let letters = dead_letters(&stored(&store, &mut unsaved));
    mailbox.observe(&subject("a"), &observed(Phase::Ready), now);
    now += HOLD;
    mailbox.add_due(now, 1, &mut unsaved);
    stored(&store, &mut unsaved);
    // The second event has its mark, and its request has not begun.
    assert_eq!(mailbox.next_request(now, 1, &mut unsaved), None);
    assert_eq!(mailbox.resend(letters, &mut unsaved), 1);
    stored(&store, &mut unsaved);
    assert_eq!(marked(&store, &mut mailbox, now, &mut unsaved), first);
    drop(mailbox);

    let entries = stored(&store, &mut unsaved);
    let mut next = loaded(at_most_once, &entries, now, &mut unsaved);
    assert_eq!(next.next_request(now, 1, &mut unsaved), None);
    // Only the first event is given up.
    assert_eq!(dead_letters(&stored(&store, &mut unsaved)).len(), 1);
    assert_ne!(marked(&store, &mut next, now, &mut unsaved), first);
}

#[test]
fn a_request_that_fails_after_a_resend_does_not_count_for_the_dead_letter() {
    let (store, begin) = (RedbStore::in_memory().unwrap(), Instant::now());
    let mut unsaved = Unsaved::default();
    let mut mailbox = mailbox(begin, &mut unsaved);
    mailbox.observe(&subject("a"), &observed(Phase::Failed), begin);
    let mut now = begin + HOLD;
    mailbox.add_due(now, 1, &mut unsaved);
    let first = mailbox.next_request(now, 1, &mut unsaved).unwrap();
    let refused = Outcome::Refused("the receiver answered 400".to_owned());
    mailbox.sent(refused, now, &mut unsaved);
    let letters = dead_letters(&stored(&store, &mut unsaved));

    mailbox.observe(&subject("a"), &observed(Phase::Ready), now);
    now += HOLD;
    mailbox.add_due(now, 1, &mut unsaved);
    let second = mailbox.next_request(now, 1, &mut unsaved).unwrap();
    assert_eq!(mailbox.resend(letters, &mut unsaved), 1);
    let mut expected = vec![first.id; usize::try_from(crate::ATTEMPTS_MAX).unwrap()];
    expected.push(second.id);
    for id in expected {
        let failed = Outcome::Failed("the receiver answered 503".to_owned(), None);
        mailbox.sent(failed, now, &mut unsaved);
        now += Duration::from_mins(10);
        let next = mailbox.next_request(now, 1, &mut unsaved).unwrap();
        assert_eq!(next.id, id);
    }
}

#[test]
fn dead_letters_that_are_sent_again_do_not_make_an_event_uncertain() {
    for is_running in [false, true] {
        let (store, mut unsaved) = (RedbStore::in_memory().unwrap(), Unsaved::default());
        let (mut mailbox, first) = begun(at_most_once, &store, &mut unsaved);
        let mut now = Instant::now() + HOLD;
        let refused = Outcome::Refused("the receiver answered 400".to_owned());
        mailbox.sent(refused, now, &mut unsaved);
        let letters = dead_letters(&stored(&store, &mut unsaved));
        assert_eq!(letters.len(), 1);

        mailbox.observe(&subject("a"), &observed(Phase::Ready), now);
        now += HOLD;
        mailbox.add_due(now, 1, &mut unsaved);
        let second = marked(&store, &mut mailbox, now, &mut unsaved);
        // The receiver certainly does not have the event, before and after the resend.
        let failed = Outcome::Failed("connection refused".to_owned(), None);
        if is_running {
            assert_eq!(mailbox.resend(letters, &mut unsaved), 1);
            mailbox.sent(failed, now, &mut unsaved);
        } else {
            mailbox.sent(failed, now, &mut unsaved);
            assert_eq!(mailbox.resend(letters, &mut unsaved), 1);
        }

        now += Duration::from_mins(10);
        stored(&store, &mut unsaved);
        assert_eq!(marked(&store, &mut mailbox, now, &mut unsaved), first);
        mailbox.sent(Outcome::Delivered, now, &mut unsaved);
        assert_eq!(marked(&store, &mut mailbox, now, &mut unsaved), second);
        assert!(dead_letters(&stored(&store, &mut unsaved)).is_empty());
    }
}

/// The phases of the next request, which the receiver accepts.
fn sent(mailbox: &mut Mailbox, now: Instant, unsaved: &mut Unsaved) -> Option<(String, String)> {
    mailbox.add_due(now, 1, unsaved);
    let message = mailbox.next_request(now, 1, unsaved)?;
    mailbox.sent(Outcome::Delivered, now, unsaved);
    let event: serde_json::Value = serde_json::from_slice(&message.body).unwrap();
    let phase = |of: &str| event["data"][of]["phase"].as_str().unwrap().to_owned();
    Some((phase("from"), phase("to")))
}

#[test]
fn only_a_state_that_holds_is_sent() {
    let (begin, mut unsaved) = (Instant::now(), Unsaved::default());
    let mut mailbox = mailbox(begin, &mut unsaved);
    let at = |seconds| begin + Duration::from_secs(seconds);
    let a = subject("a");
    // Ten changes of a flapping subject. Each state ends before the hold time.
    for change in 0..10 {
        let phase = if change % 2 == 0 {
            Phase::Failed
        } else {
            Phase::Ready
        };
        mailbox.observe(&a, &observed(phase), at(20 * change));
        assert_eq!(sent(&mut mailbox, at(20 * change + 19), &mut unsaved), None);
    }
    assert_eq!(sent(&mut mailbox, at(1000), &mut unsaved), None);
    mailbox.observe(&a, &observed(Phase::Pending), at(1000));
    mailbox.observe(&a, &observed(Phase::Failed), at(1010));
    assert_eq!(mailbox.wake_at(), Some(at(1040)));
    assert_eq!(sent(&mut mailbox, at(1039), &mut unsaved), None);
    let expected = Some(("ready".to_owned(), "failed".to_owned()));
    assert_eq!(sent(&mut mailbox, at(1040), &mut unsaved), expected);
    assert_eq!(mailbox.wake_at(), None);
}

#[test]
fn a_failure_delays_the_next_request_and_requests_wait_as_long_as_the_receiver_asks() {
    let (begin, mut unsaved) = (Instant::now(), Unsaved::default());
    let mut mailbox = mailbox(begin, &mut unsaved);
    mailbox.observe(&subject("a"), &observed(Phase::Failed), begin);
    let now = begin + HOLD;
    mailbox.add_due(now, 1, &mut unsaved);
    let first = mailbox.next_request(now, 1, &mut unsaved).unwrap();
    assert_eq!(
        mailbox.next_request(now, 1, &mut unsaved),
        None,
        "one request at a time"
    );
    let wait = Duration::from_secs(40);
    let failed = |wait| Outcome::Failed("the receiver answered 503".to_owned(), wait);
    mailbox.sent(failed(Some(wait)), now, &mut unsaved);
    assert_eq!(mailbox.wake_at(), Some(now + wait));
    assert_eq!(mailbox.next_request(now + wait / 2, 1, &mut unsaved), None);
    let second = mailbox.next_request(now + wait, 1, &mut unsaved).unwrap();
    assert_eq!((second.id, second.body), (first.id, first.body));
    let mut waits = Vec::new();
    let mut now = now + wait;
    for _ in 0..12 {
        mailbox.sent(failed(None), now, &mut unsaved);
        let next = mailbox.wake_at().unwrap();
        waits.push(next - now);
        now = next;
        mailbox.next_request(now, 1, &mut unsaved).unwrap();
    }
    assert!(waits[0] < Duration::from_secs(8), "{waits:?}");
    let last = waits.last().unwrap();
    let longest = Duration::from_mins(5)..=Duration::from_mins(10);
    assert!(longest.contains(last), "{waits:?}");
}

#[test]
fn an_event_is_given_up_after_many_requests() {
    let (begin, mut unsaved) = (Instant::now(), Unsaved::default());
    let mut mailbox = mailbox(begin, &mut unsaved);
    mailbox.observe(&subject("a"), &observed(Phase::Failed), begin);
    let mut now = begin + HOLD;
    mailbox.add_due(now, 1, &mut unsaved);
    for _ in 0..crate::ATTEMPTS_MAX {
        mailbox.next_request(now, 1, &mut unsaved).unwrap();
        let failed = Outcome::Failed("the receiver answered 503".to_owned(), None);
        mailbox.sent(failed, now, &mut unsaved);
        now += Duration::from_mins(10);
    }
    assert_eq!(mailbox.next_request(now, 1, &mut unsaved), None);
    let hours = (now - begin).as_secs() / 3600;
    assert!(hours > 24, "{hours}");
}
