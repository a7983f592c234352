use std::path::Path;

use tempfile::TempDir;

use super::*;

/// A server with a configuration file, and the files that it follows.
struct Stage {
    folder: TempDir,
    files: FollowedFiles,
}

impl Stage {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder);
        std::fs::write(&file, "calls-max = 7\n").unwrap();
        let Command::Serve(args) = config_file::read(arguments(&file)).unwrap().command else {
            panic!("another command");
        };
        Self {
            files: FollowedFiles::at_start(&args),
            folder,
        }
    }

    fn write(&self, content: &str) {
        std::fs::write(file(&self.folder), content).unwrap();
    }

    fn poll(&mut self) -> Option<anyhow::Result<Configuration>> {
        let file = file(&self.folder);
        self.files.changed(|| arguments(&file))
    }
}

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("kindsight.toml")
}

fn arguments(file: &Path) -> Vec<OsString> {
    let config = format!("--config={}", file.display());
    let arguments = ["kindsight", "serve", &config];
    arguments.into_iter().map(OsString::from).collect()
}

#[test]
fn a_file_that_is_invalid_at_the_first_read_is_read_after_its_next_change() {
    let mut stage = Stage::start();
    stage.write("[[clus");
    assert!(stage.poll().is_none(), "the writer may not have finished");
    assert!(stage.poll().unwrap().is_err());
    assert!(stage.poll().is_none(), "the error is reported once");
    stage.write("cluster = [\"p+a=x\"]\n");
    assert!(stage.poll().is_none(), "the writer may not have finished");
    let configuration = stage.poll().unwrap().unwrap();
    assert_eq!(configuration.clusters.len(), 1);
    assert!(stage.poll().is_none(), "nothing changed");
}

#[test]
fn files_that_do_not_change_are_read_once_after_the_start() {
    let mut stage = Stage::start();
    let configuration = stage.poll().unwrap().unwrap();
    assert!(configuration.clusters.is_empty());
    assert!(stage.poll().is_none());
    stage.write("calls-max = 70\n");
    assert!(stage.poll().is_none(), "the writer may not have finished");
    assert!(stage.poll().unwrap().is_ok());
}

#[test]
fn a_setting_that_changes_before_the_first_read_needs_a_restart() {
    let mut stage = Stage::start();
    stage.write("calls-max = 70\ncluster = [\"p+a=x\"]\n");
    assert!(stage.poll().is_none(), "the writer may not have finished");
    let others = stage.poll().unwrap().unwrap().others;
    let changed = stage.files.replace_others(&others);
    assert_eq!(changed, BTreeSet::from(["calls-max".to_owned()]));
    assert!(stage.files.replace_others(&others).is_empty());
}
