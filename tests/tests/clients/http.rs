//! A client that sends arbitrary bytes, valid or not.

use std::io::{self, Read, Write};
use std::net::SocketAddr;

/// A request, written as it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    /// Headers. `Host`, `Content-Length` and `Connection` are added if they are absent here.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Status line and headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request<'_> {
    /// The bytes of the request, for a server at this address.
    pub(crate) fn bytes(&self, address: SocketAddr) -> Vec<u8> {
        let is_given = |name: &str| {
            let mut headers = self.headers.iter();
            headers.any(|(header, _)| header.eq_ignore_ascii_case(name))
        };
        let added = [
            ("Host", address.to_string()),
            ("Connection", "close".to_owned()),
            ("Content-Length", self.body.len().to_string()),
        ];
        let added = added.iter().filter(|(name, _)| !is_given(name));
        let added = added.map(|(name, value)| (*name, value.as_str()));
        let headers = added.chain(self.headers.iter().copied());
        let headers: Vec<String> = headers
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let (method, target, headers) = (self.method, self.target, headers.concat());
        let head = format!("{method} {target} HTTP/1.1\r\n{headers}\r\n");
        [head.as_bytes(), self.body].concat()
    }
}

/// Sends bytes on a connection, and reads the answer until the server closes the connection.
pub(crate) fn send_raw(mut stream: impl Read + Write, bytes: &[u8]) -> io::Result<Answer> {
    // A server may answer and close before it has read everything.
    let written = stream.write_all(bytes).and_then(|()| stream.flush());
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    if answer.is_empty() {
        written?;
        read?;
    }
    Answer::parse(&answer)
}

impl Answer {
    /// Parses a complete answer. The chunks of a chunked body are joined.
    fn parse(bytes: &[u8]) -> io::Result<Self> {
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text
            .split_once("\r\n\r\n")
            .ok_or_else(|| invalid("an answer without an end of its headers"))?;
        let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
        let is_chunked = head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked");
        Ok(Self {
            status: status.ok_or_else(|| invalid("an answer without a status"))?,
            head: head.to_owned(),
            body: if is_chunked {
                unchunked(body)
            } else {
                body.to_owned()
            },
        })
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let Some(chunk) = rest.get(..size).filter(|chunk| !chunk.is_empty()) else {
            break;
        };
        whole.push_str(chunk);
        body = rest
            .get(size..)
            .unwrap_or_default()
            .trim_start_matches("\r\n");
    }
    whole
}
