//! Applications as instances of ONAP's Kubernetes plugin, for the REST API.

use std::sync::Arc;

use kindsight_api::k8splugin::{
    RbInstance, RbInstanceParameters, RbInstanceRefusal, RbInstanceStatus, RbInstanceSummary,
};
use kindsight_k8splugin::{InstanceSettings, InstanceSettingsError, Instances};
use kindsight_read_model::VisibleModel;
use kindsight_rest::RbInstances;

/// The instances that the REST API shows.
pub(crate) struct K8spluginApi(Instances);

impl K8spluginApi {
    /// The instances of these settings; `None` without settings, which disables the routes.
    pub(crate) fn of(
        settings: Option<InstanceSettings>,
    ) -> Result<Option<Arc<dyn RbInstances>>, InstanceSettingsError> {
        let instances = settings.map(Instances::new).transpose()?;
        Ok(instances.map(|instances| Arc::new(Self(instances)) as Arc<dyn RbInstances>))
    }
}

impl RbInstances for K8spluginApi {
    fn list(
        &self,
        model: &VisibleModel,
        parameters: &RbInstanceParameters,
    ) -> Vec<RbInstanceSummary> {
        self.0.list(model, parameters)
    }

    fn get(&self, model: &VisibleModel, id: &str) -> Result<RbInstance, RbInstanceRefusal> {
        self.0.get(model, id)
    }

    fn status(
        &self,
        model: &VisibleModel,
        id: &str,
    ) -> Result<(RbInstanceStatus, Option<String>), RbInstanceRefusal> {
        let answered = self.0.status(model, id)?;
        Ok((answered.status, answered.stale))
    }
}
