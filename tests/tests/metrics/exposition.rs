//! Reads the text format of Prometheus.

use std::collections::{BTreeMap, BTreeSet};

/// A metric with all its series.
#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) help: String,
    /// Names of the labels, without `le`.
    pub(crate) labels: BTreeSet<String>,
    /// Number of lines with values.
    pub(crate) series: usize,
}

/// The metrics of a text, by name.
pub(crate) fn families(text: &str) -> BTreeMap<String, Family> {
    let mut families = BTreeMap::<String, Family>::new();
    let mut last = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a description");
            name.clone_into(&mut last);
            help.clone_into(&mut families.entry(last.clone()).or_default().help);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert_eq!(name, last, "a type follows its description");
            kind.clone_into(&mut families.entry(last.clone()).or_default().kind);
        } else {
            assert!(line.starts_with(&last), "{line} is not of {last}");
            let family = families.get_mut(&last).expect("its metric");
            family.series += 1;
            family.labels.extend(labels(line));
        }
    }
    families
}

/// The names of the labels of a line. No value in these tests contains a quotation mark.
fn labels(line: &str) -> Vec<String> {
    let Some((_, rest)) = line.split_once('{') else {
        return Vec::new();
    };
    let (labels, _) = rest.rsplit_once('}').expect("the end of the labels");
    let names = labels
        .split("\",")
        .filter_map(|label| label.split_once("=\""));
    let names = names.map(|(name, _)| name.to_owned());
    names.filter(|name| name != "le").collect()
}

/// The names in a text that begin like the name of a metric.
pub(crate) fn used_metrics(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let words = text.split(|c: char| !is_name(c));
    let names = words.filter(|word| word.starts_with("kindsight_"));
    names.map(str::to_owned).collect()
}
