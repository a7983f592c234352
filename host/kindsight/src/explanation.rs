//! Explanations of verdicts as lines below a row of a table.

use kindsight_api::explanation::Explanation;
use kindsight_model::Claims;

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

/// One line for people: why the object belongs to its application, and which other applications claim it.
pub(crate) fn claims_line(claims: &Claims) -> String {
    let others = claims.others.iter();
    let others =
        others.map(|claim| format!("{} claims it by {}", claim.application, claim.evidence));
    let others: Vec<String> = others.collect();
    let Claims { evidence, .. } = claims;
    format!(
        "  it belongs to this application by {evidence}; {}",
        others.join("; ")
    )
}
