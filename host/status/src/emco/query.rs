//! Queries in EMCO's newer dialect, read as its handlers read them.

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
    /// The kind of subject that it is about.
    pub subject: EmcoSubject,
    /// The same query in words of our own, without an instance that cannot be one.
    pub selection: StatusQuery,
    /// True for `status`, false for `type`.
    pub(super) asks_status: bool,
    /// The instance as it is written.
    pub(super) instance: String,
}

impl EmcoQuery {
    /// Parses a query from its text in the URL and from its decoded parameters, in their order and with
    /// repetitions.
    ///
    /// Of a parameter with one value the first counts, and what is not known is ignored. A parameter without a
    /// value has the empty value. The caller limits the number of parameters.
    ///
    /// # Errors
    /// The first that is wrong, in the order in which EMCO checks.
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
        // A handler of logical clouds knows no `type`.
        let kind = match subject {
            EmcoSubject::LogicalCloud => None,
            _ => parameters.word("type", QueryType::ALL, QueryType::as_str)?,
        };
        let status = parameters.word("status", QueryStatus::ALL, QueryStatus::as_str)?;
        let default = (subject == EmcoSubject::LogicalCloud).then_some(QueryStatus::Ready);
        let status = status.or(default);
        let output = parameters.word("output", Output::ALL, Output::as_str)?;
        let id = instance.and_then(|it| it.parse().ok());
        let selection = StatusQuery {
            instance: id.map_or(Instance::Latest, Instance::Of),
            kind: status.map(kind_of).or(kind),
            output: output.unwrap_or_default(),
            apps: parameters.names("app", |it| is_name(it).then(|| it.to_owned()))?,
            clusters: parameters.names("cluster", |it| it.parse().ok())?,
            resources: parameters
                .names("resource", |it| is_resource_name(it).then(|| it.to_owned()))?,
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

    /// The error of a lookup of its subject in the read model.
    pub fn missing(&self, error: QueryError) -> EmcoError {
        EmcoError::of_lookup(error, self.subject, &self.instance)
    }

    /// The error of a path in which some part cannot be a name.
    pub fn no_name(&self, problems: &[PartialProblem]) -> EmcoError {
        let wrong = problems.first();
        EmcoError::NoSubject {
            subject: self.subject,
            text: wrong.map_or_else(String::new, |it| {
                format!("{}; expected {}", it.detail, it.expected)
            }),
        }
    }

    /// Checks that the instance can be one.
    pub(super) fn check_instance(&self) -> Result<(), EmcoError> {
        if self.instance.is_empty() || self.selection.instance != Instance::Latest {
            return Ok(());
        }
        Err(EmcoError::NoInstance(clipped(&self.instance).into_owned()))
    }
}

/// The type of our own that a status is.
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
        let pairs = self.0.iter().filter(move |(it, _)| *it == key);
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
        let known = words.iter().find(|it| word(**it) == value);
        known.copied().map(Some).ok_or(EmcoError::Value(key))
    }

    /// The values of a filter, all of which must be names.
    fn names<C: FromIterator<N>, N>(
        &self,
        key: &'static str,
        name: impl Fn(&str) -> Option<N>,
    ) -> Result<C, EmcoError> {
        // As its handler writes it.
        let told = if key == "resource" { "resources" } else { key };
        let names = self
            .all(key)
            .map(|it| name(it).ok_or(EmcoError::Filter(told)));
        names.collect()
    }

    /// The first list that is asked for. A handler of logical clouds lists no apps.
    fn listing(&self, subject: EmcoSubject) -> Option<Listing> {
        let lists = Listing::ALL.iter().copied();
        let mut lists =
            lists.filter(|it| *it != Listing::Apps || subject != EmcoSubject::LogicalCloud);
        lists.find(|it| self.first(it.as_str()).is_some())
    }
}

/// Checks the percent-encoding of a query, and that no `;` separates its parameters.
fn check_encoding(text: &str) -> Result<(), EmcoError> {
    if text.contains(';') {
        let text = "invalid semicolon separator in query".to_owned();
        return Err(EmcoError::Encoding(text));
    }
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        let digits: String = after.chars().take(2).collect();
        if digits.len() != 2 || !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
            let text = format!("invalid URL escape {:?}", format!("%{digits}"));
            return Err(EmcoError::Encoding(text));
        }
        rest = after;
    }
    Ok(())
}
