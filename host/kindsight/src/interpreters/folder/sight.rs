//! What a file of the folder is at one look, without opening it.

use std::fs::{self, FileType, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// What a name in the folder stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sight {
    /// Nothing has that name.
    Absent,
    /// A file that may be read, and where in the folder it is, without links.
    File(Stamp, PathBuf),
    /// Something that is not taken. Where a link leads nowhere, with the stamp of the folder: if
    /// that changes too, it may be a link that is just being switched.
    Unfit(Unfit, Option<Stamp>),
}

/// Why something is not taken. An equal one is not worth telling again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unfit {
    /// Device and inode of what has the name, where they are known.
    pub(super) identity: Option<(u64, u64)>,
    /// For people.
    pub(super) why: String,
}

/// What the file system says of a file: if it differs, the content may differ. The time of the last
/// change of the inode cannot be set, so it also tells a file that was given its old time again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    mode: u32,
    bytes: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    /// Seconds and nanoseconds.
    changed: (i64, i64),
}

impl Stamp {
    /// Of what this is about.
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            mode: metadata.mode(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// How large it is.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Which one it is, whatever is in it.
    pub(super) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }
}

impl Sight {
    /// Of a file in `root`, which is the folder without links. Opens nothing.
    pub(super) fn of(root: &Path, file: &str, bytes_max: usize) -> Self {
        let entry = root.join(file);
        match fs::symlink_metadata(&entry) {
            Ok(metadata) if metadata.is_symlink() => {
                Self::behind_link(root, &entry, Stamp::of(&metadata), bytes_max)
            }
            Ok(metadata) => Self::of_target(&metadata, PathBuf::from(file), bytes_max),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::Absent,
            Err(error) => {
                let why = format!("it cannot be looked at: {error}");
                let identity = None;
                Self::Unfit(Unfit { identity, why }, None)
            }
        }
    }

    fn behind_link(root: &Path, entry: &Path, link: Stamp, bytes_max: usize) -> Self {
        // Before the link is followed: what happens meanwhile shows at the next look.
        let around = fs::metadata(root).ok().as_ref().map(Stamp::of);
        let unfit = |why, around| {
            let identity = Some(link.identity());
            Self::Unfit(Unfit { identity, why }, around)
        };
        let found =
            fs::canonicalize(entry).and_then(|target| Ok((fs::symlink_metadata(&target)?, target)));
        let (metadata, target) = match found {
            Ok(found) => found,
            Err(error) => {
                let target = fs::read_link(entry).unwrap_or_default();
                let target = target.display();
                let why = format!("it is a link to {target}, which cannot be followed: {error}");
                return unfit(why, around);
            }
        };
        if let Ok(place) = target.strip_prefix(root) {
            return Self::of_target(&metadata, place.to_owned(), bytes_max);
        }
        let target = target.display();
        let why = format!("it is a link to {target}, which is outside of the folder");
        unfit(why, None)
    }

    fn of_target(metadata: &Metadata, place: PathBuf, bytes_max: usize) -> Self {
        let stamp = Stamp::of(metadata);
        let bytes = stamp.bytes;
        let why = if !metadata.is_file() {
            format!("it is {}, not a file", kind(metadata.file_type()))
        } else if bytes > bytes_max as u64 {
            format!("it has {bytes} bytes, and the limit is {bytes_max}")
        } else {
            return Self::File(stamp, place);
        };
        let identity = Some(stamp.identity());
        Self::Unfit(Unfit { identity, why }, None)
    }
}

/// What something is that is no file.
fn kind(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        "a folder"
    } else if file_type.is_fifo() {
        "a pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else if file_type.is_char_device() || file_type.is_block_device() {
        "a device"
    } else {
        "something else"
    }
}
