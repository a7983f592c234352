//! Explanations of verdicts as lines below a row of a table.

use kindsight_api::explanation::Explanation;

/// One line for people: whether the state is final, and what the reason means.
pub(crate) fn line(state: &str, reason: &str, explanation: &Explanation) -> String {
    let end = explanation.is_final.then(|| format!("{state} is final"));
    let meaning = explanation.summary.as_ref().map(|summary| {
        let url = explanation.help_url.as_ref();
        let url = url.map_or_else(String::new, |url| format!(" ({url})"));
        format!("{reason}: {summary}{url}")
    });
    let parts: Vec<String> = [end, meaning].into_iter().flatten().collect();
    format!("  {}", parts.join("; "))
}
