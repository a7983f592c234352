//! The table `[outgoing]` of the configuration file.

use std::str::FromStr;
use std::sync::Arc;

use kindsight_server::outgoing::Destinations;
use serde::Deserialize;

/// Maximum number of entries of each list. Each host and address of a request is compared with every entry.
const ENTRIES_MAX: usize = 256;

/// `[outgoing]` of the configuration file: the destinations of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutgoingTable(Destinations);

/// The table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    /// Hosts that requests may go to; each configured host where empty.
    #[serde(default)]
    hosts: Vec<String>,
    /// Ranges of addresses that are permitted although they are forbidden by default.
    #[serde(default)]
    addresses: Vec<String>,
}

impl FromStr for OutgoingTable {
    type Err = String;

    /// Parses the JSON of the table.
    fn from_str(json: &str) -> Result<Self, String> {
        let table: Table = serde_json::from_str(json).map_err(|error| {
            let error = error.to_string();
            // The position in the JSON is not a position in the file.
            let text = error.split(" at line ").next().unwrap_or_default();
            format!("[outgoing]: {text}")
        })?;
        Ok(Self(Destinations {
            hosts: entries("hosts", &table.hosts)?,
            addresses: entries("addresses", &table.addresses)?,
        }))
    }
}

impl OutgoingTable {
    /// The destinations of a table, or the default destinations without a table.
    pub(crate) fn destinations(table: Option<&Self>) -> Arc<Destinations> {
        Arc::new(
            table
                .map(|Self(destinations)| destinations.clone())
                .unwrap_or_default(),
        )
    }
}

fn entries<T: FromStr<Err: ToString>>(key: &str, texts: &[String]) -> Result<Vec<T>, String> {
    if texts.len() > ENTRIES_MAX {
        let count = texts.len();
        return Err(format!(
            "[outgoing]: `{key}` has {count} entries; at most {ENTRIES_MAX} are permitted"
        ));
    }
    let entries = texts.iter().map(|text| text.parse());
    let entries: Result<Vec<T>, _> = entries.collect();
    entries.map_err(|error| format!("[outgoing]: `{key}`: {}", error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_hosts_and_addresses() {
        let table = r#"{"hosts":["*.example.com","a.org:8443"],"addresses":["127.0.0.0/8"]}"#;
        let table = table.parse().unwrap();
        let destinations = OutgoingTable::destinations(Some(&table));
        assert_eq!(destinations.hosts.len(), 2);
        assert_eq!(destinations.addresses.len(), 1);
        let default = OutgoingTable::destinations(None);
        assert!(default.hosts.is_empty() && default.addresses.is_empty());
    }

    #[test]
    fn errors_name_the_key_and_a_correction() {
        let many = format!(r#"{{"hosts":[{}"a"]}}"#, r#""a","#.repeat(ENTRIES_MAX));
        for (table, expected) in [
            (
                r#"{"hosts":["https://a.com"]}"#,
                "[outgoing]: `hosts`: `https://a.com` is not a host such as",
            ),
            (
                r#"{"addresses":["localhost"]}"#,
                "`addresses`: `localhost` is not a range",
            ),
            (r#"{"host":["a"]}"#, "[outgoing]: unknown field `host`"),
            (r#"{"hosts":"a"}"#, "[outgoing]: invalid type"),
            (&many, "at most 256"),
        ] {
            let error = table.parse::<OutgoingTable>().unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
