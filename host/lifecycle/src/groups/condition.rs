//! Conditions on the content of a group.

use kindsight_appcontext::Intent;

use super::Group;
use crate::{Error, Result};

/// The tag of a content that an earlier release stored. Such a content gets a random tag with its next change.
const UNTAGGED: &str = "0";

/// A condition on the content that an approval is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ContentCondition {
    /// Every content.
    #[default]
    Any,
    /// A content with one of these tags.
    OneOf(Vec<String>),
}

impl ContentCondition {
    /// Checks the stored content of a group.
    ///
    /// # Errors
    /// [`Error::OtherContent`].
    pub(super) fn check(&self, group: &Group) -> Result<()> {
        let (Self::OneOf(tags), Some(tag)) = (self, group.content_tag()) else {
            return Ok(());
        };
        if tags.iter().any(|current| current == tag) {
            return Ok(());
        }
        Err(Error::OtherContent(tag.to_owned()))
    }
}

impl Group {
    /// The tag of the stored content, which changes with the content and the profile; `None` without a content.
    pub fn content_tag(&self) -> Option<&str> {
        self.intent.as_ref().map(tag)
    }
}

fn tag(intent: &Intent) -> &str {
    match intent.tag.as_str() {
        "" => UNTAGGED,
        tag => tag,
    }
}
