//! Parameters that EMCO's newer dialect has beside those of the specification.

use kindsight_model::words;
use serde::Serialize;
use utoipa::IntoParams;

words! {
    /// The status that a query in EMCO's newer dialect asks for.
    QueryStatus {
        /// State of the resources as the clusters report them.
        Ready = "ready",
        /// Results of sending the resources to their clusters.
        Deployed = "deployed",
    }
}

/// Parameters of a status query in EMCO's newer dialect, beside `instance`, `type`, `output`, `app`, `cluster`
/// and `resource`. Of a parameter that is not listed the first value counts; any other parameter is ignored.
// Written only: the server reads them as EMCO does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EmcoParameters {
    /// In EMCO's newer dialect, which it asks for: the status that is asked for; comes before `type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub status: Option<QueryStatus>,
}
