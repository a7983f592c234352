//! Reads a file in the folder, and never a file outside it.
//!
//! Between the check of a name and the opening of the file, another process may switch a link. No
//! link is therefore followed here: the resolved path from the folder to the file is opened one
//! name at a time, each name relative to the previous one and without following links. A file that
//! is opened in this way was in the folder. Its stamp proves that it is still the file that was
//! checked.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::state::Stamp;

/// Opening never blocks, not even for the other end of a pipe, and follows no link.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Reads the file at `place` below `root`, if it has this stamp before and after. Returns `None` if
/// the file has changed since then: look again.
///
/// # Errors
/// The file cannot be read, and looking again will not help.
/// It cannot be read, and looking again will not help.
pub(crate) fn read(root: &Path, place: &Path, stamp: Stamp) -> io::Result<Option<Vec<u8>>> {
    match open(root, place) {
        Ok(file) => read_stamped(&file, stamp),
        Err(error) if is_passing(error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn read_stamped(file: &File, stamp: Stamp) -> io::Result<Option<Vec<u8>>> {
    let is_same = || {
        let metadata = file.metadata()?;
        io::Result::Ok(metadata.is_file() && Stamp::of(&metadata) == stamp)
    };
    if !is_same()? {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.bytes()).unwrap_or_default());
    // The file may grow during the read: one additional byte is enough to detect this.
    file.take(stamp.bytes().saturating_add(1))
        .read_to_end(&mut bytes)?;
    let is_whole = bytes.len() as u64 == stamp.bytes() && is_same()?;
    Ok(is_whole.then_some(bytes))
}

/// Opens a file or folder below `root`. `place` is a path without `..`.
fn open(root: &Path, place: &Path) -> rustix::io::Result<File> {
    let mut folder = rustix::fs::open(root, FOLDER, Mode::empty())?;
    let mut names = place.iter().peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            return rustix::fs::openat(&folder, name, FILE, Mode::empty()).map(File::from);
        }
        folder = rustix::fs::openat(&folder, name, FOLDER, Mode::empty())?;
    }
    Err(Errno::NOENT)
}

/// Returns whether an error means that the entry was replaced, or will be replaced soon.
fn is_passing(error: Errno) -> bool {
    matches!(
        error,
        Errno::NOENT
            | Errno::NOTDIR
            // A link has replaced the entry.
            | Errno::LOOP
            | Errno::STALE
            | Errno::INTR
            | Errno::AGAIN
            // The entry is a socket.
            | Errno::NXIO
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Seek as _, Write as _};
    use std::os::unix::fs::symlink;
    use std::sync::Barrier;
    use std::thread;

    use super::*;
    use crate::tests::tick;

    const BYTES: usize = 1 << 20;

    fn stamp(path: &Path) -> Stamp {
        Stamp::of(&fs::metadata(path).unwrap())
    }

    #[test]
    fn a_file_is_read_only_while_its_stamp_is_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let (root, file) = (folder.path(), folder.path().join("a.wasm"));
        fs::write(&file, "one").unwrap();
        let before = stamp(&file);
        let place = Path::new("a.wasm");
        assert_eq!(read(root, place, before).unwrap(), Some(b"one".to_vec()));
        fs::write(&file, "longer").unwrap();
        assert_eq!(read(root, place, before).unwrap(), None);
        fs::remove_file(&file).unwrap();
        assert_eq!(read(root, place, before).unwrap(), None);
        fs::create_dir(&file).unwrap();
        assert_eq!(read(root, place, before).unwrap(), None);
        assert_eq!(read(root, place, stamp(&file)).unwrap(), None);
    }

    #[test]
    fn a_file_that_changes_during_reading_is_not_read_partly() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wasm");
        let (start, rounds) = (Barrier::new(2), 0..50_u8);
        let mut are_whole = true;
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in rounds.clone() {
                    let mut file = File::create(&path).unwrap();
                    file.write_all(&vec![round; BYTES]).unwrap();
                    tick(folder.path());
                    start.wait();
                    start.wait();
                    file.rewind().unwrap();
                    file.write_all(&vec![u8::MAX; BYTES]).unwrap();
                    start.wait();
                }
            });
            for round in rounds.clone() {
                start.wait();
                let stamp = stamp(&path);
                start.wait();
                let bytes = read(folder.path(), Path::new("a.wasm"), stamp).unwrap();
                are_whole &= bytes.is_none_or(|bytes| bytes == vec![round; BYTES]);
                start.wait();
            }
        });
        assert!(are_whole);
    }

    #[test]
    fn a_link_that_was_put_on_the_way_is_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        let secret = outside.path().join("x.wasm");
        fs::write(&secret, "secret").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        symlink(outside.path(), root.join("..v1")).unwrap();
        symlink(&secret, root.join("x.wasm")).unwrap();
        // The stamp is the stamp of the file outside: only the path to it is wrong.
        for place in ["..v1/x.wasm", "x.wasm"] {
            let read = read(root, Path::new(place), stamp(&secret));
            assert_eq!(read.unwrap(), None, "{place}");
        }
    }
}
