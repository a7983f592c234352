use std::path::Path;

use super::*;

/// The time between two looks, which is also the time for which a state must stay the same.
const PAUSE: Duration = Duration::from_millis(500);

/// A file and the current time.
struct Watched {
    tracked: TrackedFile,
    now: Instant,
}

impl Watched {
    fn new() -> Self {
        let now = Instant::now();
        let tracked = TrackedFile::new(now);
        Self { tracked, now }
    }

    /// Looks at the file after one pause.
    fn see(&mut self, state: &FileState) -> &mut TrackedFile {
        self.now += PAUSE;
        self.tracked.see(state.clone(), self.now, PAUSE);
        &mut self.tracked
    }

    fn is_due(&self) -> bool {
        self.tracked.due_since(self.now).is_some()
    }
}

/// A real file on disk.
fn some_file() -> (tempfile::NamedTempFile, Stamp) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let stamp = Stamp::of(&file.as_file().metadata().unwrap());
    (file, stamp)
}

fn readable(stamp: Stamp) -> FileState {
    FileState::Readable(stamp, Path::new("a.wasm").to_owned())
}

fn rejected(kind: &'static str) -> Rejected {
    let (identity, reason) = (Some((1, 1)), Rejection::NotAFile(kind));
    Rejected { identity, reason }
}

const ONE: ContentHash = ContentHash(1);
const TWO: ContentHash = ContentHash(2);

#[test]
fn a_file_that_cannot_be_read_is_tried_again_after_longer_and_longer() {
    let (_file, stamp) = some_file();
    let state = readable(stamp);
    let mut watched = Watched::new();
    watched.see(&state);
    watched.see(&state);
    let failed = io::Error::from_raw_os_error(5);
    let mut waits = Vec::new();
    for round in 0..9 {
        assert!(watched.is_due());
        let now = watched.now;
        let told = watched.tracked.unread(stamp, &failed, now);
        assert_eq!(
            told.is_some(),
            round == 0,
            "the same error is reported once"
        );
        assert!(!watched.is_due());
        let at = watched.tracked.retry_at().unwrap();
        waits.push((at - now).as_millis());
        watched.now = at;
    }
    assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
    // Then the file can be read. The next failure starts with the shortest pause again.
    let now = watched.now;
    assert!(watched.tracked.read(ONE, now));
    assert_eq!(watched.tracked.retry_at(), None);
    watched.tracked.torn(now);
    watched.see(&state);
    watched.see(&state);
    let now = watched.now;
    watched.tracked.unread(stamp, &failed, now);
    assert_eq!(watched.tracked.retry_at(), Some(now + RETRY_FIRST));
}

#[test]
fn a_file_that_was_read_early_is_read_once_more() {
    // On a file system with a clock resolution of two seconds, a file can be overwritten after it
    // was read without a change of its stamp.
    let (_file, stamp) = some_file();
    let state = readable(stamp);
    let mut watched = Watched::new();
    watched.see(&state);
    assert!(!watched.is_due());
    watched.see(&state);
    assert!(watched.is_due());
    let now = watched.now;
    assert!(watched.tracked.read(ONE, now));
    let confirmed_at = now;
    while !watched.is_due() && watched.now < confirmed_at + SETTLED_AFTER * 2 {
        watched.see(&state);
    }
    assert_eq!(watched.now - confirmed_at, SETTLED_AFTER);
    let now = watched.now;
    assert!(watched.tracked.read(TWO, now));
    watched.now += SETTLED_AFTER;
    watched.see(&state);
    assert!(!watched.is_due());
}

#[test]
fn a_file_that_cannot_be_read_is_reported_once_and_tried_again() {
    let (_file, stamp) = some_file();
    let state = readable(stamp);
    let mut watched = Watched::new();
    watched.see(&state);
    watched.see(&state);
    let now = watched.now;
    assert!(watched.tracked.read(ONE, now));
    let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    let reason = watched.tracked.unread(stamp, &denied, watched.now).unwrap();
    assert_eq!(reason.to_string(), "it cannot be read: permission denied");
    for _ in 0..3 {
        watched.see(&state);
        let now = watched.now;
        assert_eq!(watched.tracked.unread(stamp, &denied, now), None);
        watched.now += RETRY_LAST;
        assert!(watched.is_due());
    }
    // The same content as before, but it must be reported, because the file was rejected in
    // between.
    let now = watched.now;
    assert!(watched.tracked.read(ONE, now));
    assert!(!watched.tracked.read(ONE, now));
}

#[test]
fn a_file_that_changes_during_reading_must_be_stable_again() {
    let (_file, stamp) = some_file();
    let state = readable(stamp);
    let mut watched = Watched::new();
    watched.see(&state);
    watched.see(&state);
    let now = watched.now;
    watched.tracked.torn(now);
    assert!(!watched.is_due() && !watched.tracked.is_confirmed());
    watched.see(&state);
    assert!(watched.is_due());
}

#[test]
fn a_rejection_is_reported_again_if_its_reason_changes() {
    let mut tracked = Watched::new().tracked;
    assert!(tracked.reject(rejected("a pipe")));
    assert!(!tracked.reject(rejected("a pipe")));
    assert!(tracked.reject(rejected("a folder")));
    let mut other = rejected("a folder");
    other.identity = Some((1, 2));
    assert!(tracked.reject(other));
}

#[test]
fn a_link_that_leads_nowhere_while_its_folder_changes_is_not_quiet() {
    let nowhere = |stamp| FileState::Rejected(rejected("a link to nowhere"), Some(stamp));
    let ((_one, first), (_other, second)) = (some_file(), some_file());
    let mut watched = Watched::new();
    for stamp in [first, second, first] {
        watched.see(&nowhere(stamp));
        assert!(!watched.is_due());
    }
    watched.see(&nowhere(first));
    assert!(watched.is_due());
}

#[test]
fn the_present_content_can_be_asked_for_again() {
    let (_file, stamp) = some_file();
    let state = readable(stamp);
    let mut watched = Watched::new();
    watched.tracked.report_again();
    assert!(!watched.tracked.was_reported());
    watched.see(&state);
    watched.see(&state);
    let now = watched.now + SETTLED_AFTER;
    assert!(watched.tracked.read(ONE, now));
    assert!(!watched.is_due());
    watched.tracked.report_again();
    assert!(watched.is_due() && watched.tracked.was_reported());
    assert!(watched.tracked.read(ONE, now));
    assert!(!watched.tracked.read(ONE, now));
}
