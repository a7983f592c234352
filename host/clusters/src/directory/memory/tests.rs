use std::fs;

use kindsight_model::decode_bundle;
use tempfile::TempDir;

use super::*;
use crate::directory::listing;

/// A folder, what is remembered of it, and a clock that is set by hand.
struct Fixture {
    folder: TempDir,
    memory: Memory,
    start: Instant,
}

impl Fixture {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            memory: Memory::new("p+c".parse().unwrap()),
            start: Instant::now(),
        }
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.folder.path().join(name), content).unwrap();
    }

    /// What is in the folder, as if it had been listed so many seconds after the start.
    fn list_at(&self, seconds: u64) -> Listing {
        let mut listing = listing::list(self.folder.path()).unwrap();
        listing.began = self.start + Duration::from_secs(seconds);
        listing.ended = listing.began;
        listing
    }

    /// Goes through a listing; `read` says what is in a file that has to be read.
    fn pass(&mut self, listing: &Listing, read: impl Fn(&str) -> Content) -> Vec<String> {
        let mut pass = self.memory.begin(listing);
        let mut log = Vec::new();
        for (file, stamp) in listing.files.iter().rev() {
            let name = file.file_name().unwrap().to_str().unwrap();
            let content = self.memory.must_read(&pass, file, *stamp).then(|| {
                log.push(format!("read {name}"));
                read(name)
            });
            log.extend(in_short(
                self.memory.learn(&mut pass, file, *stamp, content),
            ));
        }
        if pass.is_torn() {
            log.push("torn".to_owned());
        } else {
            log.extend(in_short(self.memory.finish(&pass, listing)));
        }
        log
    }
}

fn in_short(news: impl IntoIterator<Item = ClusterEvent>) -> Vec<String> {
    let in_short = |event| match event {
        ClusterEvent::Bundle { bundle, .. } => format!("bundle {}", bundle.deployment),
        ClusterEvent::Gone { deployment, .. } => format!("gone {deployment}"),
        ClusterEvent::Unreadable { error, .. } => error,
        other => format!("{other:?}"),
    };
    news.into_iter().map(in_short).collect()
}

fn good(deployment: &str, hash: u64) -> Content {
    let json = format!(
        r#"{{"metadata":{{"labels":{{"emco/deployment-id":"{deployment}"}}}},"status":{{}}}}"#
    );
    Content::Bundle(decode_bundle(json.as_bytes()).unwrap(), hash)
}

#[test]
fn a_file_is_read_until_its_stamp_can_be_trusted_and_then_when_it_changes() {
    let mut fixture = Fixture::new();
    fixture.write("a.json", "1");
    let read = |_: &str| good("7-a", 1);
    let (now, soon, later) = (fixture.list_at(0), fixture.list_at(2), fixture.list_at(5));
    assert_eq!(fixture.pass(&now, read), ["read a.json", "bundle 7-a"]);
    assert_eq!(fixture.pass(&soon, read), ["read a.json"]);
    assert_eq!(fixture.pass(&later, read), ["read a.json"]);
    assert!(fixture.pass(&later, read).is_empty());
    fixture.write("a.json", "22");
    let changed = fixture.list_at(6);
    let read = |_: &str| good("7-a", 2);
    assert_eq!(fixture.pass(&changed, read), ["read a.json", "bundle 7-a"]);
}

#[test]
fn a_trusted_file_is_read_again_when_it_has_to_speak_for_another() {
    let mut fixture = Fixture::new();
    fixture.write("a.json", "1");
    fixture.write("b.json", "2");
    let read = |name: &str| good("7-x", if name == "a.json" { 1 } else { 2 });
    for seconds in [0, 5] {
        let listing = fixture.list_at(seconds);
        fixture.pass(&listing, read);
    }
    let listing = fixture.list_at(6);
    assert!(fixture.pass(&listing, read).is_empty());
    fs::remove_file(fixture.folder.path().join("b.json")).unwrap();
    let listing = fixture.list_at(7);
    assert_eq!(fixture.pass(&listing, read), ["read a.json", "bundle 7-x"]);
}

#[test]
fn a_file_that_vanishes_while_the_folder_is_read_is_not_gone_yet() {
    let mut fixture = Fixture::new();
    fixture.write("a.json", "1");
    let listing = fixture.list_at(0);
    fixture.pass(&listing, |_| good("7-a", 1));
    let log = fixture.pass(&listing, |_| Content::Absent);
    assert_eq!(log, ["read a.json", "torn"]);
    fs::remove_file(fixture.folder.path().join("a.json")).unwrap();
    let listing = fixture.list_at(1);
    let log = fixture.pass(&listing, |_| Content::Absent);
    assert_eq!(log, ["gone 7-a"]);
}

#[test]
fn files_over_the_limit_are_said_once_for_each_number() {
    let mut fixture = Fixture::new();
    let mut listing = fixture.list_at(0);
    let read = |_: &str| Content::Absent;
    listing.over = Some((2, "z.json".into()));
    let said = "from this one on, 2 files are over the limit of 10000 files in a folder";
    assert_eq!(fixture.pass(&listing, read), [said]);
    assert!(fixture.pass(&listing, read).is_empty());
    listing.over = None;
    assert!(fixture.pass(&listing, read).is_empty());
}
