//! Frames that the server has not acknowledged.
//!
//! The first ones are in memory, so that an agent whose server answers writes nothing to its disk. The others are files
//! in the folder of the spool. The folder also keeps the name of the agent and its last epoch, so that the server
//! recognizes an agent that restarted.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// Default limit of the frames in a spool, in bytes.
pub const SPOOL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Maximum size of all frames in memory, in bytes.
const MEMORY_BYTES_MAX: usize = 1024 * 1024;
/// Maximum number of frames.
const FRAMES_MAX: usize = 10_000;
/// Maximum size of a file with the name of the agent or with its token, in bytes.
const SMALL_FILE_BYTES_MAX: u64 = 16 * 1024;

const IDENTITY_FILE: &str = "agent.json";
const FRAME_SUFFIX: &str = ".frame";

/// The name of an agent, and its last epoch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Identity {
    agent: String,
    epoch: u64,
}

/// Frames that the server has not acknowledged.
#[derive(Debug)]
pub(super) struct Spool {
    folder: PathBuf,
    identity: Identity,
    bytes_max: u64,
    /// The frames, with consecutive sequence numbers.
    frames: VecDeque<Frame>,
    first: u64,
    bytes: u64,
    memory_bytes: usize,
}

#[derive(Debug)]
struct Frame {
    content: Content,
    bytes: u64,
    changed_at: Instant,
}

#[derive(Debug)]
enum Content {
    Memory(Vec<u8>),
    File(PathBuf),
}

impl Spool {
    /// Opens a spool for an agent with this name, unless the folder has a name. Removes the frames of an earlier
    /// process: a new epoch replaces them.
    pub(super) fn open(folder: &Path, agent: String, bytes_max: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(FRAME_SUFFIX) {
                fs::remove_file(&path)?;
            }
        }
        let known = read_limited(&folder.join(IDENTITY_FILE)).ok();
        let known = known.and_then(|text| serde_json::from_str(&text).ok());
        let identity = known.unwrap_or(Identity { agent, epoch: 0 });
        Ok(Self {
            folder: folder.to_owned(),
            identity,
            bytes_max,
            frames: VecDeque::new(),
            first: 0,
            bytes: 0,
            memory_bytes: 0,
        })
    }

    /// The name of the agent.
    pub(super) fn agent(&self) -> &str {
        &self.identity.agent
    }

    /// The epoch of the frames.
    pub(super) fn epoch(&self) -> u64 {
        self.identity.epoch
    }

    /// The sequence number of the first frame, or of the next one if there is no frame.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Removes all frames, and begins another epoch. `now_ms` is the time in Unix milliseconds.
    pub(super) fn begin_epoch(&mut self, now_ms: u64) -> io::Result<()> {
        self.acknowledge(self.next());
        self.first = 0;
        self.identity.epoch = now_ms.max(self.identity.epoch + 1);
        let text = serde_json::to_string(&self.identity)?;
        write_whole(&self.folder.join(IDENTITY_FILE), &text)
    }

    /// Adds a frame. The first change in it was at this time.
    pub(super) fn push(&mut self, frame: Vec<u8>, changed_at: Instant) -> io::Result<()> {
        let bytes = frame.len() as u64;
        let is_small = self.memory_bytes + frame.len() <= MEMORY_BYTES_MAX;
        let content = if is_small {
            self.memory_bytes += frame.len();
            Content::Memory(frame)
        } else {
            let path = self.folder.join(format!("{}{FRAME_SUFFIX}", self.next()));
            fs::write(&path, frame)?;
            Content::File(path)
        };
        self.bytes += bytes;
        self.frames.push_back(Frame {
            content,
            bytes,
            changed_at,
        });
        Ok(())
    }

    /// Returns whether there is no room for another frame. The last frame before may exceed the limit.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= self.bytes_max || self.frames.len() >= FRAMES_MAX
    }

    /// Returns whether the server has acknowledged every frame.
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The first frame, with the time of the first change in it.
    pub(super) fn read_first(&self) -> io::Result<Option<(Vec<u8>, Instant)>> {
        let Some(frame) = self.frames.front() else {
            return Ok(None);
        };
        let bytes = match &frame.content {
            Content::Memory(bytes) => bytes.clone(),
            Content::File(path) => fs::read(path)?,
        };
        Ok(Some((bytes, frame.changed_at)))
    }

    /// Removes the frames before a sequence number. Returns whether the number is one of this spool: otherwise the
    /// server and this agent disagree on the epoch.
    pub(super) fn acknowledge(&mut self, expected: u64) -> bool {
        if !(self.first..=self.next()).contains(&expected) {
            return false;
        }
        while self.first < expected
            && let Some(frame) = self.frames.pop_front()
        {
            self.first += 1;
            self.bytes -= frame.bytes;
            match frame.content {
                Content::Memory(bytes) => self.memory_bytes -= bytes.len(),
                Content::File(path) => {
                    if let Err(error) = fs::remove_file(&path) {
                        tracing::warn!(path = %path.display(), %error, "a frame of the spool cannot be removed");
                    }
                }
            }
        }
        true
    }

    /// The sequence number of the next frame.
    fn next(&self) -> u64 {
        self.first + self.frames.len() as u64
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.acknowledge(self.next());
    }
}

/// Reads a small text file.
pub(super) fn read_limited(path: &Path) -> io::Result<String> {
    let bytes = fs::metadata(path)?.len();
    if bytes > SMALL_FILE_BYTES_MAX {
        let text = format!("it has {bytes} bytes; at most {SMALL_FILE_BYTES_MAX} are read");
        return Err(io::Error::other(text));
    }
    fs::read_to_string(path)
}

/// Replaces a file in one step.
pub(super) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, path)
}

#[cfg(test)]
mod tests;
