//! Segments of paths.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Encodes a text as one segment of a path (RFC 3986, 3.3). Everything except letters, digits, `-`, `.`, `_` and `~`
/// is encoded. A segment `.` or `..`, which clients and servers would resolve, is encoded too.
pub fn path_segment(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_dots = text == "." || text == "..";
    if !is_dots && text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        if is_plain(byte) && !is_dots {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    Cow::Owned(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_one_segment() {
        assert_eq!(path_segment("web-1.a_b~c"), "web-1.a_b~c");
        assert_eq!(path_segment("a/b?c#d e"), "a%2Fb%3Fc%23d%20e");
        assert_eq!(path_segment(".."), "%2E%2E");
        assert_eq!(path_segment("ä%2f"), "%C3%A4%252f");
    }
}
