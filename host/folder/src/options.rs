//! Choices of a folder's owner.

use std::time::Duration;

/// The files of interest in a folder, and the limits of the work on them.
#[derive(Debug, Clone)]
pub struct FolderOptions {
    /// Filter of the names of interest. Editors and copying tools keep unfinished files under other
    /// names, and what a ConfigMap needs for itself begins with a dot: leave those out.
    pub accepts: fn(&str) -> bool,
    /// The most files that are looked at, the first by name. Each costs a few system calls at each
    /// look, and a thousand of them some milliseconds.
    pub files_max: usize,
    /// The most bytes of one file. A larger one is rejected without being read.
    pub file_bytes_max: usize,
    /// The most bytes that one look hands on; the rest follows at the next. Counts as
    /// `file_bytes_max` where it is less.
    pub look_bytes_max: usize,
    /// A state counts when it was the same for so long at two looks: then a writer is done with the
    /// file, and one that is away between two renames is not gone.
    pub quiet_for: Duration,
}
