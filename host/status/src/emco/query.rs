//! Queries in EMCO's newer dialect, parsed by the rules of EMCO's handlers.

use kindsight_api::emco::QueryStatus;
use kindsight_api::problem::PartialProblem;
use kindsight_api::status::{Listing, Output, QueryType};
use kindsight_model::is_name;

use super::{EmcoError, EmcoSubject};
use crate::problem::{QueryError, clipped};
use crate::query::{Instance, StatusQuery, is_resource_name};

/// One query in EMCO's newer dialect, syntactically valid. The names in it need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmcoQuery {
    /// The kind of subject.
    pub subject: EmcoSubject,
    /// The equivalent query in the own dialect, without an invalid instance.
    pub selection: StatusQuery,
    /// True for `status`, false for `type`.
    pub(super) asks_status: bool,
    /// The instance as written in the query.
    pub(super) instance: String,
}

impl EmcoQuery {
    /// Parses a query from its text in the URL and from its decoded parameters, in their order and with
    /// repetitions.
    ///
    /// If a parameter with one value is repeated, the first value counts. Unknown parameters are ignored. A
    /// parameter without a value has the empty value. The caller limits the number of parameters.
    ///
    /// # Errors
    /// The first problem, in the order of EMCO's checks.
    pub fn parse<K, V>(
        subject: EmcoSubject,
        text: &str,
        pairs: &[(K, V)],
    ) -> Result<Self, EmcoError>
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        check_encoding(text)?;
        let pairs = pairs.iter();
        let pairs: Vec<_> = pairs
            .map(|(key, value)| (key.as_ref(), value.as_ref()))
            .collect();
        let parameters = Parameters(&pairs);
        let instance = parameters.first("instance");
        if subject == EmcoSubject::Group && instance == Some("") {
            return Err(EmcoError::Value("instance"));
        }
        // EMCO's handler for logical clouds does not support `type`.
        let kind = match subject {
            EmcoSubject::LogicalCloud => None,
            _ => parameters.word("type", QueryType::ALL, QueryType::as_str)?,
        };
        let status = parameters.word("status", QueryStatus::ALL, QueryStatus::as_str)?;
        let default = (subject == EmcoSubject::LogicalCloud).then_some(QueryStatus::Ready);
        let status = status.or(default);
        let output = parameters.word("output", Output::ALL, Output::as_str)?;
        let id = instance.and_then(|id| id.parse().ok());
        let selection = StatusQuery {
            instance: id.map_or(Instance::Latest, Instance::Of),
            kind: status.map(kind_of).or(kind),
            output: output.unwrap_or_default(),
            apps: parameters.names("app", |app| is_name(app).then(|| app.to_owned()))?,
            clusters: parameters.names("cluster", |cluster| cluster.parse().ok())?,
            resources: parameters.names("resource", |name| {
                is_resource_name(name).then(|| name.to_owned())
            })?,
            listing: parameters.listing(subject),
            explain: false,
        };
        Ok(Self {
            subject,
            selection,
            asks_status: status.is_some(),
            instance: instance.unwrap_or_default().to_owned(),
        })
    }

    /// The error for a subject that is not in the read model.
    pub fn missing(&self, error: QueryError) -> EmcoError {
        EmcoError::of_lookup(error, self.subject, &self.instance)
    }

    /// The error for a path with an invalid name.
    pub fn no_name(&self, problems: &[PartialProblem]) -> EmcoError {
        let wrong = problems.first();
        EmcoError::NoSubject {
            subject: self.subject,
            text: wrong.map_or_else(String::new, |problem| {
                format!("{}; expected {}", problem.detail, problem.expected)
            }),
        }
    }

    /// Checks that the instance is a valid id.
    pub(super) fn check_instance(&self) -> Result<(), EmcoError> {
        if self.instance.is_empty() || self.selection.instance != Instance::Latest {
            return Ok(());
        }
        Err(EmcoError::NoInstance(clipped(&self.instance).into_owned()))
    }
}

/// The query type of the own dialect for a status.
fn kind_of(status: QueryStatus) -> QueryType {
    match status {
        QueryStatus::Ready => QueryType::Cluster,
        QueryStatus::Deployed => QueryType::Rsync,
    }
}

/// Decoded parameters.
struct Parameters<'p>(&'p [(&'p str, &'p str)]);

impl<'p> Parameters<'p> {
    fn all(&self, key: &str) -> impl Iterator<Item = &'p str> {
        let pairs = self.0.iter().filter(move |(name, _)| *name == key);
        pairs.map(|(_, value)| *value)
    }

    fn first(&self, key: &str) -> Option<&'p str> {
        self.all(key).next()
    }

    /// The first value of a parameter, which must be one of these words.
    fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, EmcoError> {
        let Some(value) = self.first(key) else {
            return Ok(None);
        };
        let known = words.iter().find(|known| word(**known) == value);
        known.copied().map(Some).ok_or(EmcoError::Value(key))
    }

    /// The values of a filter. Every value must be a name.
    fn names<C: FromIterator<N>, N>(
        &self,
        key: &'static str,
        name: impl Fn(&str) -> Option<N>,
    ) -> Result<C, EmcoError> {
        // The spelling of EMCO's handler.
        let shown = if key == "resource" { "resources" } else { key };
        let names = self
            .all(key)
            .map(|value| name(value).ok_or(EmcoError::Filter(shown)));
        names.collect()
    }

    /// The first requested list. EMCO's handler for logical clouds does not list apps.
    fn listing(&self, subject: EmcoSubject) -> Option<Listing> {
        let lists = Listing::ALL.iter().copied();
        let mut lists =
            lists.filter(|list| *list != Listing::Apps || subject != EmcoSubject::LogicalCloud);
        lists.find(|list| self.first(list.as_str()).is_some())
    }
}

/// Checks the percent-encoding of a query, and that it does not contain `;`.
fn check_encoding(text: &str) -> Result<(), EmcoError> {
    if text.contains(';') {
        let text = "invalid semicolon separator in query".to_owned();
        return Err(EmcoError::Encoding(text));
    }
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        let digits: String = after.chars().take(2).collect();
        if digits.len() != 2 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            let text = format!("invalid URL escape {:?}", format!("%{digits}"));
            return Err(EmcoError::Encoding(text));
        }
        rest = after;
    }
    Ok(())
}
