//! Kinds of objects.

use std::fmt;
use std::sync::Arc;

use kindsight_contract::KindPattern;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::NameError;

/// Group, version and Kind of an object. The core group is the empty string.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Gvk {
    /// API group; empty for the core group.
    #[schema(value_type = String, example = "apps")]
    pub group: Arc<str>,
    /// API version; empty if the reporter omitted it.
    #[schema(value_type = String, example = "v1")]
    pub version: Arc<str>,
    /// Kind.
    #[schema(value_type = String, example = "Deployment")]
    pub kind: Arc<str>,
}

impl Gvk {
    /// A Kind from its three parts, which are not validated.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// Returns whether a pattern matches objects of this Kind.
    pub fn matches(&self, pattern: &KindPattern) -> bool {
        pattern.matches(&self.group, &self.version, &self.kind)
    }

    /// Returns whether it is a Secret of the core group, of any version.
    pub(crate) fn is_secret(&self) -> bool {
        self.group.is_empty() && &*self.kind == "Secret"
    }

    /// A Kind from `apiVersion` and `kind` as in an object.
    ///
    /// # Errors
    /// [`NameError::NotAnApiVersion`] if there is more than one `/`.
    pub fn from_api_version(api_version: &str, kind: &str) -> Result<Self, NameError> {
        match api_version.split_once('/') {
            None => Ok(Self::new("", api_version, kind)),
            Some((group, version)) if !version.contains('/') => Ok(Self::new(group, version, kind)),
            Some(_) => Err(NameError::NotAnApiVersion(api_version.to_owned())),
        }
    }

    /// The `apiVersion` of an object of this Kind: `version` or `group/version`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version(), self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_version_has_at_most_one_slash() {
        let gvk = Gvk::from_api_version("apps/v1", "Deployment").unwrap();
        assert_eq!((&*gvk.group, &*gvk.version), ("apps", "v1"));
        assert_eq!(
            Gvk::from_api_version("v1", "Pod").unwrap().to_string(),
            "v1 Pod"
        );
        assert!(Gvk::from_api_version("a/b/c", "Pod").is_err());
    }
}
