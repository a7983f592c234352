//! Labels that name the health scopes of an object.
//!
//! OAM's discussion of labels has two forms, and users write both:
//!
//! - `healthscope.core.oam.dev/<name>: "true"`, so that an object can be in several scopes;
//! - `healthscope.core.oam.dev/name: <name>`.
//!
//! A scope with the name `name` can be named by the second form only.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_contract::LabelSelector;
use kindsight_model::is_label_value;

use super::{MembershipRules, Metadata};

/// Prefix of the keys of both forms.
const PREFIX: &str = "healthscope.core.oam.dev/";
/// The rest of the key of the second form.
const NAME: &str = "name";
/// Maximum number of names in the labels of one object that are read, in order of the names.
const NAMES_MAX: usize = 16;

impl Metadata<'_> {
    /// The scopes that the labels name, in order; none unless scopes are followed and the object may name applications.
    pub(super) fn scopes(&self, rules: &MembershipRules) -> Box<[Arc<str>]> {
        let labels = self.node.get("labels");
        let selects = |selector: &LabelSelector| selector.selects(|key| labels.get(key).text());
        if !rules.health_scopes || !rules.selector.as_ref().is_none_or(selects) {
            return Box::default();
        }
        let named = labels.members().filter_map(|(key, value)| {
            let name = match key.strip_prefix(PREFIX)? {
                NAME => value.text()?,
                name if value.text() == Some("true") => name,
                _ => return None,
            };
            is_label_value(name).then(|| Arc::from(name))
        });
        let named: BTreeSet<Arc<str>> = named.collect();
        named.into_iter().take(NAMES_MAX).collect()
    }
}
