//! Files whose creation did not finish.

use std::sync::atomic::AtomicUsize;

use redb::backends::FileBackend;

use super::*;

/// The maximum number of writes that the creation of a store may need.
const WRITES_MAX: usize = 1000;
/// The length of a file whose creation did not finish.
const UNFINISHED: usize = 2 * 1024 * 1024;

/// A file on a disk that is full after some writes.
#[derive(Debug, Clone)]
struct FillingDisk {
    file: Arc<FileBackend>,
    writes_left: Arc<AtomicUsize>,
}

impl FillingDisk {
    fn new(path: &Path, writes: usize) -> Self {
        let mut options = File::options();
        let options = options.read(true).write(true).create_new(true);
        let file = options.open(path).unwrap();
        Self {
            file: Arc::new(FileBackend::new(file).unwrap()),
            writes_left: Arc::new(AtomicUsize::new(writes)),
        }
    }

    /// Creates a store.
    fn store(&self) -> Result<RedbStore> {
        let disk = self.clone();
        let open = move || build(disk.clone()).map_err(|error| failed(error.into()));
        let store = RedbStore::open_with(open)?;
        format::establish(&store)?;
        Ok(store)
    }

    fn is_full(&self) -> bool {
        self.writes_left.load(Ordering::SeqCst) == 0
    }
}

impl StorageBackend for FillingDisk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if self.is_full() {
            return Err(ErrorKind::StorageFull.into());
        }
        self.writes_left.fetch_sub(1, Ordering::SeqCst);
        self.file.write(offset, data)
    }
}

#[test]
fn a_creation_that_ended_after_any_write_is_repeated_at_the_next_start() {
    for writes in 0..WRITES_MAX {
        let (_folder, path) = folder();
        let disk = FillingDisk::new(&path, writes);
        let created = disk.store();
        let is_created = created.is_ok();
        drop((created, disk));
        let store = RedbStore::open(&path).unwrap();
        put(&store, "/t/a/", "x").unwrap();
        assert_eq!(
            store.keys("/").unwrap().keys,
            ["/kindsight/format/", "/t/a/"]
        );
        if is_created {
            return;
        }
    }
    panic!("the store was not created with {WRITES_MAX} writes");
}

#[test]
fn a_file_with_data_is_not_emptied() {
    let (_folder, path) = folder();
    let store = RedbStore::open(&path).unwrap();
    put(&store, "/t/a/", &"acknowledged ".repeat(10_000)).unwrap();
    drop(store);
    let mut damaged = std::fs::read(&path).unwrap();
    damaged[..4096].fill(0);
    let mut foreign = vec![0; UNFINISHED];
    foreign[UNFINISHED - 1] = 1;
    let short = [&[0_u8; 9][..], b"somebody's notes"].concat();
    for content in [damaged, foreign, short] {
        std::fs::write(&path, &content).unwrap();
        assert!(matches!(refusal(&path), Error::ForeignStore { .. }));
        assert!(std::fs::read(&path).unwrap() == content, "it was changed");
    }
}

#[test]
fn a_file_that_another_process_creates_is_not_emptied() {
    let (_folder, path) = folder();
    let store = RedbStore::open(&path).unwrap();
    let other = File::open(&path).unwrap();
    assert!(other.try_lock().is_err(), "redb has the lock of its file");
    drop((store, other));
    let creating = File::create(&path).unwrap();
    creating.lock().unwrap();
    std::fs::write(&path, vec![0; UNFINISHED]).unwrap();
    assert!(matches!(refusal(&path), Error::Locked { .. }));
    assert_eq!(std::fs::read(&path).unwrap().len(), UNFINISHED);
    drop(creating);
    RedbStore::open(&path).unwrap();
}
