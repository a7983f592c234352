//! Names of resources, as they are in keys.

use std::fmt;
use std::str::FromStr;

use kindsight_model::is_label_value;

use crate::{Error, Result};

/// The longest name of a resource, in bytes; the limit of Kubernetes.
pub const RESOURCE_NAME_BYTES_MAX: usize = 253;

/// The name of a resource within its app and cluster: `<name>+<Kind>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceName {
    name: Box<str>,
    kind: Box<str>,
}

impl ResourceName {
    /// Checks a name and a Kind. The name may hold `+` and `:`, as names of RBAC objects do.
    ///
    /// # Errors
    /// [`Error::Name`] for a name that is empty, over [`RESOURCE_NAME_BYTES_MAX`] or holds `/` or a control
    /// character, and for a Kind that is no label value.
    pub fn new(name: &str, kind: &str) -> Result<Self> {
        let bad = |char: char| char == '/' || char.is_control();
        if name.is_empty() || name.len() > RESOURCE_NAME_BYTES_MAX || name.contains(bad) {
            return Err(Error::Name {
                name: name.to_owned(),
                expected: "the name of a resource: 1 to 253 bytes without `/` and control characters",
            });
        }
        if !is_label_value(kind) {
            return Err(Error::Name {
                name: kind.to_owned(),
                expected: "a Kind: 1 to 63 letters and digits",
            });
        }
        Ok(Self {
            name: name.into(),
            kind: kind.into(),
        })
    }

    /// The name of the resource, without its Kind.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The Kind of the resource.
    pub fn kind(&self) -> &str {
        &self.kind
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.name, self.kind)
    }
}

impl FromStr for ResourceName {
    type Err = Error;

    /// Splits at the last `+`: a Kind never holds one, a name may.
    fn from_str(text: &str) -> Result<Self> {
        let (name, kind) = split_resource(text).ok_or_else(|| Error::Name {
            name: text.to_owned(),
            expected: "a resource: write `<name>+<Kind>`",
        })?;
        Self::new(name, kind)
    }
}

/// Splits a resource as another writer stored it into name and Kind; neither is empty, and nothing
/// else is checked.
pub(crate) fn split_resource(text: &str) -> Option<(&str, &str)> {
    let (name, kind) = text.rsplit_once('+')?;
    (!name.is_empty() && !kind.is_empty()).then_some((name, kind))
}
