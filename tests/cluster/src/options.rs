//! Settings of a cluster.

use crate::pods::Behaviour;

/// A user with its own token. RBAC determines its permissions.
#[derive(Debug, Clone)]
pub struct User {
    /// The name of the user.
    pub name: String,
    /// The groups of the user.
    pub groups: Vec<String>,
    /// The bearer token of the user: letters and digits.
    pub token: String,
}

/// Parts and settings of a cluster.
#[derive(Debug, Clone)]
pub struct Options {
    pub(crate) name: String,
    pub(crate) with_controllers: bool,
    pub(crate) nodes: usize,
    pub(crate) users: Vec<User>,
    pub(crate) arguments: Vec<String>,
    pub(crate) behaviours: Vec<(String, String, Behaviour)>,
}

impl Options {
    /// A complete cluster: API server, controllers, scheduler, and one fake node. The name is also
    /// the prefix of its objects in etcd: a cluster that is started with the same name and the same
    /// etcd finds the objects again.
    pub fn new(name: &str) -> Self {
        Self {
            with_controllers: true,
            nodes: 1,
            ..Self::api_server(name)
        }
    }

    /// Only an API server. It starts faster, and is sufficient if a test writes every status
    /// itself.
    pub fn api_server(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            with_controllers: false,
            nodes: 0,
            users: Vec::new(),
            arguments: Vec::new(),
            behaviours: Vec::new(),
        }
    }

    /// Sets the number of fake nodes. With 0, all Pods remain Pending.
    #[must_use]
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// Adds a user in addition to the administrator.
    #[must_use]
    pub fn user(mut self, name: &str, groups: &[&str], token: &str) -> Self {
        self.users.push(User {
            name: name.to_owned(),
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
            token: token.to_owned(),
        });
        self
    }

    /// Adds an argument of the API server, such as `--min-request-timeout=2`.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Sets the behaviour of Pods with a label. Without it, a Pod becomes Ready unless it has a
    /// [`BEHAVIOUR_LABEL`](crate::BEHAVIOUR_LABEL).
    #[must_use]
    pub fn pods(mut self, label: &str, value: &str, behaviour: Behaviour) -> Self {
        let rule = (label.to_owned(), value.to_owned(), behaviour);
        self.behaviours.push(rule);
        self
    }
}
