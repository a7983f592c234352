//! Settings that the owner of a folder chooses.

use std::time::Duration;

/// The filter of file names in a folder, and the limits of the work on the files.
#[derive(Debug, Clone)]
pub struct FolderOptions {
    /// The filter of names. Editors and copying tools keep unfinished files under other names, and
    /// the internal entries of a ConfigMap volume begin with a dot: the filter should reject both.
    pub accepts: fn(&str) -> bool,
    /// The maximum number of files that are read, the first ones by name. At each look, each file
    /// costs a few system calls, and a thousand files cost some milliseconds.
    pub files_max: usize,
    /// The maximum size of one file in bytes. A larger file is rejected without being read.
    pub file_bytes_max: usize,
    /// The maximum number of bytes that one look passes on. The rest follows at the next look. A
    /// value below `file_bytes_max` counts as `file_bytes_max`.
    pub look_bytes_max: usize,
    /// The time for which a state must be the same at two looks before it is confirmed. Then
    /// writers have finished, and a file that is absent between two renames does not count as
    /// removed.
    pub quiet_for: Duration,
}
