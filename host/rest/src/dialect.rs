//! The wire dialect of an answer: the request selects it, and the setting is the default.

use axum::http::{HeaderMap, header};
use kindsight_api::emco::MEDIA_TYPE as V22;
use kindsight_api::status::{Dialect, Listing, MEDIA_TYPE as SPECIFICATION};

/// The most media ranges in `Accept` that are read; further ranges are ignored.
const RANGES_MAX: usize = 32;
/// Full weight of a media range, in thousandths.
const FULL: u16 = 1000;

/// Chooses the dialect of an answer.
///
/// Rules, in order of precedence:
/// 1. A media type of a dialect in `Accept`, unless JSON of any kind has a higher weight.
/// 2. A parameter that only EMCO's newer dialect has, or that requests a list of names.
/// 3. The setting.
///
/// A header that accepts neither dialect is ignored, because clients with such a header read JSON nevertheless.
pub(crate) fn dialect(
    headers: &HeaderMap,
    pairs: &[(String, String)],
    setting: Dialect,
) -> Dialect {
    let accepted = Accepted::read(headers);
    let is_of_v22 =
        |key: &str| key == "status" || Listing::ALL.iter().any(|listing| listing.as_str() == key);
    let meant = if pairs.iter().any(|(key, _)| is_of_v22(key)) {
        Dialect::V22
    } else {
        setting
    };
    let other = match meant {
        Dialect::Specification => Dialect::V22,
        Dialect::V22 => Dialect::Specification,
    };
    // A dialect that the header does not name has the weight of JSON of any kind.
    let weight = |dialect| accepted.of(dialect).unwrap_or(accepted.any);
    let is_named = |dialect| accepted.of(dialect).is_some();
    let prefers_other = match (is_named(meant), is_named(other)) {
        (_, false) => accepted.of(meant) == Some(0) && accepted.any > 0,
        (true, true) => weight(other) > weight(meant),
        (false, true) => weight(other) > 0 && weight(other) >= weight(meant),
    };
    if prefers_other { other } else { meant }
}

/// Weights of the media types that a client accepts, in thousandths.
#[derive(Debug, Default)]
struct Accepted {
    specification: Option<u16>,
    v22: Option<u16>,
    /// Weight of JSON without a dialect, by the most specific range that includes it.
    any: u16,
}

impl Accepted {
    fn of(&self, dialect: Dialect) -> Option<u16> {
        match dialect {
            Dialect::Specification => self.specification,
            Dialect::V22 => self.v22,
        }
    }

    fn read(headers: &HeaderMap) -> Self {
        let values = headers.get_all(header::ACCEPT).iter();
        let values = values.filter_map(|value| value.to_str().ok());
        let ranges = values.flat_map(|value| value.split(',')).take(RANGES_MAX);
        let mut accepted = Self::default();
        let mut rank = 0;
        for range in ranges {
            let (name, weight) = read_range(range);
            let of_any = match name.as_str() {
                SPECIFICATION => {
                    accepted.specification = Some(weight);
                    continue;
                }
                V22 => {
                    accepted.v22 = Some(weight);
                    continue;
                }
                "application/json" => 3,
                "application/*" => 2,
                "*/*" => 1,
                _ => continue,
            };
            if of_any > rank {
                (rank, accepted.any) = (of_any, weight);
            }
        }
        accepted
    }
}

/// A media range in lower case without its parameters, and its weight. A weight that cannot be read is full.
fn read_range(range: &str) -> (String, u16) {
    let mut parts = range.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let weight = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    (name, weight.and_then(read_weight).unwrap_or(FULL))
}

/// A weight of `0` to `1` with at most three decimals, in thousandths.
fn read_weight(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_right = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths = format!("{decimals:0<3}").parse::<u16>().ok();
    match whole {
        "0" if is_right => thousandths,
        "1" if is_right => Some(FULL),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dialect of a request with these values of `Accept` and these parameters, by either setting.
    fn chosen(accept: &[&str], keys: &[&str]) -> [Dialect; 2] {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(header::ACCEPT, value.parse().unwrap());
        }
        let pairs: Vec<_> = keys
            .iter()
            .map(|key| (key.to_string(), String::new()))
            .collect();
        [Dialect::Specification, Dialect::V22].map(|setting| dialect(&headers, &pairs, setting))
    }

    const SETTING: [Dialect; 2] = [Dialect::Specification, Dialect::V22];
    const OURS: [Dialect; 2] = [Dialect::Specification; 2];
    const EMCO: [Dialect; 2] = [Dialect::V22; 2];

    #[test]
    fn a_request_without_a_dialect_gets_the_configured_dialect() {
        for accept in [
            &[][..],
            &["*/*"],
            &["application/json"],
            &["text/html, application/json;q=0.9"],
            &["text/html"],
            &[""],
            &["application/vnd.kindsight+json;q=0.1, application/json"],
            &["application/vnd.emco.v22+json;q=0.5, application/vnd.kindsight+json;q=0.5"],
        ] {
            assert_eq!(chosen(accept, &["type"]), SETTING, "{accept:?}");
        }
    }

    #[test]
    fn a_media_type_of_a_dialect_comes_before_parameters_and_setting() {
        for (accept, dialect) in [
            (&["application/vnd.emco.v22+json"][..], EMCO),
            (&["Application/vnd.EMCO.v22+json ; q=0.2"], EMCO),
            (&["application/json", "application/vnd.emco.v22+json"], EMCO),
            (&["application/vnd.kindsight+json"], OURS),
            (
                &["application/vnd.kindsight+json, application/json;q=0.9, */*;q=0.1"],
                OURS,
            ),
            (
                &["application/vnd.kindsight+json;q=0.8, application/vnd.emco.v22+json;q=0.81"],
                EMCO,
            ),
            (
                &["application/vnd.kindsight+json;q=1.0, application/vnd.emco.v22+json;q=0"],
                OURS,
            ),
            (&["*/*, application/vnd.emco.v22+json;q=0"], OURS),
        ] {
            assert_eq!(chosen(accept, &[]), dialect, "{accept:?}");
            assert_eq!(chosen(accept, &["status"]), dialect, "{accept:?}");
        }
    }

    #[test]
    fn parameters_of_the_newer_dialect_ask_for_it() {
        for key in ["status", "apps", "clusters", "resources"] {
            assert_eq!(chosen(&["*/*"], &["type", key]), EMCO, "{key}");
        }
        assert_eq!(chosen(&[], &["app", "cluster", "resource"]), SETTING);
    }

    #[test]
    fn weights_have_three_decimals() {
        let read = [
            "0", "0.", "0.5", "0.123", "1", "1.000", "0.1234", "2", "-1", "x", "",
        ];
        let weights = read.map(read_weight);
        let right = [
            Some(0),
            Some(0),
            Some(500),
            Some(123),
            Some(1000),
            Some(1000),
        ];
        assert_eq!(weights[..6], right);
        assert_eq!(weights[6..], [None; 5]);
    }
}
