//! Roles, and the file that binds them to users and groups.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use kindsight_model::{
    NamePattern, NamePatternError, SubjectPattern, SubjectPatternError, SubjectSet,
};
use serde::Deserialize;

use crate::files::{self, AccessFileError};
use crate::toml_error::TomlError;
use crate::user::User;

/// Maximum number of bindings in a file.
const BINDINGS_MAX: usize = 1000;
/// Maximum number of names and patterns of one binding, in each list.
const BINDING_ITEMS_MAX: usize = 1000;
/// The name of a user in a binding that means every authenticated user.
const EVERY_USER: &str = "*";

/// A role. Roles do not include each other: a user who needs two has two bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Sees status and history.
    Viewer,
    /// Changes interpreters, settings and clusters. Not limited to subjects.
    Operator,
    /// Approves applications.
    Approver,
    /// Instantiates, updates and terminates applications.
    Deployer,
    /// Pushes the reports on clusters. Each binding names the clusters.
    Agent,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 5] = [
        Self::Viewer,
        Self::Operator,
        Self::Approver,
        Self::Deployer,
        Self::Agent,
    ];

    /// The word in bindings and errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Approver => "approver",
            Self::Deployer => "deployer",
            Self::Agent => "agent",
        }
    }
}

/// The subjects for which a user has each role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights {
    viewer: SubjectSet,
    operator: SubjectSet,
    approver: SubjectSet,
    deployer: SubjectSet,
    agent: SubjectSet,
}

impl Rights {
    /// Every role for everything: the rights of each client without access control.
    pub fn all() -> Self {
        Self {
            viewer: SubjectSet::Everything,
            operator: SubjectSet::Everything,
            approver: SubjectSet::Everything,
            deployer: SubjectSet::Everything,
            agent: SubjectSet::Everything,
        }
    }

    /// The subjects for which the user has a role.
    pub fn subjects(&self, role: Role) -> &SubjectSet {
        match role {
            Role::Viewer => &self.viewer,
            Role::Operator => &self.operator,
            Role::Approver => &self.approver,
            Role::Deployer => &self.deployer,
            Role::Agent => &self.agent,
        }
    }

    /// The roles that the user has for at least one subject.
    pub fn roles(&self) -> impl Iterator<Item = Role> {
        let is_held = |role: &Role| !self.subjects(*role).is_nothing();
        Role::ALL.into_iter().filter(is_held)
    }

    fn add(&mut self, binding: &Binding) {
        let of = match binding.role {
            Role::Viewer => &mut self.viewer,
            Role::Operator => &mut self.operator,
            Role::Approver => &mut self.approver,
            Role::Deployer => &mut self.deployer,
            Role::Agent => &mut self.agent,
        };
        *of = std::mem::take(of).union(&binding.subjects);
    }
}

/// The bindings of a role file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleBindings(Vec<Binding>);

/// One binding: these users and groups have this role for these subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Binding {
    role: Role,
    users: Vec<String>,
    groups: Vec<String>,
    subjects: SubjectSet,
}

/// The reason why a role file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RoleFileError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] AccessFileError),
    /// The file is not valid TOML, or has other members.
    #[error("{}: {error}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The position and the problem.
        error: TomlError,
    },
    /// A binding is invalid.
    #[error("{}: binding {position}: {error}", path.display())]
    Binding {
        /// The file.
        path: PathBuf,
        /// The position of the binding in the file, from 1.
        position: usize,
        /// The problem.
        error: BindingError,
    },
    /// The file has too many bindings.
    #[error("{} has {count} bindings; at most {BINDINGS_MAX} are read", path.display())]
    Count {
        /// The file.
        path: PathBuf,
        /// Their number.
        count: usize,
    },
}

/// The reason why a binding is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// The binding names no user and no group.
    #[error(
        "`users` and `groups` are empty: name a user as `token:NAME`, `oidc:NAME`, `kubernetes:NAME` or `certificate:NAME`, or `*` for every user"
    )]
    NoUser,
    /// A user or a group without the prefix of a method.
    #[error(
        "`{0}` has no method: write `token:NAME`, `oidc:NAME`, `kubernetes:NAME` or `certificate:NAME`"
    )]
    NoMethod(String),
    /// A role that is not limited to subjects has patterns.
    #[error("the role `operator` cannot be limited to applications, clusters or logical clouds")]
    Limited,
    /// An agent without clusters, or with other subjects.
    #[error("the role `agent` is for clusters: name them in `clusters`, and no other subjects")]
    NoCluster,
    /// Too many items.
    #[error("a list has {0} items; at most {BINDING_ITEMS_MAX} are read")]
    Items(usize),
    /// A pattern is invalid.
    #[error(transparent)]
    Pattern(#[from] SubjectPatternError),
}

