//! Users, as the methods of authentication name them.

use std::fmt;

/// Maximum length of the name of a user or a group, in bytes, without the prefix of its method.
const NAME_BYTES_MAX: usize = 256;
/// Maximum number of groups of one user.
const GROUPS_MAX: usize = 1000;

/// A method of authentication. Its word is the prefix of the names of its users and groups, so that no method can
/// name a user of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// A token of the token file: `token:<name>`.
    Token,
    /// A client certificate: `certificate:<common name>`, with its organizations as groups.
    Certificate,
    /// A token of an OIDC issuer: `oidc:<claim>`.
    Oidc,
    /// A token that a Kubernetes API server reviewed: `kubernetes:<username>`.
    Kubernetes,
}

impl Method {
    /// The prefix of names, without the colon.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Certificate => "certificate",
            Self::Oidc => "oidc",
            Self::Kubernetes => "kubernetes",
        }
    }
}

/// An authenticated user. All names have the prefix of their [`Method`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    name: String,
    groups: Vec<String>,
}

/// The reason why names from a credential are not a user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    /// The name of the user or of a group is empty, too long, or has control characters.
    #[error("a name of a user or group has 1 to {NAME_BYTES_MAX} bytes without control characters")]
    Name,
    /// Too many groups.
    #[error("the user has {0} groups; at most {GROUPS_MAX} are read")]
    Groups(usize),
}

impl User {
    /// A user with the names that a method verified.
    ///
    /// # Errors
    /// [`UserError`] if a name is invalid or there are too many groups.
    pub fn new(method: Method, name: &str, groups: &[String]) -> Result<Self, UserError> {
        if groups.len() > GROUPS_MAX {
            return Err(UserError::Groups(groups.len()));
        }
        let groups = groups.iter().map(|group| prefixed(method, group));
        Ok(Self {
            name: prefixed(method, name)?,
            groups: groups.collect::<Result<_, _>>()?,
        })
    }

    /// The name with the prefix of its method, such as `oidc:alice`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The groups, each with the prefix of the method.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn prefixed(method: Method, name: &str) -> Result<String, UserError> {
    let is_valid = (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.contains(char::is_control);
    is_valid
        .then(|| format!("{}:{name}", method.as_str()))
        .ok_or(UserError::Name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_prefix_of_their_method() {
        let groups = ["ops".to_owned()];
        let user = User::new(Method::Oidc, "token:ci", &groups).unwrap();
        assert_eq!(user.name(), "oidc:token:ci");
        assert_eq!(user.groups(), ["oidc:ops"]);
    }

    #[test]
    fn invalid_names_are_refused() {
        let long = "a".repeat(NAME_BYTES_MAX + 1);
        for name in ["", "a\nb", "a\u{7f}", &long] {
            assert_eq!(User::new(Method::Token, name, &[]), Err(UserError::Name));
            let groups = [name.to_owned()];
            let user = User::new(Method::Token, "ci", &groups);
            assert_eq!(user, Err(UserError::Name));
        }
        let many = vec!["g".to_owned(); GROUPS_MAX + 1];
        let user = User::new(Method::Token, "ci", &many);
        assert_eq!(user, Err(UserError::Groups(GROUPS_MAX + 1)));
    }
}
