//! Queries for lists of applications.

use std::collections::BTreeSet;
use std::fmt;

use kindsight_api::problem::PartialProblem;
use kindsight_model::{ClusterName, DigName, Phase, is_name};

use crate::problem::{clipped, one_of};
use crate::query::cluster_expected;

const PARAMETERS: [&str; 3] = ["name", "state", "cluster"];

/// A query for a list of applications, syntactically valid. The names in it need not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApplicationQuery {
    /// Only applications with this name; `None` for all.
    pub(super) name: Option<ShortName>,
    /// Only applications in these phases; empty for all.
    pub(super) phases: BTreeSet<Phase>,
    /// Only applications in these clusters; empty for all.
    pub(super) clusters: BTreeSet<ClusterName>,
}

impl ApplicationQuery {
    /// Parses a query from its decoded parameters, in the order of the URL and with repetitions.
    ///
    /// # Errors
    /// One [`PartialProblem`] for each invalid parameter, in the order of the parameters.
    pub fn parse<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<Self, Vec<PartialProblem>>
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        let mut query = Self::default();
        let mut problems = Vec::new();
        for (key, value) in pairs {
            problems.extend(query.read(key.as_ref(), value.as_ref()).err());
        }
        if problems.is_empty() {
            Ok(query)
        } else {
            Err(problems)
        }
    }

    fn read(&mut self, key: &str, value: &str) -> Result<(), PartialProblem> {
        let problem = |detail: String, expected: String| {
            Err(PartialProblem::new(clipped(key), detail, expected))
        };
        match key {
            "name" if self.name.is_some() => problem(
                "it is given more than once".to_owned(),
                "one value".to_owned(),
            ),
            "name" => {
                self.name = ShortName::parse(value);
                if self.name.is_none() {
                    let detail = format!("`{}` is not the name of an application", clipped(value));
                    return problem(detail, ShortName::EXPECTED.to_owned());
                }
                Ok(())
            }
            "state" => {
                let mut phases = Phase::ALL.iter().copied();
                let phase = phases.find(|phase| phase.as_str() == value || phase.state() == value);
                let Some(phase) = phase else {
                    let detail = format!("`{}` is not known", clipped(value));
                    return problem(detail, one_of(Phase::ALL));
                };
                self.phases.insert(phase);
                Ok(())
            }
            "cluster" => {
                let Ok(cluster) = value.parse() else {
                    let detail = format!("`{}` is not a cluster", clipped(value));
                    return problem(detail, cluster_expected(value).to_owned());
                };
                self.clusters.insert(cluster);
                Ok(())
            }
            _ => problem("unknown parameter".to_owned(), one_of(PARAMETERS)),
        }
    }

    /// Returns whether this application has the name of the query, or the query has no name.
    pub(super) fn is_about(&self, name: &DigName) -> bool {
        self.name.as_ref().is_none_or(|short| short.is_of(name))
    }
}

/// A full or shortened name of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ShortName {
    /// The found application, or the deployment intent group.
    One(String),
    /// Namespace and found application, or composite application and deployment intent group.
    Two(String, String),
    /// Its full name.
    Full(DigName),
}

impl ShortName {
    const EXPECTED: &str = "`application`, `namespace/application`, `composite-app/deployment-intent-group` or `project/composite-app/version/deployment-intent-group`";

    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        match *parts.as_slice() {
            [one] if is_name(one) => Some(Self::One(one.to_owned())),
            [first, second] if (is_name(first) || first == DigName::NONE) && is_name(second) => {
                Some(Self::Two(first.to_owned(), second.to_owned()))
            }
            [project, app, version, dig] => DigName::new(project, app, version, dig)
                .ok()
                .map(Self::Full),
            _ => None,
        }
    }

    /// The most specific part.
    pub(super) fn last_part(&self) -> &str {
        match self {
            Self::One(part) | Self::Two(_, part) => part,
            Self::Full(name) if name.is_found() => &name.composite_app,
            Self::Full(name) => &name.dig,
        }
    }

    fn is_of(&self, name: &DigName) -> bool {
        let (app, dig) = (&*name.composite_app, &*name.dig);
        match self {
            Self::One(part) => part == app || (part == dig && !name.is_found()),
            Self::Two(namespace, part) if name.is_found() => namespace == dig && part == app,
            Self::Two(first, second) => first == app && second == dig,
            Self::Full(full) => full == name,
        }
    }
}

impl fmt::Display for ShortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(part) => f.write_str(part),
            Self::Two(first, second) => write!(f, "{first}/{second}"),
            Self::Full(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests;