impl From<NamePatternError> for BindingError {
    fn from(error: NamePatternError) -> Self {
        Self::Pattern(error.into())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleDocument {
    #[serde(default)]
    binding: Vec<BindingDocument>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct BindingDocument {
    role: Role,
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    applications: Option<Vec<String>>,
    clusters: Option<Vec<String>>,
    logical_clouds: Option<Vec<String>>,
}

impl RoleBindings {
    /// Reads a role file.
    ///
    /// # Errors
    /// [`RoleFileError`] with the file, the position and the correct form. One invalid binding makes the file
    /// invalid, so that a typing error never removes only a part of the rights.
    pub fn read(path: &Path) -> Result<Self, RoleFileError> {
        let text = files::read(path)?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, RoleFileError> {
        let document: RoleDocument =
            toml::from_str(text).map_err(|error| RoleFileError::Syntax {
                path: path.to_owned(),
                error: TomlError::new(&error, text),
            })?;
        if document.binding.len() > BINDINGS_MAX {
            return Err(RoleFileError::Count {
                path: path.to_owned(),
                count: document.binding.len(),
            });
        }
        let bindings = document.binding.into_iter().zip(1..);
        let bindings = bindings.map(|(binding, position)| {
            Binding::try_from(binding).map_err(|error| RoleFileError::Binding {
                path: path.to_owned(),
                position,
                error,
            })
        });
        Ok(Self(bindings.collect::<Result<_, _>>()?))
    }

    /// The rights of a user: the union of all bindings that name the user or one of the user's groups.
    pub fn rights_of(&self, user: &User) -> Rights {
        let mut rights = Rights::default();
        let bindings = self.0.iter();
        bindings
            .filter(|binding| binding.names(user))
            .for_each(|binding| rights.add(binding));
        rights
    }
}

impl Binding {
    fn names(&self, user: &User) -> bool {
        let names_user = |name: &String| name == EVERY_USER || name == user.name();
        let names_group = |group: &String| user.groups().contains(group);
        self.users.iter().any(names_user) || self.groups.iter().any(names_group)
    }
}

impl TryFrom<BindingDocument> for Binding {
    type Error = BindingError;

    fn try_from(document: BindingDocument) -> Result<Self, BindingError> {
        if document.users.is_empty() && document.groups.is_empty() {
            return Err(BindingError::NoUser);
        }
        check_names(&document.users, |name| name == EVERY_USER)?;
        check_names(&document.groups, |_| false)?;
        let lists = [
            &document.applications,
            &document.clusters,
            &document.logical_clouds,
        ];
        let is_limited = lists.iter().any(|list| list.is_some());
        if is_limited && document.role == Role::Operator {
            return Err(BindingError::Limited);
        }
        let [applications, clusters, logical_clouds] = lists.map(Option::is_some);
        let is_for_clusters = clusters && !applications && !logical_clouds;
        if document.role == Role::Agent && !is_for_clusters {
            return Err(BindingError::NoCluster);
        }
        let subjects = if is_limited {
            SubjectSet::matching(patterns(&document)?)
        } else {
            SubjectSet::Everything
        };
        Ok(Self {
            role: document.role,
            users: document.users,
            groups: document.groups,
            subjects,
        })
    }
}

fn check_names(names: &[String], is_special: impl Fn(&str) -> bool) -> Result<(), BindingError> {
    check_count(names)?;
    let prefixes = ["token:", "oidc:", "kubernetes:", "certificate:"];
    let has_method = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let mut wrong = names
        .iter()
        .filter(|name| !has_method(name) && !is_special(name));
    wrong
        .next()
        .map_or(Ok(()), |name| Err(BindingError::NoMethod(name.clone())))
}

fn check_count(items: &[String]) -> Result<(), BindingError> {
    if items.len() > BINDING_ITEMS_MAX {
        return Err(BindingError::Items(items.len()));
    }
    Ok(())
}

fn patterns(document: &BindingDocument) -> Result<Vec<SubjectPattern>, BindingError> {
    let mut patterns = Vec::new();
    patterns.extend(parsed(
        document.applications.as_deref(),
        SubjectPattern::Application,
    )?);
    patterns.extend(parsed(
        document.clusters.as_deref(),
        |pattern: NamePattern| SubjectPattern::Cluster(pattern),
    )?);
    patterns.extend(parsed(
        document.logical_clouds.as_deref(),
        SubjectPattern::LogicalCloud,
    )?);
    Ok(patterns)
}

fn parsed<P: FromStr<Err = E>, E>(
    texts: Option<&[String]>,
    pattern: impl Fn(P) -> SubjectPattern,
) -> Result<Vec<SubjectPattern>, BindingError>
where
    BindingError: From<E>,
{
    let texts = texts.unwrap_or_default();
    check_count(texts)?;
    let patterns = texts.iter().map(|text| Ok(pattern(text.parse::<P>()?)));
    patterns.collect()
}

#[cfg(test)]
mod tests {
    use kindsight_model::DigName;

    use super::*;
    use crate::user::Method;

    fn parse(text: &str) -> Result<RoleBindings, RoleFileError> {
        RoleBindings::parse(Path::new("roles.toml"), text)
    }

    fn user(name: &str, groups: &[&str]) -> User {
        let groups: Vec<String> = groups.iter().map(|&group| group.to_owned()).collect();
        User::new(Method::Oidc, name, &groups).unwrap()
    }

    #[test]
    fn rights_are_the_union_of_all_bindings_of_a_user_and_the_groups() {
        let bindings = parse(
            r#"
            [[binding]]
            role = "viewer"
            users = ["oidc:alice"]
            applications = ["web/shop"]

            [[binding]]
            role = "viewer"
            groups = ["oidc:edge"]
            clusters = ["edge+*"]

            [[binding]]
            role = "operator"
            groups = ["oidc:platform"]
            "#,
        )
        .unwrap();
        let shop = DigName::found("shop", Some("web")).unwrap();
        let edge01 = "edge+e1".parse().unwrap();
        let rights = bindings.rights_of(&user("alice", &["edge"]));
        let viewer = rights.subjects(Role::Viewer);
        assert!(viewer.has_application(&shop) && viewer.has_cluster(&edge01));
        assert!(!viewer.is_everything());
        assert!(rights.subjects(Role::Operator).is_nothing());
        let rights = bindings.rights_of(&user("bob", &["platform"]));
        assert!(rights.subjects(Role::Operator).is_everything());
        assert!(rights.subjects(Role::Viewer).is_nothing());
        assert_eq!(bindings.rights_of(&user("eve", &[])), Rights::default());
    }

    #[test]
    fn a_binding_without_patterns_is_for_everything_and_empty_patterns_are_for_nothing() {
        let viewer = |limits: &str| {
            let text = format!("[[binding]]\nrole = \"viewer\"\nusers = [\"*\"]\n{limits}");
            let rights = parse(&text).unwrap().rights_of(&user("alice", &[]));
            rights.subjects(Role::Viewer).clone()
        };
        assert!(viewer("").is_everything());
        assert!(viewer("applications = []").is_nothing());
    }

    #[test]
    fn an_invalid_file_is_refused_with_the_position_and_the_right_form() {
        let head = "[[binding]]\nrole = \"viewer\"\n";
        for (text, parts) in [
            ("x = 1".to_owned(), ["roles.toml", "unknown field"]),
            (
                head.to_owned(),
                ["binding 1", "`users` and `groups` are empty"],
            ),
            (
                format!("{head}users = [\"alice\"]"),
                ["`alice`", "oidc:NAME"],
            ),
            (format!("{head}groups = [\"*\"]"), ["`*`", "oidc:NAME"]),
            (
                format!("{head}users = [\"*\"]\napplications = [\"shop\"]"),
                ["`shop`", "namespace/application"],
            ),
            (
                "[[binding]]\nrole = \"operator\"\nusers = [\"*\"]\nclusters = []".to_owned(),
                ["binding 1", "cannot be limited"],
            ),
            (
                "[[binding]]\nrole = \"agent\"\nusers = [\"*\"]".to_owned(),
                ["binding 1", "name them in `clusters`"],
            ),
            (
                "[[binding]]\nrole = \"agent\"\nusers = [\"*\"]\nclusters = [\"p+a\"]\napplications = []"
                    .to_owned(),
                ["binding 1", "no other subjects"],
            ),
            (
                "[[binding]]\nrole = \"admin\"\nusers = [\"*\"]".to_owned(),
                ["`admin`", "`viewer`"],
            ),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{error}");
            }
        }
    }
}
