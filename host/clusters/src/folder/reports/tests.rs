use std::fs;
use std::time::{Duration, Instant};

use kindsight_folder::{Change, Folder, FolderOptions};
use kindsight_model::{Subject, decode_bundle};
use tempfile::TempDir;

use super::*;

/// A folder, its reports, and a clock that is set by hand.
struct Fixture {
    place: TempDir,
    folder: Folder,
    reports: Reports,
    /// The last reported faults.
    faults: Vec<String>,
    now: Instant,
}

impl Fixture {
    fn new() -> Self {
        Self::with_files_max(100)
    }

    fn with_files_max(files_max: usize) -> Self {
        let place = tempfile::tempdir().unwrap();
        let options = FolderOptions {
            accepts: |name| !name.starts_with('.'),
            files_max,
            file_bytes_max: 1000,
            look_bytes_max: 100_000,
            quiet_for: Duration::ZERO,
        };
        let path = place.path().to_owned();
        Self {
            folder: Folder::new(&path, options),
            reports: Reports::new("p+c".parse().unwrap()),
            faults: Vec::new(),
            place,
            now: Instant::now(),
        }
    }

    /// Writes a report on a deployment.
    fn write(&self, file: &str, deployment: &str, text: &str) {
        let json = format!(
            r#"{{"metadata":{{"labels":{{"emco/deployment-id":"{deployment}"}}}},"status":{{"text":"{text}"}}}}"#
        );
        self.put(file, &json);
    }

    fn put(&self, file: &str, content: &str) {
        fs::write(self.place.path().join(file), content).unwrap();
    }

    fn remove(&self, file: &str) {
        fs::remove_file(self.place.path().join(file)).unwrap();
    }

    /// The events of two looks a minute later, in short, with each read of a file.
    fn look(&mut self) -> Vec<String> {
        let mut log = Vec::new();
        for _ in 0..2 {
            self.now += Duration::from_mins(1);
            for change in self.folder.look(self.now) {
                self.take(change, &mut log);
            }
            let settled = self.reports.settle();
            for event in settled.events {
                match event {
                    ClusterEvent::Faults { faults, .. } => self.faults = faults,
                    event => log.push(in_short(event)),
                }
            }
            for file in settled.to_reread {
                self.folder.report_again(&file);
            }
        }
        log
    }

    fn take(&mut self, change: Change, log: &mut Vec<String>) {
        let event = match change {
            Change::Changed { file, bytes, hash } => {
                log.push(format!("read {file}"));
                match decode_bundle(&bytes) {
                    Ok(bundle) => self.reports.accept(&file, bundle, hash),
                    Err(_) => self
                        .reports
                        .reject(&file, format!("{file} bad"), Some(hash)),
                }
            }
            Change::Removed { file } => {
                self.reports.remove(&file);
                None
            }
            Change::LeftOut(entries) => self.reports.left_out(&entries),
            _ => None,
        };
        log.extend(event.map(in_short));
    }
}

