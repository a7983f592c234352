//! Test reports in the format of `JUnit`, which CI systems show.

use std::fmt::Write as _;

use crate::test_report::{TestReport, Tested};

/// The report as XML: one suite for the fixtures and one for each file of cases.
pub fn junit(name: &str, report: &TestReport) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a String does not fail.
    let _ = writeln!(
        xml,
        "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\">",
        escaped(name),
        report.tested.len(),
        report.failed()
    );
    for suite in report
        .tested
        .chunk_by(|one, other| one.suite == other.suite)
    {
        write_suite(suite, &mut xml);
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn write_suite(suite: &[Tested], xml: &mut String) {
    let Some(first) = suite.first() else { return };
    let failed = suite.iter().filter(|tested| tested.failure.is_some());
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">",
        escaped(&first.suite),
        suite.len(),
        failed.count()
    );
    for tested in suite {
        let _ = write!(
            xml,
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6}\"",
            escaped(&tested.suite),
            escaped(&tested.name),
            tested.time.as_secs_f64()
        );
        match &tested.failure {
            None => xml.push_str("/>\n"),
            Some(why) => {
                let _ = writeln!(xml, "><failure message=\"{}\"/></testcase>", escaped(why));
            }
        }
    }
    xml.push_str("  </testsuite>\n");
}

/// A text as the value of an attribute. Characters that XML 1.0 does not permit are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            other if other < ' ' || matches!(other, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_escaped() {
        assert_eq!(
            escaped("a<b> \"c\" & \u{1b}\nd"),
            "a&lt;b&gt; &quot;c&quot; &amp; \u{fffd}&#10;d"
        );
    }
}
