//! Protocol between the host and the compile process.
//!
//! ```text
//! request: magic  memory  seconds  host  length  component
//! answer:  magic  kind  length  code, or a refusal as JSON
//! ```
//!
//! Numbers are 64-bit little-endian. Both sides are the same binary, so the protocol has no
//! versions.

use std::io::{self, Read, Write};

use kindsight_code_cache::CODE_BYTES_MAX;
use serde::{Deserialize, Serialize};

use crate::limits::REFUSAL_TEXT_BYTES_MAX;
use crate::load_error::LoadError;

const REQUEST: &[u8; 8] = b"kscmprq\0";
const ANSWER: &[u8; 8] = b"kscmpan\0";
const CODE: u64 = 1;
const REFUSAL: u64 = 2;
/// Size of the header before the code or the refusal, in bytes.
const HEAD_BYTES: usize = 24;
/// Maximum size of a refusal in bytes of JSON, which can use six bytes for one byte of text.
const REFUSAL_BYTES_MAX: u64 = 64 * 1024;

/// The header of a request. The component follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// Limit of the child's address space, in bytes.
    pub(super) memory_bytes_max: u64,
    /// Limit of the child's processor time, in seconds.
    pub(super) cpu_seconds_max: u64,
    /// Process id of the host, which waits for the answer.
    pub(super) host: u64,
    /// Length of the component, in bytes.
    pub(super) component_bytes: u64,
}

impl Request {
    /// Encodes the header. It fits into an empty pipe.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let numbers = [
            self.memory_bytes_max,
            self.cpu_seconds_max,
            self.host,
            self.component_bytes,
        ];
        let numbers = numbers.into_iter().flat_map(u64::to_le_bytes);
        REQUEST.iter().copied().chain(numbers).collect()
    }

    /// Reads the header.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut magic = [0; 8];
        input.read_exact(&mut magic)?;
        if magic != *REQUEST {
            return Err(invalid("the input is not a compile request"));
        }
        Ok(Self {
            memory_bytes_max: number(input)?,
            cpu_seconds_max: number(input)?,
            host: number(input)?,
            component_bytes: number(input)?,
        })
    }

    /// Reads the component, which must end at the end of the input.
    pub(super) fn component(self, input: &mut impl Read) -> io::Result<Vec<u8>> {
        let mut component = Vec::new();
        let most = self.component_bytes.saturating_add(1);
        input.take(most).read_to_end(&mut component)?;
        if component.len() as u64 == self.component_bytes {
            return Ok(component);
        }
        Err(invalid(
            "the length of the component differs from the length in its request",
        ))
    }
}

/// Writes the answer: the code, or the refusal.
pub(super) fn answer(
    output: &mut impl Write,
    compiled: Result<Vec<u8>, LoadError>,
) -> io::Result<()> {
    let (kind, body) = match compiled.map_err(Refusal::try_from) {
        Ok(code) => (CODE, code),
        Err(refusal) => (REFUSAL, serde_json::to_vec(&refusal?)?),
    };
    output.write_all(ANSWER)?;
    output.write_all(&kind.to_le_bytes())?;
    output.write_all(&(body.len() as u64).to_le_bytes())?;
    output.write_all(&body)?;
    output.flush()
}

/// The length of the answer that begins with these bytes, or `None` if its header is incomplete.
///
/// # Errors
/// If these bytes are not the beginning of an answer.
pub(super) fn answer_bytes(begin: &[u8]) -> Result<Option<usize>, NotAnAnswer> {
    let mut head = begin;
    let mut magic = [0; 8];
    let known = begin.len().min(magic.len());
    if begin.get(..known) != ANSWER.get(..known) {
        return Err(NotAnAnswer);
    }
    if begin.len() < HEAD_BYTES || head.read_exact(&mut magic).is_err() {
        return Ok(None);
    }
    let kind = number(&mut head).map_err(|_| NotAnAnswer)?;
    let length = number(&mut head).map_err(|_| NotAnAnswer)?;
    let most = match kind {
        CODE => CODE_BYTES_MAX as u64,
        REFUSAL => REFUSAL_BYTES_MAX,
        _ => return Err(NotAnAnswer),
    };
    let length = usize::try_from(length).ok().filter(|_| length <= most);
    Ok(Some(HEAD_BYTES + length.ok_or(NotAnAnswer)?))
}

/// Decodes a complete answer.
///
/// # Errors
/// The outer error means that the bytes are not an answer. The inner error is the child's refusal.
pub(super) fn read_answer(mut whole: Vec<u8>) -> Result<Result<Vec<u8>, LoadError>, NotAnAnswer> {
    if answer_bytes(&whole)? != Some(whole.len()) {
        return Err(NotAnAnswer);
    }
    let is_code = whole.get(8..16) == Some(&CODE.to_le_bytes());
    let body = whole.split_off(HEAD_BYTES);
    if is_code {
        return Ok(Ok(body));
    }
    let refusal: Refusal = serde_json::from_slice(&body).map_err(|_| NotAnAnswer)?;
    Ok(Err(refusal.into()))
}

/// Bytes that are not an answer of the compile process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotAnAnswer;

/// The possible refusals in the answer of the compile process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Refusal {
    NotAComponent(String),
    ForeignImport(String),
    Wasi(String, String),
    WasmBindgen(String),
    NoContractTypes,
    NotAnInterpreter,
    OtherMajor(String),
    Compile(String),
}

impl TryFrom<LoadError> for Refusal {
    type Error = io::Error;

    fn try_from(error: LoadError) -> io::Result<Self> {
        Ok(match error {
            LoadError::NotAComponent(what) => Self::NotAComponent(cut(what)),
            LoadError::ForeignImport(name) => Self::ForeignImport(cut(name)),
            LoadError::Wasi(name, target) => Self::Wasi(cut(name), cut(target)),
            LoadError::WasmBindgen(name) => Self::WasmBindgen(cut(name)),
            LoadError::NoContractTypes => Self::NoContractTypes,
            LoadError::NotAnInterpreter => Self::NotAnInterpreter,
            LoadError::OtherMajor(version) => Self::OtherMajor(cut(version)),
            LoadError::Compile(what) => Self::Compile(cut(what)),
            other => return Err(io::Error::other(other)),
        })
    }
}

impl From<Refusal> for LoadError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotAComponent(what) => Self::NotAComponent(what),
            Refusal::ForeignImport(name) => Self::ForeignImport(name),
            Refusal::Wasi(name, target) => Self::Wasi(name, target),
            Refusal::WasmBindgen(name) => Self::WasmBindgen(name),
            Refusal::NoContractTypes => Self::NoContractTypes,
            Refusal::NotAnInterpreter => Self::NotAnInterpreter,
            Refusal::OtherMajor(version) => Self::OtherMajor(version),
            Refusal::Compile(what) => Self::Compile(what),
        }
    }
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(REFUSAL_TEXT_BYTES_MAX));
    text
}

fn number(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
