use super::*;

/// Maximum size of one stored entry, in bytes, a little below etcd's limit for a request, 1.5 MiB.
///
/// A reason contains no control characters, so JSON at most doubles it, to 4 KiB. A version or an
/// event has about 500 other bytes. An entry contains settings of at most 64 KiB and 50 events (230
/// KiB). For each of the five sources besides the binary, it contains 1 live version, 1 candidate,
/// 40 versions for a rollback and 5 refused ones: 235 versions, 1,058 KiB. Of the binaries of all
/// hosts, it contains at most 6 versions, 27 KiB. The total is 1,379 KiB.
const ENTRY_BYTES_MAX: usize = 1400 * 1024;

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
        manifest: None,
        shadow_faults: 0,
        unavailable: None,
    }
}

/// The letter from which a digest was made.
fn letter(of: &Digest) -> String {
    let letters = 'a'..='z';
    let mut letters = letters.map(String::from);
    letters
        .find(|letter| digest(letter) == *of)
        .expect("a letter")
}

fn outcomes(source: &SourceVersions) -> Vec<(String, VersionOutcome)> {
    let versions = source.versions.iter();
    versions
        .map(|version| (letter(&version.digest), version.outcome))
        .collect()
}

#[test]
fn one_version_is_live_and_previous_ones_allow_a_rollback() {
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
fn a_version_that_is_loaded_again_is_listed_once() {
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
fn the_number_of_kept_versions_is_limited() {
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
            .filter(|version| version.outcome == outcome)
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
fn refusals_drive_no_change_out_of_a_history() {
    let mut entry = Entry::default();
    let event = |action, time_ms| Event {
        time_ms,
        action,
        by: None,
        digest: None,
        version: String::new(),
        outcome: String::new(),
    };
    for number in 0..10 {
        entry.record(event(CatalogAction::Load, number));
        for _ in 0..50 {
            entry.record(event(CatalogAction::Refuse, number));
        }
    }
    let count = |action| {
        entry
            .history
            .iter()
            .filter(|event| event.action == action)
            .count()
    };
    assert_eq!(count(CatalogAction::Load), 10);
    assert_eq!(count(CatalogAction::Refuse), REFUSED_KEPT_MAX);
    assert_eq!(entry.history.back().map(|event| event.time_ms), Some(9));
}

#[test]
fn unused_names_do_not_block_new_names() {
    let mut state = CatalogState::default();
    for number in 0..NAMES_MAX {
        let entry = state.edit_or_new(&name(&format!("left-{number}")));
        entry.is_disabled = number == 0;
        let versions = entry.sources.entry(Source::Upload).or_default();
        versions.go_live(version("a"));
        versions.empty();
    }
    assert!(state.make_space_for(&name("left-1")), "it exists already");
    assert_eq!(state.entries.len(), NAMES_MAX);
    assert!(state.make_space_for(&name("good")));
    assert_eq!(state.entries.len(), NAMES_MAX - 1);
    assert!(
        state.entries.contains_key(&name("left-0")),
        "somebody disabled it"
    );
    for (_, entry) in state.edit_all() {
        let versions = entry.sources.entry(Source::Upload).or_default();
        versions.go_live(version("a"));
    }
    state.edit_or_new(&name("good")).is_disabled = true;
    assert!(
        !state.make_space_for(&name("better")),
        "all names are in use"
    );
}

#[test]
fn names_that_were_only_ever_refused_are_forgotten() {
    let mut state = CatalogState::default();
    for (number, letter) in ["a", "b", "c"].into_iter().enumerate() {
        let entry = state.edit_or_new(&name(letter));
        entry.is_disabled = number == 0;
        let versions = entry.sources.entry(Source::Upload).or_default();
        versions.refuse(version("x"), "junk");
    }
    let known = state.edit_or_new(&name("c"));
    let versions = known.sources.entry(Source::BuiltIn).or_default();
    versions.go_live(version("y"));
    state.forget_refused();
    let names: Vec<String> = state.entries.keys().map(ToString::to_string).collect();
    assert_eq!(names, ["c"]);
}

#[test]
fn the_previous_version_replaces_a_version_that_cannot_be_loaded() {
    use VersionOutcome::{Live, Previous, RolledBack};
    let mut entry = Entry::default();
    let built_in = entry.sources.entry(Source::BuiltIn).or_default();
    built_in.go_live(version("z"));
    let source = entry.sources.entry(Source::Upload).or_default();
    for digest in ["a", "b", "c"] {
        source.go_live(version(digest));
    }
    source.set_unavailable(&digest("c"), Some(&"too large".into()));
    assert_eq!(
        entry
            .effective()
            .map(|(_, version)| letter(&version.digest))
            .as_deref(),
        Some("b")
    );
    assert_eq!(entry.unavailable().count(), 1);
    let source = entry.sources.entry(Source::Upload).or_default();
    let now = source
        .roll_back("faults")
        .map(|version| letter(&version.digest));
    assert_eq!(now.as_deref(), Some("a"));
    assert_eq!(
        outcomes(source),
        [
            ("c".into(), Live),
            ("b".into(), RolledBack),
            ("a".into(), Previous)
        ]
    );
    source.set_unavailable(&digest("a"), Some(&"too large".into()));
    assert_eq!(
        entry.effective().map(|(from, _)| from),
        Some(Source::BuiltIn)
    );
}

#[test]
fn a_rollback_leaves_out_versions_that_this_host_cannot_use() {
    use VersionOutcome::{Live, Previous, RolledBack};
    let mut source = SourceVersions::default();
    for digest in ["a", "b", "c"] {
        source.go_live(version(digest));
    }
    source.set_unavailable(&digest("b"), Some(&"not signed".into()));
    let now = source.roll_back("faults").map(|it| it.digest);
    assert_eq!(now, Some(digest("a")));
    assert_eq!(
        outcomes(&source),
        [
            ("a".into(), Live),
            ("c".into(), RolledBack),
            ("b".into(), Previous)
        ]
    );
    assert_eq!(source.roll_back("more faults"), None);
}

/// With all parts at their limits, an entry is still a value that etcd accepts.
#[test]
fn the_largest_entry_fits_into_a_store() {
    let worst = "\"\u{0}".repeat(REASON_BYTES_MAX);
    let mut entry = Entry {
        settings: serde_json::from_str(&format!(r#"{{"a": "{}"}}"#, "x".repeat(65_000))).ok(),
        ..Entry::default()
    };
    let bulky = |number: usize| Version {
        version: "v".repeat(64),
        received_ms: i64::MIN,
        manifest: Some(digest("a")),
        ..version(&number.to_string())
    };
    let filled = Source::ALL.iter().copied();
    for source in filled.filter(|source| *source != Source::BuiltIn) {
        let versions = entry.sources.entry(source).or_default();
        versions.file = Some("\"".repeat(255));
        for number in 0..1000 {
            versions.go_live(bulky(number));
            versions.step_down(VersionOutcome::RolledBack, &worst);
            versions.refuse(bulky(10_000 + number), &worst);
        }
        versions.go_live(bulky(2000));
        versions.wait(bulky(2001));
        versions.prune(usize::MAX);
    }
    let built_in = entry.sources.entry(Source::BuiltIn).or_default();
    for number in 0..6 {
        built_in.go_live(bulky(number));
        built_in.step_down(VersionOutcome::RolledBack, &worst);
    }
    for _ in 0..1000 {
        entry.record(Event {
            time_ms: i64::MIN,
            action: CatalogAction::Settings,
            by: Some(Source::Directory),
            digest: Some(digest("a")),
            version: "v".repeat(64),
            outcome: clip(&worst),
        });
    }
    let bytes = write_entry(&entry).expect("JSON").len();
    assert!(bytes > ENTRY_BYTES_MAX / 2, "{bytes} bytes");
    assert!(bytes <= ENTRY_BYTES_MAX, "{bytes} bytes");
}
