//! Parameters of status queries.

use kindsight_model::words;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{IntoParams, ToSchema};

/// Parameters of a status query. Any other parameter is an error.
// Only serialized: the server lists all errors of a query, which a derived deserializer cannot do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatusParameters {
    /// Id of the AppContext of one instantiation. The default is the latest instantiation. Without
    /// a value, the answer is a list of the instances instead of a status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "2621114006130701074")]
    pub instance: Option<String>,
    /// The requested status: `rsync`, the results of sending the resources to their clusters,
    /// `cluster`, the state of the resources as the clusters report it, or `all`, both. An answer
    /// to `type=all` has every member of the answers to `type=rsync` and `type=cluster`. The
    /// default for an application that was found in clusters is `cluster`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub kind: Option<QueryType>,
    /// The amount of output: only counts, every resource, or every resource with its manifest or
    /// (with `type=cluster`) the object. With `type=all`, a resource without a reported object has
    /// its manifest. `small`, `full` and `rsync` are older words for `summary`, `detail`, and
    /// `detail` with `type=rsync`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<OutputWord>, inline)]
    pub output: Option<Output>,
    /// Only this app. Can be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["sink"]))]
    pub app: Vec<String>,
    /// Only this cluster, as `provider+name`. Can be repeated. In a URL, write `%2B` for the `+`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(
        value_type = Option<Vec<String>>,
        explode,
        example = json!(["vfw-cluster-provider+edge01"])
    )]
    pub cluster: Vec<String>,
    /// Only resources with this name, of any Kind. Can be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["sink-configmap"]))]
    pub resource: Vec<String>,
    /// With `type=cluster`: show which interpreter judged each resource.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>, default = false)]
    pub explain: bool,
}

/// Parameters that request names instead of a status. `app` and `cluster` filter the names, and
/// `type` determines which resources are listed.
// Only serialized, like `StatusParameters`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListingParameters {
    /// Instead of a status, the names of the apps. Needs no value. Has priority over `clusters` and
    /// `resources`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>)]
    pub apps: bool,
    /// Instead of a status, the clusters of each app. Needs no value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>)]
    pub clusters: bool,
    /// Instead of a status, names and Kinds of the resources of each app in each cluster. Needs no
    /// value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>)]
    pub resources: bool,
}

words! {
    /// The status that a query requests.
    #[derive(Default)]
    #[schema(default = "rsync")]
    QueryType {
        /// Results of sending the resources to their clusters.
        #[default]
        Rsync = "rsync",
        /// State of the resources as the clusters report them.
        Cluster = "cluster",
        /// Both.
        All = "all",
    }
}

words! {
    /// Wire dialects of answers to status queries.
    #[derive(Default)]
    Dialect {
        /// The dialect of the specification.
        #[default]
        Specification = "specification",
        /// The dialect of EMCO up to v22.09.
        V22 = "v22",
    }
}

words! {
    /// The amount of output that a query requests.
    #[derive(Default)]
    Output {
        /// Only counts.
        Summary = "summary",
        /// Every resource.
        #[default]
        All = "all",
        /// Every resource, with its manifest or the object.
        Detail = "detail",
    }
}

impl Output {
    /// Older words for these values. The word `rsync` also selects `type=rsync`.
    pub const OLDER: [(&str, Self); 3] = [
        ("small", Self::Summary),
        ("full", Self::Detail),
        ("rsync", Self::Detail),
    ];
}

/// Every accepted word of `output`, including the older ones, for the OpenAPI document.
struct OutputWord;

impl utoipa::PartialSchema for OutputWord {
    fn schema() -> RefOr<Schema> {
        let words = Output::ALL.iter().map(|output| output.as_str());
        let words = words.chain(Output::OLDER.map(|(word, _)| word));
        ObjectBuilder::new()
            .schema_type(Type::String)
            .default(Some(Value::from(Output::default().as_str())))
            .enum_values(Some(words))
            .into()
    }
}

impl ToSchema for OutputWord {}
