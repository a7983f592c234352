use tempfile::TempDir;

use super::*;

fn open(folder: &TempDir, bytes_max: u64) -> Spool {
    Spool::open(folder.path(), "agent-1".to_owned(), bytes_max).unwrap()
}

/// Number of files with frames.
fn files(folder: &TempDir) -> usize {
    let entries = fs::read_dir(folder.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.to_string_lossy().ends_with(FRAME_SUFFIX))
        .count()
}

#[tokio::test]
async fn frames_are_acknowledged_in_their_order() {
    let folder = TempDir::new().unwrap();
    let mut spool = open(&folder, 1000);
    for frame in [b"a", b"b", b"c"] {
        spool.push(frame.to_vec(), Instant::now()).unwrap();
    }
    assert_eq!(spool.read_first().unwrap().unwrap().0, b"a");
    assert!(spool.acknowledge(2));
    assert_eq!((spool.first(), spool.is_empty()), (2, false));
    assert_eq!(spool.read_first().unwrap().unwrap().0, b"c");
    // A repeated answer changes nothing; a number that was never sent is of another epoch.
    assert!(spool.acknowledge(2));
    assert!(!spool.acknowledge(1));
    assert!(!spool.acknowledge(4));
    assert!(spool.acknowledge(3) && spool.is_empty());
    assert!(spool.read_first().unwrap().is_none());
}

#[tokio::test]
async fn frames_beyond_the_memory_are_files_and_the_limit_is_kept() {
    let folder = TempDir::new().unwrap();
    let mut spool = open(&folder, 3 * MEMORY_BYTES_MAX as u64);
    let mut pushed = 0_u8;
    while !spool.is_full() {
        spool
            .push(vec![pushed; MEMORY_BYTES_MAX / 2], Instant::now())
            .unwrap();
        pushed += 1;
    }
    assert_eq!((pushed, files(&folder)), (6, 4));
    for frame in 0..pushed {
        let (bytes, _) = spool.read_first().unwrap().unwrap();
        assert_eq!(bytes, vec![frame; MEMORY_BYTES_MAX / 2]);
        assert!(spool.acknowledge(u64::from(frame) + 1));
    }
    assert_eq!((spool.is_full(), files(&folder)), (false, 0));
}

#[tokio::test]
async fn an_agent_keeps_its_name_and_its_epochs_grow_over_restarts() {
    let folder = TempDir::new().unwrap();
    let mut spool = open(&folder, 1000);
    spool.begin_epoch(1000).unwrap();
    assert_eq!(spool.epoch(), 1000);
    // The clock was set back.
    spool.begin_epoch(10).unwrap();
    spool.push(b"a".to_vec(), Instant::now()).unwrap();
    drop(spool);
    fs::write(folder.path().join("7.frame"), "of a killed process").unwrap();
    let mut spool = Spool::open(folder.path(), "agent-2".to_owned(), 1000).unwrap();
    assert_eq!((spool.agent(), spool.epoch()), ("agent-1", 1001));
    assert!(spool.is_empty() && files(&folder) == 0);
    spool.begin_epoch(10).unwrap();
    assert_eq!((spool.epoch(), spool.first()), (1002, 0));
}
