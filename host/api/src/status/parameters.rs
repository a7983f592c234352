//! Parameters of status queries.

use kindsight_model::words;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{IntoParams, ToSchema};

/// Parameters of a status query. Any other parameter is an error.
// Written only: the server names everything that is wrong, which no derived reader does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatusParameters {
    /// Id of the AppContext of one instantiation; by default that of the latest. Without a value, the
    /// instances are listed instead of a status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "2621114006130701074")]
    pub instance: Option<String>,
    /// The status that is asked for: `rsync`, the results of sending the resources to their clusters,
    /// or `cluster`, the state of the resources as the clusters report them, which is the default for an
    /// application that was found in the clusters.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub kind: Option<QueryType>,
    /// Amount of output: counts only, every resource, or every resource with its manifest or (with
    /// `type=cluster`) the object itself. `small`, `full` and `rsync` are older words for `summary`,
    /// `detail` and `detail` with `type=rsync`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<OutputWord>, inline)]
    pub output: Option<Output>,
    /// Only this app; may be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["sink"]))]
    pub app: Vec<String>,
    /// Only this cluster, as `provider+name`; may be repeated. In a URL the `+` is written `%2B`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(
        value_type = Option<Vec<String>>,
        explode,
        example = json!(["vfw-cluster-provider+edge01"])
    )]
    pub cluster: Vec<String>,
    /// Only resources of this name, of any Kind; may be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["sink-configmap"]))]
    pub resource: Vec<String>,
    /// With `type=cluster`: tell which interpreter judged each resource.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>, default = false)]
    pub explain: bool,
}

/// Parameters that ask for names instead of a status. `app` and `cluster` select, `type` decides which resources
/// are listed.
// Written only, as `StatusParameters`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListingParameters {
    /// Instead of a status, the names of the apps; needs no value. Comes before `clusters` and `resources`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>)]
    pub apps: bool,
    /// Instead of a status, the clusters of each app; needs no value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>)]
    pub clusters: bool,
    /// Instead of a status, names and Kinds of the resources of each app in each cluster; needs no value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>)]
    pub resources: bool,
}

words! {
    /// The status that a query asks for.
    #[derive(Default)]
    #[schema(default = "rsync")]
    QueryType {
        /// Results of sending the resources to their clusters.
        #[default]
        Rsync = "rsync",
        /// State of the resources as the clusters report them.
        Cluster = "cluster",
    }
}

words! {
    /// Wire dialects of answers to status queries.
    #[derive(Default)]
    Dialect {
        /// That of the specification.
        #[default]
        Specification = "specification",
        /// That of EMCO up to v22.09.
        V22 = "v22",
    }
}

words! {
    /// Amount of output that a query asks for.
    #[derive(Default)]
    Output {
        /// Counts only.
        Summary = "summary",
        /// Every resource.
        #[default]
        All = "all",
        /// Every resource, with its manifest or the object itself.
        Detail = "detail",
    }
}

impl Output {
    /// Older words for the same. The word `rsync` asks for `type=rsync` too.
    pub const OLDER: [(&str, Self); 3] = [
        ("small", Self::Summary),
        ("full", Self::Detail),
        ("rsync", Self::Detail),
    ];
}

/// Every word that `output` may be, also the older ones; for the document.
struct OutputWord;

impl utoipa::PartialSchema for OutputWord {
    fn schema() -> RefOr<Schema> {
        let words = Output::ALL.iter().map(|it| it.as_str());
        let words = words.chain(Output::OLDER.map(|(word, _)| word));
        ObjectBuilder::new()
            .schema_type(Type::String)
            .default(Some(Value::from(Output::default().as_str())))
            .enum_values(Some(words))
            .into()
    }
}

impl ToSchema for OutputWord {}
