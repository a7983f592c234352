//! Reports that agents push, for the REST API.

use std::pin::Pin;

use kindsight_api::push::{AgentNeeds, NeedsParameters, PushAnswer, PushParameters, PushRefusal};
use kindsight_model::ClusterName;
use kindsight_push::Intakes;
use kindsight_rest::TakePush;

/// The pushed clusters for the REST API, whose crate does not depend on them.
pub(crate) struct PushApi(pub(crate) Intakes);

impl TakePush for PushApi {
    fn accept(
        &self,
        cluster: &ClusterName,
        parameters: &PushParameters,
        body: &[u8],
    ) -> Result<PushAnswer, PushRefusal> {
        self.0.accept(cluster, parameters, body)
    }

    fn needs<'t>(
        &'t self,
        cluster: &'t ClusterName,
        parameters: &'t NeedsParameters,
    ) -> Pin<Box<dyn Future<Output = Result<Option<AgentNeeds>, PushRefusal>> + Send + 't>> {
        Box::pin(self.0.needs(cluster, parameters))
    }
}
