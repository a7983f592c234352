//! Parameters of EMCO's newer dialect in addition to the parameters of the specification.

use kindsight_model::words;
use serde::Serialize;
use utoipa::IntoParams;

words! {
    /// The status that a query in EMCO's newer dialect requests.
    QueryStatus {
        /// State of the resources as the clusters report them.
        Ready = "ready",
        /// Results of sending the resources to their clusters.
        Deployed = "deployed",
    }
}

/// Parameters of a status query in EMCO's newer dialect, in addition to `instance`, `type`,
/// `output`, `app`, `cluster` and `resource`. If a parameter that is not a list occurs several
/// times, its first value is used. Other parameters are ignored.
// Only serialized: the server parses them as EMCO does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EmcoParameters {
    /// Selects EMCO's newer dialect, and the requested status. Has priority over `type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub status: Option<QueryStatus>,
}
