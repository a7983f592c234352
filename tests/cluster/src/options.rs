//! Settings of a cluster.

use crate::pods::Behaviour;

/// A user with a token of its own. RBAC decides what it may do.
#[derive(Debug, Clone)]
pub struct User {
    /// Its name.
    pub name: String,
    /// Its groups.
    pub groups: Vec<String>,
    /// Its bearer token: letters and digits.
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
    /// A whole cluster: API server, controllers, scheduler, and one fake node. The name is also the
    /// prefix of its objects in etcd: what starts under the same name over the same etcd finds them.
    pub fn new(name: &str) -> Self {
        Self {
            with_controllers: true,
            nodes: 1,
            ..Self::api_server(name)
        }
    }

    /// An API server alone: quicker, and enough where a test writes every status itself.
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

    /// Number of fake nodes; with 0, no Pod leaves Pending.
    #[must_use]
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// One more user, beside the administrator.
    #[must_use]
    pub fn user(mut self, name: &str, groups: &[&str], token: &str) -> Self {
        self.users.push(User {
            name: name.to_owned(),
            groups: groups.iter().map(|&it| it.to_owned()).collect(),
            token: token.to_owned(),
        });
        self
    }

    /// One more argument of the API server, such as `--min-request-timeout=2`.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Behaviour of Pods with a label. Without it, a Pod becomes Ready unless its own
    /// [`BEHAVIOUR_LABEL`](crate::BEHAVIOUR_LABEL) says otherwise.
    #[must_use]
    pub fn pods(mut self, label: &str, value: &str, behaviour: Behaviour) -> Self {
        let rule = (label.to_owned(), value.to_owned(), behaviour);
        self.behaviours.push(rule);
        self
    }
}
