//! The TCP sockets of a process, from `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// The state of a listening socket in `/proc/PID/net/tcp`.
const LISTENING: &str = "0A";

/// The TCP sockets of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sockets {
    /// The ports on which the process accepts connections.
    pub listening: BTreeSet<u16>,
    /// The peers of the connections that the process opened.
    pub peers: BTreeSet<SocketAddr>,
}

/// One socket of the network namespace.
struct Socket {
    local: SocketAddr,
    remote: SocketAddr,
    is_listening: bool,
}

impl Sockets {
    /// The sockets of the process with this folder in `/proc`.
    pub(super) fn of(process: &Path) -> Self {
        let own = own_inodes(process);
        let mut sockets = Vec::new();
        for table in ["net/tcp", "net/tcp6"] {
            // Without IPv6, the second table does not exist.
            let table = fs::read_to_string(process.join(table)).unwrap_or_default();
            sockets.extend(table.lines().skip(1).filter_map(|line| row(line, &own)));
        }
        let listening = sockets.iter().filter(|socket| socket.is_listening);
        let listening: BTreeSet<u16> = listening.map(|socket| socket.local.port()).collect();
        let opened = sockets
            .iter()
            .filter(|socket| !socket.is_listening && !listening.contains(&socket.local.port()));
        let peers = opened.map(|socket| socket.remote).collect();
        Self { listening, peers }
    }
}

/// The inodes of the sockets that the process has open.
fn own_inodes(process: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(process.join("fd")).expect("the open files of a process");
    let links = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    let inodes = links.filter_map(|link| {
        let link = link.to_str()?.strip_prefix("socket:[")?;
        Some(link.strip_suffix(']')?.to_owned())
    });
    inodes.collect()
}

/// Reads a row of `/proc/PID/net/tcp`: number, local address, remote address, state, four other
/// columns, inode. Returns `None` for sockets of other processes.
fn row(line: &str, own: &BTreeSet<String>) -> Option<Socket> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    if !own.contains(*columns.get(9)?) {
        return None;
    }
    Some(Socket {
        local: address(columns.get(1)?)?,
        remote: address(columns.get(2)?)?,
        is_listening: *columns.get(3)? == LISTENING,
    })
}

/// Reads `0100007F:1F90`: words in the order of this machine, and a port.
fn address(text: &str) -> Option<SocketAddr> {
    let (words, port) = text.split_once(':')?;
    let mut bytes = Vec::new();
    for start in (0..words.len()).step_by(8) {
        let word = u32::from_str_radix(words.get(start..start + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let ip = match <[u8; 4]>::try_from(&*bytes) {
        Ok(bytes) => IpAddr::from(bytes),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical(),
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}
