use super::*;

fn version(digest: &str) -> Version {
    Version {
        digest: digest.to_owned(),
        version: "1".to_owned(),
        outcome: Outcome::Candidate,
        why: String::new(),
        received_ms: 0,
    }
}

fn outcomes(slot: &Slot) -> Vec<(&str, Outcome)> {
    let versions = slot.versions.iter();
    versions
        .map(|it| (it.digest.as_str(), it.outcome))
        .collect()
}

#[test]
fn one_is_live_and_what_was_can_be_gone_back_to() {
    use Outcome::{Bad, Live, Previous};
    let mut slot = Slot::default();
    for digest in ["a", "b", "c"] {
        slot.go_live(version(digest));
    }
    assert_eq!(
        outcomes(&slot),
        [("c", Live), ("b", Previous), ("a", Previous)]
    );
    assert_eq!(
        slot.go_back("faults").map(|it| it.digest).as_deref(),
        Some("b")
    );
    assert_eq!(outcomes(&slot), [("b", Live), ("c", Bad), ("a", Previous)]);
    slot.go_back("more faults");
    assert_eq!(slot.go_back("and more"), None);
    assert_eq!(slot.with(Live), None);
}

#[test]
fn a_version_that_comes_again_is_there_once() {
    let mut slot = Slot::default();
    slot.go_live(version("a"));
    slot.go_live(version("b"));
    slot.go_live(version("a"));
    assert_eq!(
        outcomes(&slot),
        [("a", Outcome::Live), ("b", Outcome::Previous)]
    );
    slot.wait(version("c"));
    slot.wait(version("d"));
    slot.refuse(version("e"), "why");
    assert_eq!(slot.versions.len(), 4);
}

#[test]
fn what_is_kept_is_bounded() {
    let mut slot = Slot::default();
    for number in 0..100 {
        slot.go_live(version(&format!("live {number}")));
        slot.refuse(version(&format!("refused {number}")), "why");
    }
    slot.prune(3);
    let count = |outcome| {
        slot.versions
            .iter()
            .filter(|it| it.outcome == outcome)
            .count()
    };
    assert_eq!(
        (count(Outcome::Previous), count(Outcome::Refused)),
        (3, REFUSED_KEPT_MAX)
    );
    let mut page = Page::default();
    for _ in 0..100 {
        page.note(Event {
            time_ms: 0,
            action: Action::Load,
            by: None,
            digest: String::new(),
            version: String::new(),
            outcome: String::new(),
        });
    }
    assert_eq!(page.history.len(), HISTORY_MAX);
}

#[test]
fn refusals_do_not_keep_good_names_out() {
    let mut book = Book::default();
    for number in 0..NAMES_MAX {
        let page = Page {
            is_disabled: number == 0,
            ..Page::default()
        };
        book.pages.insert(format!("refused-{number}"), page);
    }
    assert!(book.has_room_for("refused-1"), "it is there already");
    assert_eq!(book.pages.len(), NAMES_MAX);
    assert!(book.has_room_for("good"));
    assert_eq!(book.pages.len(), NAMES_MAX - 1);
    assert!(book.pages.contains_key("refused-0"), "somebody disabled it");
    for page in book.pages.values_mut() {
        page.slots
            .entry(Source::Upload)
            .or_default()
            .go_live(version("a"));
    }
    book.pages.insert(
        "good".to_owned(),
        Page {
            is_disabled: true,
            ..Page::default()
        },
    );
    assert!(!book.has_room_for("better"), "all are in use");
}
