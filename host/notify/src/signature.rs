//! Signatures of requests.
//!
//! The header is `Kindsight-Signature: t=<seconds since 1970>,v1=<hex>`. The hex digits are the HMAC-SHA-256 over the
//! decimal digits of `t`, a full stop, and the bytes of the body. A receiver computes the HMAC again, compares it in
//! constant time, and refuses a `t` that differs from its clock by more than five minutes. Within this time, the id of
//! the event reveals a replayed request.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The header with the signature.
pub const SIGNATURE_HEADER: &str = "Kindsight-Signature";

fn mac(key: &[u8], time_s: i64, body: &[u8]) -> Option<Hmac<Sha256>> {
    // A key of any length is valid.
    let mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    let mac = mac.chain_update(time_s.to_string());
    Some(mac.chain_update(b".").chain_update(body))
}

/// The value of the header for a body, at a time in Unix seconds.
pub(crate) fn sign(key: &[u8], time_s: i64, body: &[u8]) -> String {
    let mut text = format!("t={time_s},v1=");
    let bytes = mac(key, time_s, body).map(|mac| mac.finalize().into_bytes());
    for byte in bytes.into_iter().flatten() {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns whether a signature was made with this key for this body, at most `tolerance_s` seconds before or after
/// `now_s`. A receiver does the same; the tests of kindsight call it.
pub fn verify(key: &[u8], header: &str, body: &[u8], now_s: i64, tolerance_s: i64) -> bool {
    let parts = header
        .strip_prefix("t=")
        .and_then(|rest| rest.split_once(",v1="));
    let Some((time, digits)) = parts else {
        return false;
    };
    let (Ok(time_s), Some(tag)) = (time.parse::<i64>(), bytes_of(digits)) else {
        return false;
    };
    let is_recent = now_s.saturating_sub(time_s).saturating_abs() <= tolerance_s;
    let mac = mac(key, time_s, body);
    is_recent && mac.is_some_and(|mac| mac.verify_slice(&tag).is_ok())
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    let pairs = pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = b"key";

    #[test]
    fn the_signature_is_the_hmac_of_time_and_body() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key
        let expected =
            "t=1700000000,v1=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03";
        let header = sign(KEY, 1_700_000_000, br#"{"a":1}"#);
        assert_eq!(header, expected);
    }

    #[test]
    fn another_body_key_or_time_is_refused() {
        let header = sign(KEY, 1_700_000_000, b"body");
        let check =
            |key: &[u8], header: &str, body: &[u8], now_s| verify(key, header, body, now_s, 300);
        assert!(check(KEY, &header, b"body", 1_700_000_300));
        assert!(!check(KEY, &header, b"body", 1_700_000_301), "a replay");
        assert!(!check(KEY, &header, b"other", 1_700_000_000));
        assert!(!check(b"other", &header, b"body", 1_700_000_000));
        let later = header.replace("t=1700000000", "t=1700000001");
        assert!(!check(KEY, &later, b"body", 1_700_000_001));
        for wrong in [
            "",
            "t=1,v1=",
            "t=x,v1=00",
            "v1=00,t=1",
            "t=1,v1=zz",
            "t=1,v1=ä",
        ] {
            assert!(!check(KEY, wrong, b"body", 1), "{wrong}");
        }
    }
}
