//! Parses a query, and continues after a problem so that all problems are reported at once.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use kindsight_api::problem::PartialProblem;
use kindsight_api::status::{Listing, Output, QueryType};
use kindsight_model::is_name;

use super::{Instance, RESOURCE_NAME_BYTES_MAX, StatusQuery, not_a_name};
use crate::problem::{clipped, one_of};

const PARAMETERS: [&str; 10] = [
    "instance",
    "type",
    "output",
    "app",
    "cluster",
    "resource",
    "apps",
    "clusters",
    "resources",
    "explain",
];

pub(super) fn parse<K, V>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Result<StatusQuery, Vec<PartialProblem>>
where
    K: AsRef<str>,
    V: AsRef<str>,
{
    let mut parser = Parser::default();
    for (key, value) in pairs {
        parser.read(key.as_ref(), value.as_ref());
    }
    parser.finish()
}

#[derive(Default)]
struct Parser {
    query: StatusQuery,
    kind: Option<QueryType>,
    /// True after the older `output=rsync`, which sets `output` and `type`.
    is_older_rsync: bool,
    /// Parameters seen so far that may not be repeated.
    seen: BTreeSet<&'static str>,
    /// Parameters whose repetition was already reported.
    repeated: BTreeSet<&'static str>,
    problems: Vec<PartialProblem>,
}

impl Parser {
    fn read(&mut self, key: &str, value: &str) {
        match key {
            "app" => self.app(value),
            "cluster" => self.cluster(value),
            "resource" => self.resource(value),
            "instance" if self.is_first("instance") => self.instance(value),
            "type" if self.is_first("type") => self.kind(value),
            "output" if self.is_first("output") => self.output(value),
            "explain" if self.is_first("explain") => self.explain(value),
            "apps" => self.listing(Listing::Apps),
            "clusters" => self.listing(Listing::Clusters),
            "resources" => self.listing(Listing::Resources),
            // A repetition, which `is_first` has reported.
            "instance" | "type" | "output" | "explain" => {}
            unknown => self.problem(unknown, "unknown parameter", one_of(PARAMETERS)),
        }
    }

    fn finish(mut self) -> Result<StatusQuery, Vec<PartialProblem>> {
        let older = self.is_older_rsync.then_some(QueryType::Rsync);
        if let (Some(older), Some(kind)) = (older, self.kind)
            && older != kind
        {
            let detail =
                format!("`rsync` is the older way to say `type={older}`, but `type` is `{kind}`");
            let expected = format!("`summary`, `all` or `detail` with `type={kind}`");
            self.problem("output", detail, expected);
        }
        if self.query.listing.is_some() && self.query.instance == Instance::List {
            let detail = "a list of instances and a list of names cannot be requested together";
            self.problem(
                "instance",
                detail,
                "the id of an instance, or no `instance`",
            );
        }
        self.query.kind = self.kind.or(older);
        if self.problems.is_empty() {
            Ok(self.query)
        } else {
            Err(self.problems)
        }
    }

    /// Requests a list of names. If a query requests several lists, the first in [`Listing::ALL`] is
    /// answered.
    fn listing(&mut self, listing: Listing) {
        let asked = self.query.listing;
        let asked = asked.map_or(listing, |earlier| earlier.min(listing));
        self.query.listing = Some(asked);
    }

    fn is_first(&mut self, key: &'static str) -> bool {
        let first = self.seen.insert(key);
        if !first && self.repeated.insert(key) {
            self.problem(key, "it is given more than once", "one value");
        }
        first
    }

    /// Parses `instance`. An empty value requests the list of instances.
    fn instance(&mut self, value: &str) {
        self.query.instance = match value.parse() {
            Ok(id) => Instance::Of(id),
            Err(_) if value.is_empty() => Instance::List,
            Err(_) => {
                let detail = format!("`{}` is not an AppContext id", clipped(value));
                let expected = "a decimal number below 2^63, or no value to list the instances";
                return self.problem("instance", detail, expected);
            }
        };
    }

    fn kind(&mut self, value: &str) {
        let mut known = QueryType::ALL.iter().copied();
        match known.find(|kind| kind.as_str() == value) {
            Some(kind) => self.kind = Some(kind),
            None => self.unknown_value("type", value, QueryType::ALL),
        }
    }

    fn output(&mut self, value: &str) {
        let words = Output::ALL.iter().map(|&output| (output.as_str(), output));
        let mut known = words.chain(Output::OLDER);
        match known.find(|(word, _)| *word == value) {
            Some((word, output)) => {
                self.query.output = output;
                self.is_older_rsync = word == "rsync";
            }
            None => self.unknown_value("output", value, Output::ALL),
        }
    }

    fn explain(&mut self, value: &str) {
        match bool::from_str(value) {
            Ok(explain) => self.query.explain = explain,
            Err(_) => self.unknown_value("explain", value, [true, false]),
        }
    }

    fn app(&mut self, value: &str) {
        if is_name(value) {
            self.query.apps.insert(value.to_owned());
        } else {
            self.problems.push(not_a_name("app", value));
        }
    }

    fn cluster(&mut self, value: &str) {
        if let Ok(cluster) = value.parse() {
            self.query.clusters.insert(cluster);
        } else {
            let detail = format!("`{}` is not a cluster", clipped(value));
            self.problem("cluster", detail, cluster_expected(value));
        }
    }

    fn resource(&mut self, value: &str) {
        if is_resource_name(value) {
            self.query.resources.insert(value.to_owned());
        } else {
            let detail = format!("`{}` is not the name of a resource", clipped(value));
            let expected = format!(
                "1 to {RESOURCE_NAME_BYTES_MAX} characters without spaces, `/` or `%`; the name only, not its Kind"
            );
            self.problem("resource", detail, expected);
        }
    }

    fn unknown_value(
        &mut self,
        key: &str,
        value: &str,
        known: impl IntoIterator<Item = impl Display>,
    ) {
        let detail = format!("`{}` is not known", clipped(value));
        self.problem(key, detail, one_of(known));
    }

    fn problem(&mut self, key: &str, detail: impl Into<String>, expected: impl Into<String>) {
        let problem = PartialProblem::new(clipped(key), detail, expected);
        self.problems.push(problem);
    }
}

/// The valid form of a cluster. The text explains a common mistake: a `+` in a URL that is not encoded
/// becomes a space.
pub(crate) fn cluster_expected(value: &str) -> &'static str {
    if value.contains(' ') {
        "`provider+name`; in a URL a `+` means a space, write `provider%2Bname`"
    } else {
        "`provider+name`, which in a URL is written `provider%2Bname`"
    }
}

/// Returns whether `value` can be the name of an object. Follows the rule for RBAC objects, the widest
/// in Kubernetes: it allows `:`.
pub(crate) fn is_resource_name(value: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'%');
    (1..=RESOURCE_NAME_BYTES_MAX).contains(&value.len())
        && value.bytes().all(allowed)
        && !matches!(value, "." | "..")
}
