//! HTTP/1.1, as far as a client of the inventory uses it.

use std::collections::BTreeMap;
use std::io::{Read, Write};

/// One request.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// One answer, with a JSON body.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(super) fn query(&self, name: &str) -> Option<String> {
        self.query.get(name).cloned()
    }
}

/// Reads the next request; `None` at the end of the connection.
pub(super) fn read(stream: &mut impl Read) -> Option<Request> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let head = String::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let query = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers: BTreeMap<String, String> = headers
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").map_or("0", String::as_str);
    let mut body = vec![0; length.parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        path: path.to_owned(),
        query: query.collect(),
        headers,
        body,
    })
}

/// Writes an answer. The client may have closed the connection.
pub(super) fn write(stream: &mut impl Write, answer: &Answer) {
    let Answer { status, body } = answer;
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.flush();
}
