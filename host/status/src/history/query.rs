//! Queries for the history of an application.

use kindsight_api::problem::PartialProblem;

use crate::problem::{clipped, one_of};
use crate::query::StatusQuery;
use crate::transition::Transition;

const PARAMETERS: [&str; 6] = ["instance", "app", "cluster", "resource", "limit", "before"];

/// Number of transitions in an answer, if the query does not set it.
pub const HISTORY_LIMIT: usize = 100;

/// Maximum number of transitions in one answer.
pub const HISTORY_LIMIT_MAX: usize = 1000;

/// A query for the history of an application, syntactically valid. The names in it need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryQuery {
    /// The requested instance, and the filters by app, cluster and resource.
    pub selection: StatusQuery,
    /// Number of transitions in the answer, at most [`HISTORY_LIMIT_MAX`].
    pub limit: usize,
    /// Only transitions with a smaller id.
    pub before: Option<u64>,
}

impl Default for HistoryQuery {
    fn default() -> Self {
        Self {
            selection: StatusQuery::default(),
            limit: HISTORY_LIMIT,
            before: None,
        }
    }
}

impl HistoryQuery {
    /// Parses a query from its decoded parameters, in the order of the URL and with repetitions.
    ///
    /// # Errors
    /// One [`PartialProblem`] for each invalid parameter.
    pub fn parse<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<Self, Vec<PartialProblem>>
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        let mut own = Own::default();
        let pairs = pairs.into_iter();
        let selection: Vec<(K, V)> = pairs
            .filter(|(key, value)| own.passes(key.as_ref(), value.as_ref()))
            .collect();
        let selection = StatusQuery::parse(selection).unwrap_or_else(|problems| {
            own.problems.extend(problems);
            StatusQuery::default()
        });
        if !own.problems.is_empty() {
            return Err(own.problems);
        }
        Ok(Self {
            selection,
            limit: own.limit.unwrap_or(HISTORY_LIMIT),
            before: own.before,
        })
    }

    /// Returns whether the filters select a transition.
    pub(super) fn selects(&self, transition: &Transition) -> bool {
        let StatusQuery {
            apps,
            clusters,
            resources,
            ..
        } = &self.selection;
        match &transition.resource {
            None => apps.is_empty() && clusters.is_empty() && resources.is_empty(),
            Some(resource) => {
                (apps.is_empty() || apps.contains(&*resource.app))
                    && (clusters.is_empty() || clusters.contains(&resource.cluster))
                    && (resources.is_empty() || resources.contains(&*resource.name))
            }
        }
    }
}

/// Parameters that a status query does not have.
#[derive(Default)]
struct Own {
    limit: Option<usize>,
    before: Option<u64>,
    problems: Vec<PartialProblem>,
}

impl Own {
    /// Reads a parameter. Returns true, without reading it, if a status query also has this parameter.
    fn passes(&mut self, key: &str, value: &str) -> bool {
        match key {
            "instance" if value.is_empty() => {
                self.problem(key, "it has no value", "the id of an instance");
            }
            "instance" | "app" | "cluster" | "resource" => return true,
            "limit" if self.limit.is_some() => self.twice(key),
            "before" if self.before.is_some() => self.twice(key),
            "limit" => {
                let limit = value.parse().ok();
                self.limit = limit.filter(|limit| (1..=HISTORY_LIMIT_MAX).contains(limit));
                if self.limit.is_none() {
                    let detail = format!("`{}` is not a number of transitions", clipped(value));
                    self.problem(key, &detail, &format!("1 to {HISTORY_LIMIT_MAX}"));
                }
            }
            "before" => {
                self.before = value.parse().ok();
                if self.before.is_none() {
                    let detail = format!("`{}` is not the id of a transition", clipped(value));
                    self.problem(key, &detail, "`next` of the previous page");
                }
            }
            _ => self.problem(key, "unknown parameter", &one_of(PARAMETERS)),
        }
        false
    }

    fn twice(&mut self, key: &str) {
        self.problem(key, "it is given more than once", "one value");
    }

    fn problem(&mut self, key: &str, detail: &str, expected: &str) {
        let problem = PartialProblem::new(clipped(key), detail, expected);
        self.problems.push(problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Instance;

    #[test]
    fn every_problem_is_listed() {
        let pairs = [
            ("limit", "0"),
            ("before", "x"),
            ("type", "cluster"),
            ("app", "-"),
            ("instance", ""),
        ];
        let problems = HistoryQuery::parse(pairs).unwrap_err();
        let named: Vec<_> = problems.iter().map(|problem| &*problem.parameter).collect();
        assert_eq!(named, ["limit", "before", "type", "instance", "app"]);
        assert!(problems[2].expected.contains("`before`"), "{problems:?}");
        let twice = HistoryQuery::parse([("limit", "1"), ("limit", "2")]).unwrap_err();
        assert!(twice[0].detail.contains("more than once"), "{twice:?}");
    }

    #[test]
    fn a_query_without_parameters_asks_for_the_newest() {
        let none: [(&str, &str); 0] = [];
        assert_eq!(HistoryQuery::parse(none), Ok(HistoryQuery::default()));
        let asked = HistoryQuery::parse([("limit", "1000"), ("before", "7"), ("instance", "9")]);
        let asked = asked.unwrap();
        assert_eq!((asked.limit, asked.before), (1000, Some(7)));
        assert_eq!(asked.selection.instance, Instance::Of("9".parse().unwrap()));
    }
}