fn in_short(event: ClusterEvent) -> String {
    match event {
        ClusterEvent::Reports { reports, .. } => match &*reports {
            [(Subject::Deployment(deployment), _)] => format!("bundle {deployment}"),
            _ => format!("{reports:?}"),
        },
        ClusterEvent::Gone { deployment, .. } => format!("gone {deployment}"),
        ClusterEvent::Unreadable { error, .. } => error,
        other => format!("{other:?}"),
    }
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_file_is_read_again_when_it_counts_in_place_of_another() {
    let mut fixture = Fixture::new();
    fixture.write("a.json", "7-x", "one");
    fixture.write("b.json", "7-x", "two");
    let shadowed = "`b.json` is about the same deployment 7-x and is used instead";
    let begin = [
        "read a.json",
        "bundle 7-x",
        "read b.json",
        "bundle 7-x",
        shadowed,
    ];
    assert_eq!(fixture.look(), begin);
    assert_eq!(fixture.look(), NOTHING);
    fixture.remove("b.json");
    assert_eq!(fixture.look(), NOTHING);
    assert_eq!(fixture.look(), ["read a.json", "bundle 7-x"]);
    fixture.remove("a.json");
    assert_eq!(fixture.look(), ["gone 7-x"]);
}

#[test]
fn a_report_is_repeated_when_a_second_file_about_it_is_gone() {
    // Receivers of the events show a fault for this report.
    let mut fixture = Fixture::new();
    fixture.write("a.json", "7-x", "one");
    assert_eq!(fixture.look(), ["read a.json", "bundle 7-x"]);
    for (file, counting) in [("b.json", "b.json"), ("0.json", "a.json")] {
        fixture.write(file, "7-x", "one");
        let read = format!("read {file}");
        let shadowed = format!("`{counting}` is about the same deployment 7-x and is used instead");
        assert_eq!(fixture.look(), [read, shadowed]);
        assert_eq!(fixture.look(), NOTHING);
        fixture.remove(file);
        assert_eq!(fixture.look(), NOTHING);
        assert_eq!(fixture.look(), ["read a.json", "bundle 7-x"]);
        assert_eq!(fixture.look(), NOTHING);
    }
}

#[test]
fn an_unreadable_report_has_the_deployment_of_its_last_content_or_of_its_name() {
    let mut fixture = Fixture::new();
    fixture.write("7-x.json", "7-y", "one");
    fixture.look();
    let about = |event: Option<ClusterEvent>| match event {
        Some(ClusterEvent::Unreadable {
            deployment, origin, ..
        }) => (deployment.map(|deployment| deployment.to_string()), origin),
        other => panic!("{other:?}"),
    };
    let reports = &mut fixture.reports;
    for (file, expected) in [
        ("7-x.json", Some("7-y")),
        ("8-z.json", Some("8-z")),
        ("other.json", None),
    ] {
        let (deployment, origin) = about(reports.reject(file, "bad".to_owned(), None));
        assert_eq!(deployment.as_deref(), expected);
        assert_eq!(origin, file, "no path of this host");
    }
    assert!(reports.reject("8-z.json", "bad".to_owned(), None).is_none());
}

#[test]
fn a_report_is_repeated_when_a_bad_file_that_was_named_for_it_is_gone() {
    let mut fixture = Fixture::new();
    fixture.write("a.json", "7-x", "one");
    fixture.put("7-x.json", "{");
    let begin = [
        "read 7-x.json",
        "7-x.json bad",
        "read a.json",
        "bundle 7-x",
        "7-x.json bad",
    ];
    assert_eq!(fixture.look(), begin);
    // The file is about another deployment.
    fixture.write("7-x.json", "7-y", "one");
    assert_eq!(fixture.look(), ["read 7-x.json", "bundle 7-y"]);
    assert_eq!(fixture.look(), ["read a.json", "bundle 7-x"]);
    fixture.put("7-a.json", "{");
    assert_eq!(fixture.look(), ["read 7-a.json", "7-a.json bad"]);
    fixture.remove("7-a.json");
    assert_eq!(fixture.look(), NOTHING);
    assert_eq!(fixture.look(), NOTHING);
}

#[test]
fn each_unused_file_of_three_about_one_deployment_is_reported_once() {
    let mut fixture = Fixture::new();
    for file in ["a.json", "b.json", "c.json"] {
        fixture.write(file, "7-x", file);
    }
    let unread = |log: Vec<String>| -> Vec<String> {
        let news = log.into_iter().filter(|line| !line.starts_with("read "));
        news.filter(|line| !line.starts_with("bundle ")).collect()
    };
    let by_c = "`c.json` is about the same deployment 7-x and is used instead";
    assert_eq!(unread(fixture.look()), [by_c, by_c]);
    fixture.remove("c.json");
    let by_b = "`b.json` is about the same deployment 7-x and is used instead";
    assert_eq!(unread(fixture.look()), [by_b]);
    assert_eq!(unread(fixture.look()), NOTHING);
}

#[test]
fn a_bad_file_keeps_its_deployment_until_it_is_gone() {
    let mut fixture = Fixture::new();
    fixture.write("a.json", "7-x", "one");
    assert_eq!(fixture.look(), ["read a.json", "bundle 7-x"]);
    fixture.put("a.json", "{");
    assert_eq!(fixture.look(), ["read a.json", "a.json bad"]);
    fixture.write("a.json", "7-x", "one");
    assert_eq!(fixture.look(), ["read a.json", "bundle 7-x"]);
    fixture.put("a.json", "{");
    assert_eq!(fixture.look(), ["read a.json", "a.json bad"]);
    fixture.remove("a.json");
    assert_eq!(fixture.look(), ["gone 7-x"]);
}

#[test]
fn files_over_the_limit_are_reported_once_for_each_number() {
    let mut fixture = Fixture::with_files_max(1);
    for file in ["a.json", "b.json", "c.json"] {
        fixture.write(file, &format!("7-{}", &file[..1]), "one");
    }
    let over = "some files are not read: over the limit of 1 files: 2, from `b.json` on";
    assert_eq!(fixture.look(), [over, "read a.json", "bundle 7-a"]);
    assert_eq!(fixture.look(), NOTHING);
    fixture.remove("b.json");
    fixture.remove("c.json");
    assert_eq!(fixture.look(), NOTHING);
}

#[test]
fn faults_without_a_known_deployment_are_reported_until_they_are_resolved() {
    let mut fixture = Fixture::with_files_max(3);
    fixture.write("a.json", "7-x", "one");
    fixture.put("junk.json", "{");
    fixture.look();
    assert_eq!(fixture.faults, ["report `junk.json`: junk.json bad"]);
    // A bad file with a known deployment is a fault of that deployment only.
    fixture.put("a.json", "{");
    assert_eq!(fixture.look(), ["read a.json", "a.json bad"]);
    assert_eq!(fixture.faults, ["report `junk.json`: junk.json bad"]);
    for file in ["b.json", "c.json"] {
        fixture.write(file, "7-y", "one");
    }
    fixture.look();
    fixture.look();
    let over = "some files are not read: over the limit of 3 files: 1, from `junk.json` on";
    assert_eq!(fixture.faults, [over]);
    fixture.remove("b.json");
    fixture.look();
    fixture.look();
    assert_eq!(fixture.faults, ["report `junk.json`: junk.json bad"]);
    fixture.write("junk.json", "7-z", "one");
    fixture.look();
    assert_eq!(fixture.faults, NOTHING);
}

#[test]
fn a_report_that_is_given_another_name_and_overwritten_is_gone_with_a_fault() {
    let mut fixture = Fixture::new();
    fixture.write("a.json", "7-x", "one");
    fixture.look();
    fixture.remove("a.json");
    fixture.put("b.json", "{");
    assert_eq!(fixture.look(), ["read b.json", "b.json bad", "gone 7-x"]);
    assert_eq!(fixture.faults, ["report `b.json`: b.json bad"]);
}

#[test]
fn a_bad_file_is_reported_again_after_another_report_on_its_deployment() {
    let mut fixture = Fixture::new();
    fixture.write("a.json", "7-x", "one");
    fixture.put("7-x.json", "{");
    fixture.look();
    fixture.write("a.json", "7-x", "two");
    assert_eq!(
        fixture.look(),
        ["read a.json", "bundle 7-x", "7-x.json bad"]
    );
}

#[test]
fn many_faults_are_counted() {
    let mut fixture = Fixture::new();
    for number in 10..10 + FAULTS_MAX + 3 {
        fixture.put(&format!("{number}.json"), "{");
    }
    fixture.look();
    assert_eq!(fixture.faults.len(), FAULTS_MAX + 1);
    let last = fixture.faults.last().unwrap();
    assert_eq!(last, "and 3 more reports that cannot be read");
}

#[test]
fn a_file_may_be_newer_if_it_would_be_used_when_it_could_be_read() {
    let mut fixture = Fixture::new();
    for (file, text) in [("a.json", "one"), ("b.json", "two")] {
        fixture.write(file, "7-x", text);
    }
    fixture.look();
    let reports = &mut fixture.reports;
    let mut may_be_newer = |file: &str| match reports.reject(file, "bad".to_owned(), None) {
        Some(ClusterEvent::Unreadable { may_be_newer, .. }) => may_be_newer,
        other => panic!("{other:?}"),
    };
    assert!(
        may_be_newer("b.json"),
        "the file is used for the deployment"
    );
    assert!(!may_be_newer("a.json"));
    assert!(!may_be_newer("7-x.json"), "other files have later names");
    assert!(may_be_newer("7-y.json"), "it is the only one");
}
