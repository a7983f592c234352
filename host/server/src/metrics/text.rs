//! The text format of Prometheus.

use std::collections::HashSet;

/// Converts the text that the library writes (`OpenMetrics`) to version 0.0.4, which every reader of metrics understands:
/// the metadata of a counter has the name of its samples, with `_total`.
pub(super) fn with_counter_suffix(open: &str) -> String {
    let counters = open.lines().filter_map(|line| {
        let name = line.strip_prefix("# TYPE ")?;
        name.strip_suffix(" counter")
    });
    let counters: HashSet<&str> = counters.collect();
    let mut text = String::with_capacity(open.len() + 16 * counters.len());
    for line in open.lines() {
        let name = line
            .strip_prefix("# ")
            .and_then(|line| line.split(' ').nth(1));
        match name.filter(|name| counters.contains(name)) {
            Some(name) => text.push_str(&line.replacen(name, &format!("{name}_total"), 1)),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counters_get_a_suffix() {
        let open = "# HELP a Number of a.\n# TYPE a counter\na_total 1\n\
            # HELP b About a.\n# TYPE b gauge\nb{a=\"# TYPE b counter\"} 2\n";
        let expected = "# HELP a_total Number of a.\n# TYPE a_total counter\na_total 1\n\
            # HELP b About a.\n# TYPE b gauge\nb{a=\"# TYPE b counter\"} 2\n";
        assert_eq!(with_counter_suffix(open), expected);
    }
}
