//! Checks of the intents that controllers receive.

use std::collections::BTreeMap;

use super::Problems;

/// Maximum number of controllers that a group names.
pub(super) const CONTROLLERS_MAX: usize = 64;
/// Maximum length of the name of an intent, in bytes.
pub(super) const INTENT_NAME_MAX: usize = 128;

/// The intents by the names of their controllers.
pub(super) fn checked(
    controllers: Vec<(String, String)>,
    problems: &mut Problems,
) -> BTreeMap<String, String> {
    if controllers.len() > CONTROLLERS_MAX {
        problems.length("controllers", &controllers, CONTROLLERS_MAX);
        return BTreeMap::new();
    }
    let mut intents = BTreeMap::new();
    for (position, (name, intent)) in controllers.into_iter().enumerate() {
        let path = format!("controllers[{position}]");
        let is_valid = |text: &str| {
            let is_long = text.is_empty() || text.len() > INTENT_NAME_MAX;
            !is_long && !text.contains(char::is_control)
        };
        for (member, text) in [("name", &name), ("intent", &intent)] {
            if !is_valid(text) {
                let expected = format!("1 to {INTENT_NAME_MAX} characters without line breaks");
                problems.add(&format!("{path}.{member}"), "it is not a name", expected);
            }
        }
        if intents.contains_key(&name) {
            let detail = format!("the controller `{name}` is named twice");
            problems.add(&format!("{path}.name"), detail, "another name");
        }
        intents.insert(name, intent);
    }
    intents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(controllers: &[(&str, &str)]) -> Vec<String> {
        let owned = controllers.iter();
        let owned = owned.map(|(name, intent)| ((*name).to_owned(), (*intent).to_owned()));
        let mut problems = Problems::default();
        checked(owned.collect(), &mut problems);
        problems.0.into_iter().map(|it| it.path).collect()
    }

    #[test]
    fn each_controller_has_one_intent_with_a_name() {
        assert!(paths(&[("near", "a"), ("mesh", "a")]).is_empty());
        let long = "x".repeat(INTENT_NAME_MAX + 1);
        let wrong = [("near", ""), ("near", "a"), ("", "a\n"), ("mesh", &*long)];
        assert_eq!(
            paths(&wrong),
            [
                "controllers[0].intent",
                "controllers[1].name",
                "controllers[2].name",
                "controllers[2].intent",
                "controllers[3].intent",
            ]
        );
        assert_eq!(
            paths(&[("near", "a"); CONTROLLERS_MAX + 1]),
            ["controllers"]
        );
    }
}
