use super::super::POLL;
use super::*;

/// A file at a time.
struct Watched {
    known: Known,
    now: Instant,
}

impl Watched {
    fn new() -> Self {
        Self {
            known: Known::default(),
            now: Instant::now(),
        }
    }

    /// Sees it at the next look.
    fn see(&mut self, sight: &Sight) -> &mut Known {
        self.now += POLL;
        self.known.see(sight.clone(), self.now);
        &mut self.known
    }

    fn is_due(&self) -> bool {
        self.known.due_since(self.now).is_some()
    }
}

/// A file as it is on the disk.
fn some_file() -> (tempfile::NamedTempFile, Stamp) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let stamp = Stamp::of(&file.as_file().metadata().unwrap());
    (file, stamp)
}

fn unfit(why: &str) -> Unfit {
    let (identity, why) = (Some((1, 1)), why.to_owned());
    Unfit { identity, why }
}

#[test]
fn what_was_read_early_is_read_once_more() {
    // On a file system that tells the time in steps of two seconds, a file can be overwritten after
    // it was read without getting another stamp.
    let (_file, stamp) = some_file();
    let sight = Sight::File(stamp, PathBuf::from("a.wasm"));
    let mut watched = Watched::new();
    watched.see(&sight);
    assert!(!watched.is_due());
    watched.see(&sight);
    assert!(watched.is_due());
    let now = watched.now;
    assert_eq!(watched.known.take(b"one", now), Some(Digest::of(b"one")));
    let quiet_since = now;
    while !watched.is_due() && watched.now < quiet_since + SETTLED_AFTER * 2 {
        watched.see(&sight);
    }
    assert_eq!(watched.now - quiet_since, SETTLED_AFTER);
    let now = watched.now;
    assert_eq!(watched.known.take(b"two", now), Some(Digest::of(b"two")));
    watched.now += SETTLED_AFTER;
    watched.see(&sight);
    assert!(!watched.is_due());
}

#[test]
fn what_cannot_be_read_is_told_once_and_tried_again() {
    let (_file, stamp) = some_file();
    let sight = Sight::File(stamp, PathBuf::from("a.wasm"));
    let mut watched = Watched::new();
    watched.see(&sight);
    watched.see(&sight);
    let now = watched.now;
    assert!(watched.known.take(b"one", now).is_some());
    let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    let why = "it cannot be read: permission denied".to_owned();
    assert_eq!(watched.known.unread(stamp, &denied), Some(why));
    for _ in 0..3 {
        let known = watched.see(&sight);
        assert_eq!(known.unread(stamp, &denied), None);
        assert!(watched.is_due());
    }
    // The same bytes as before, and yet news: it was refused meanwhile.
    let now = watched.now;
    assert!(watched.known.take(b"one", now).is_some());
    assert!(watched.known.take(b"one", now).is_none());
}

#[test]
fn a_refusal_is_told_again_when_it_is_another_one() {
    let mut known = Known::default();
    assert_eq!(known.refuse(unfit("a pipe")), Some("a pipe".to_owned()));
    assert_eq!(known.refuse(unfit("a pipe")), None);
    assert!(known.refuse(unfit("a folder")).is_some());
    let mut other = unfit("a folder");
    other.identity = Some((1, 2));
    assert!(known.refuse(other).is_some());
}

#[test]
fn a_link_that_leads_nowhere_while_its_folder_changes_is_not_quiet() {
    let nowhere = |stamp| Sight::Unfit(unfit("a link to nowhere"), Some(stamp));
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
fn what_stood_in_the_way_of_a_file_can_go() {
    let (_file, stamp) = some_file();
    let sight = Sight::File(stamp, PathBuf::from("a.wasm"));
    let mut watched = Watched::new();
    watched.known.tell_again();
    assert!(!watched.known.was_told());
    watched.see(&sight);
    watched.see(&sight);
    let now = watched.now + SETTLED_AFTER;
    assert!(watched.known.take(b"one", now).is_some());
    assert!(!watched.is_due());
    watched.known.tell_again();
    assert!(watched.is_due() && watched.known.was_told());
    assert!(watched.known.take(b"one", now).is_some());
    assert!(watched.known.take(b"one", now).is_none());
}
