//! Names of logical clouds.

use std::fmt;
use std::sync::Arc;

use super::{NameError, is_name};

/// The full name of a logical cloud.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogicalCloudName {
    /// Its project.
    pub project: Arc<str>,
    /// Its name in that project.
    pub name: Arc<str>,
}

impl LogicalCloudName {
    /// A logical cloud's name from its two parts.
    ///
    /// # Errors
    /// [`NameError::NotAName`] with the first invalid part.
    pub fn new(project: &str, name: &str) -> Result<Self, NameError> {
        for part in [project, name] {
            if !is_name(part) {
                return Err(NameError::NotAName(part.to_owned()));
            }
        }
        Ok(Self {
            project: project.into(),
            name: name.into(),
        })
    }
}

impl fmt::Display for LogicalCloudName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_are_names_and_are_displayed_in_order() {
        let cloud = LogicalCloudName::new("testvfw", "lc_1").unwrap();
        assert_eq!(cloud.to_string(), "testvfw/lc_1");
        for (project, name) in [("", "lc"), ("p", ""), ("-", "lc"), ("p", "-"), ("p", "a/b")] {
            assert!(LogicalCloudName::new(project, name).is_err());
        }
    }
}
