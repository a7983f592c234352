//! The answers of the REST API about registered clusters.

use std::sync::Arc;
use std::time::Duration;

use kindsight_api::problem::PartialProblem;
use kindsight_api::registration::{ClusterRegistration, RegisteredCluster, RegistrationRefusal};
use kindsight_appcontext::{Error, KubeconfigPlace, Registration};
use kindsight_clusters::ClusterSource;
use kindsight_model::ClusterName;
use kindsight_rest::ClusterRegistry;
use kindsight_store::chain;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::{Registry, Unusable};

/// Maximum time to read a kubeconfig when a cluster is registered.
const CHECK_MAX: Duration = Duration::from_secs(15);

/// The registry with the executor that its blocking calls use.
pub(crate) struct RegistryApi {
    pub(crate) registry: Arc<Registry>,
    pub(crate) runtime: Handle,
}

impl RegistryApi {
    fn is_configured(&self, name: &ClusterName) -> bool {
        let configured = self.registry.configured.valid();
        configured.iter().any(|cluster| cluster.name() == name)
    }

    /// Refuses a change of a cluster that the configuration names.
    fn check_writable(&self, name: &ClusterName) -> Result<(), RegistrationRefusal> {
        if self.is_configured(name) {
            let why = format!(
                "the cluster {name} is read-only: the configuration of the server names it; change the configuration"
            );
            return Err(RegistrationRefusal::Conflict(why));
        }
        Ok(())
    }

    /// Reads the kubeconfig, so that an unusable one is refused at once.
    fn check(&self, name: &ClusterName, registration: &Registration) -> Result<(), Unusable> {
        let ClusterSource::Kubernetes(cluster) = self.registry.source(name, registration)? else {
            return Ok(());
        };
        let member = match &registration.kubeconfig {
            KubeconfigPlace::File(_) => "kubeconfig-file",
            KubeconfigPlace::Secret(_) => "kubeconfig-secret",
        };
        let checking = async { timeout(CHECK_MAX, cluster.check()).await };
        let checked = self.runtime.block_on(checking);
        let checked = checked.unwrap_or_else(|_| {
            let seconds = CHECK_MAX.as_secs();
            Err(format!("its kubeconfig was not read in {seconds} s"))
        });
        checked.map_err(|why| Unusable { member, why })
    }

    /// Applies a change of the store to this server.
    fn reload(&self) -> Result<(), RegistrationRefusal> {
        self.registry
            .reload()
            .map(drop)
            .map_err(|error| refusal(&error))
    }
}

impl ClusterRegistry for RegistryApi {
    fn get(&self, name: &ClusterName) -> Result<RegisteredCluster, RegistrationRefusal> {
        if self.is_configured(name) {
            return Ok(answer(name, None));
        }
        let registration = self
            .registry
            .stored
            .get(name)
            .map_err(|error| refusal(&error))?;
        let registration = registration.ok_or_else(|| unknown(name))?;
        Ok(answer(name, Some(&registration)))
    }

    fn put(
        &self,
        name: &ClusterName,
        registration: ClusterRegistration,
    ) -> Result<(bool, RegisteredCluster), RegistrationRefusal> {
        self.check_writable(name)?;
        let registration = stored(registration).map_err(invalid)?;
        self.check(name, &registration).map_err(invalid)?;
        let is_new = self.registry.stored.put(name, &registration);
        let is_new = is_new.map_err(|error| refusal(&error))?;
        self.reload()?;
        Ok((is_new, answer(name, Some(&registration))))
    }

    fn delete(&self, name: &ClusterName) -> Result<(), RegistrationRefusal> {
        self.check_writable(name)?;
        if !self
            .registry
            .stored
            .remove(name)
            .map_err(|error| refusal(&error))?
        {
            return Err(unknown(name));
        }
        self.reload()
    }
}

fn unknown(name: &ClusterName) -> RegistrationRefusal {
    RegistrationRefusal::NotFound(format!("there is no registered cluster {name}"))
}

/// The registration for the store.
fn stored(of: ClusterRegistration) -> Result<Registration, Unusable> {
    let kubeconfig = match (of.kubeconfig_file, of.kubeconfig_secret) {
        (Some(file), None) => KubeconfigPlace::File(file),
        (None, Some(secret)) => KubeconfigPlace::Secret(secret),
        _ => {
            return Err(Unusable {
                member: ".",
                why: "expected one of `kubeconfig-file` and `kubeconfig-secret`".to_owned(),
            });
        }
    };
    Ok(Registration {
        kubeconfig,
        context: of.context,
        namespaces: of.namespaces,
    })
}

/// The answer about a cluster; without a registration, about a cluster of the configuration.
fn answer(name: &ClusterName, registration: Option<&Registration>) -> RegisteredCluster {
    let registration = registration.map(|of| {
        let (file, secret) = match &of.kubeconfig {
            KubeconfigPlace::File(file) => (Some(file.clone()), None),
            KubeconfigPlace::Secret(secret) => (None, Some(secret.clone())),
        };
        ClusterRegistration {
            kubeconfig_file: file,
            kubeconfig_secret: secret,
            context: of.context.clone(),
            namespaces: of.namespaces.clone(),
        }
    });
    RegisteredCluster {
        provider: name.provider.to_string(),
        name: name.name.to_string(),
        configured: registration.is_none(),
        registration,
    }
}

fn invalid(unusable: Unusable) -> RegistrationRefusal {
    let expected = "a kubeconfig with its credentials in itself, and names without paths";
    let problem = PartialProblem::new(unusable.member, unusable.why, expected);
    RegistrationRefusal::Invalid(vec![problem])
}

fn refusal(error: &Error) -> RegistrationRefusal {
    if error.is_unavailable() {
        RegistrationRefusal::Unavailable(chain(error))
    } else if error.is_conflict() {
        let why = "another operator changed the cluster at the same time; try again";
        RegistrationRefusal::Conflict(why.to_owned())
    } else {
        RegistrationRefusal::Failed(chain(error))
    }
}
