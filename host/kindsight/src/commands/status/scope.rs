//! The part of an application that a status query selects.

use kindsight_api::status::StatusParameters;

/// Names the selected apps, clusters and resources; none if the query selects all of the application.
///
/// The state in an answer covers only the selected part, so every line that shows it names the part.
pub(super) fn scope(parameters: &StatusParameters) -> Option<String> {
    let selected = [
        ("app", &parameters.app),
        ("cluster", &parameters.cluster),
        ("resource", &parameters.resource),
    ];
    let parts: Vec<String> = selected
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(part, names)| {
            let plural = if names.len() > 1 { "s" } else { "" };
            format!("{part}{plural} {}", names.join(", "))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("only {}", parts.join("; ")))
}

/// The name of an application, with the selected part of it.
pub(super) fn scoped(name: &str, scope: Option<&str>) -> String {
    match scope {
        Some(scope) => format!("{name} ({scope})"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_selected_part_is_named() {
        let mut parameters = StatusParameters::default();
        assert_eq!(scope(&parameters), None);
        parameters.app = vec!["front".to_owned()];
        let front = scope(&parameters);
        assert_eq!(front.as_deref(), Some("only app front"));
        assert_eq!(scoped("shop", front.as_deref()), "shop (only app front)");
        parameters.app.push("back".to_owned());
        parameters.cluster = vec!["k+a".to_owned()];
        parameters.resource = vec!["web".to_owned()];
        assert_eq!(
            scope(&parameters).as_deref(),
            Some("only apps front, back; cluster k+a; resource web")
        );
    }
}
