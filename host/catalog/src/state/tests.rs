use super::*;

fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

fn name(text: &str) -> InterpreterName {
    text.parse().expect("a name")
}

fn version(digest: &str) -> Version {
    Version {
        digest: self::digest(digest),
        version: "1".to_owned(),
        outcome: VersionOutcome::Candidate,
        why: String::new(),
        received_ms: 0,
    }
}

/// The letter that a digest was made of.
fn letter(of: &Digest) -> String {
    let letters = 'a'..='z';
    let mut letters = letters.map(String::from);
    letters.find(|it| digest(it) == *of).expect("a letter")
}

fn outcomes(source: &SourceVersions) -> Vec<(String, VersionOutcome)> {
    let versions = source.versions.iter();
    versions
        .map(|it| (letter(&it.digest), it.outcome))
        .collect()
}

#[test]
fn one_is_live_and_what_was_can_be_rolled_back_to() {
    use VersionOutcome::{Live, Previous, RolledBack};
    let mut source = SourceVersions::default();
    for digest in ["a", "b", "c"] {
        source.go_live(version(digest));
    }
    assert_eq!(
        outcomes(&source),
        [
            ("c".into(), Live),
            ("b".into(), Previous),
            ("a".into(), Previous)
        ]
    );
    assert_eq!(
        source.roll_back("faults").map(|it| it.digest),
        Some(digest("b"))
    );
    assert_eq!(
        outcomes(&source),
        [
            ("b".into(), Live),
            ("c".into(), RolledBack),
            ("a".into(), Previous)
        ]
    );
    source.roll_back("more faults");
    assert_eq!(source.roll_back("and more"), None);
    assert_eq!(source.with(Live), None);
}

#[test]
fn a_version_that_comes_again_is_there_once() {
    let mut source = SourceVersions::default();
    source.go_live(version("a"));
    source.go_live(version("b"));
    source.go_live(version("a"));
    assert_eq!(
        outcomes(&source),
        [
            ("a".into(), VersionOutcome::Live),
            ("b".into(), VersionOutcome::Previous)
        ]
    );
    source.wait(version("c"));
    source.wait(version("d"));
    source.refuse(version("e"), "why");
    assert_eq!(source.versions.len(), 4);
}

#[test]
fn what_is_kept_is_bounded() {
    let mut source = SourceVersions::default();
    for number in 0..100 {
        source.go_live(version(&format!("live {number}")));
        source.refuse(version(&format!("refused {number}")), "why");
    }
    source.prune(3);
    let count = |outcome| {
        source
            .versions
            .iter()
            .filter(|it| it.outcome == outcome)
            .count()
    };
    assert_eq!(
        (
            count(VersionOutcome::Previous),
            count(VersionOutcome::Refused)
        ),
        (3, REFUSED_KEPT_MAX)
    );
    let mut entry = Entry::default();
    for _ in 0..100 {
        entry.record(Event {
            time_ms: 0,
            action: CatalogAction::Load,
            by: None,
            digest: None,
            version: String::new(),
            outcome: String::new(),
        });
    }
    assert_eq!(entry.history.len(), HISTORY_MAX);
}

#[test]
fn refusals_do_not_keep_good_names_out() {
    let mut state = CatalogState::default();
    for number in 0..NAMES_MAX {
        let entry = Entry {
            is_disabled: number == 0,
            ..Entry::default()
        };
        state
            .entries
            .insert(name(&format!("refused-{number}")), entry);
    }
    assert!(
        state.make_space_for(&name("refused-1")),
        "it is there already"
    );
    assert_eq!(state.entries.len(), NAMES_MAX);
    assert!(state.make_space_for(&name("good")));
    assert_eq!(state.entries.len(), NAMES_MAX - 1);
    assert!(
        state.entries.contains_key(&name("refused-0")),
        "somebody disabled it"
    );
    for entry in state.entries.values_mut() {
        entry
            .sources
            .entry(Source::Upload)
            .or_default()
            .go_live(version("a"));
    }
    state.entries.insert(
        name("good"),
        Entry {
            is_disabled: true,
            ..Entry::default()
        },
    );
    assert!(!state.make_space_for(&name("better")), "all are in use");
}
