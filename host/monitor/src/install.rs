//! Installation of the monitor in a cluster: the objects of `deploy/monitor.yaml` by server-side apply.
//!
//! [`Installer::plan`] changes nothing: the API server shows by a dry run what each object would become.

mod definition;
mod difference;
mod discovered;
mod manifests;

use std::fmt;

use kindsight_clusters::{
    ApiAnswer, ApiRequest, ApiServer, ApiVerb, KubernetesCluster, ObjectError,
};
use serde_json::Value;

use difference::differences;
use manifests::Manifest;

/// Name under which the installation owns fields.
const FIELD_MANAGER: &str = "kindsight-monitor-install";

/// Options of an installation.
#[derive(Debug, Clone, Default)]
pub struct InstallOptions {
    /// True to grant every Kind that the cluster serves and that the built-in role does not name.
    pub grant_discovered: bool,
    /// True to grant Secrets.
    pub grant_secrets: bool,
    /// True to take over fields of other managers.
    pub force: bool,
    /// The image of the Deployment; the image of the file if none is named.
    pub image: Option<String>,
    /// Further arguments of the monitor in the Deployment.
    pub arguments: Vec<String>,
}

/// The reason why an installation fails.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A file of the executable is damaged.
    #[error("the objects of the installation cannot be read: {0}")]
    Manifest(String),
    /// The API server cannot be reached.
    #[error("the API server does not answer the request about {object}: {error}")]
    Unreachable {
        /// The object.
        object: String,
        /// The error.
        error: ObjectError,
    },
    /// The API server refuses an object.
    #[error("the API server refuses {object}: it answers {code}: {message}{hint}")]
    Refused {
        /// The object.
        object: String,
        /// The status code.
        code: u16,
        /// The message of the server.
        message: String,
        /// The action to take.
        hint: &'static str,
    },
}

/// The changes of an installation.
#[derive(Debug)]
pub struct InstallPlan {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    manifest: Manifest,
    outcome: Outcome,
}

/// The effect of an installation on one object.
#[derive(Debug)]
enum Outcome {
    Created,
    /// These fields change.
    Changed(Vec<String>),
    Unchanged,
    /// The object exists and is kept, with the consequence.
    Kept(&'static str),
}

impl InstallPlan {
    /// Returns whether the installation would change the cluster.
    pub fn is_change(&self) -> bool {
        self.steps.iter().any(Step::is_change)
    }
}

impl Step {
    fn is_change(&self) -> bool {
        matches!(self.outcome, Outcome::Created | Outcome::Changed(_))
    }
}

impl fmt::Display for InstallPlan {
    /// One line for each object, and one for each changed field.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Step { manifest, outcome } in &self.steps {
            match outcome {
                Outcome::Created => writeln!(f, "create    {manifest}")?,
                Outcome::Unchanged => writeln!(f, "unchanged {manifest}")?,
                Outcome::Kept(why) => writeln!(f, "keep      {manifest}: {why}")?,
                Outcome::Changed(fields) => {
                    writeln!(f, "change    {manifest}")?;
                    for field in fields {
                        writeln!(f, "            {field}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Installs the monitor in a cluster.
pub struct Installer {
    server: ApiServer,
    options: InstallOptions,
}

impl Installer {
    /// An installer with the rights of the cluster's credentials.
    pub fn new(cluster: &KubernetesCluster, options: InstallOptions) -> Self {
        Self {
            server: ApiServer::new(cluster),
            options,
        }
    }

    /// The changes that the installation would make. Changes nothing.
    ///
    /// # Errors
    /// [`InstallError`].
    pub async fn plan(&self) -> Result<InstallPlan, InstallError> {
        let mut steps = vec![self.definition_step().await?];
        let mut manifests = manifests::objects(&self.options)?;
        if self.options.grant_discovered {
            let kinds = self.server.kinds().await;
            let kinds = kinds.map_err(|error| InstallError::Unreachable {
                object: "the served Kinds".to_owned(),
                error,
            })?;
            manifests.extend(discovered::role(&kinds, &manifests));
        }
        for manifest in manifests {
            let outcome = self.outcome(&manifest).await?;
            steps.push(Step { manifest, outcome });
        }
        Ok(InstallPlan { steps })
    }

    /// Makes the changes of a plan.
    ///
    /// # Errors
    /// [`InstallError`]. Objects before the failed one are applied; a repetition continues.
    pub async fn apply(&self, plan: &InstallPlan) -> Result<(), InstallError> {
        for step in plan.steps.iter().filter(|step| step.is_change()) {
            let answer = self.patch(&step.manifest, "").await?;
            if !answer.is_success() {
                return Err(refused(&step.manifest, &answer));
            }
        }
        Ok(())
    }

    /// The step for the definition of the Kind. An existing definition is kept.
    async fn definition_step(&self) -> Result<Step, InstallError> {
        let manifest = manifests::definition()?;
        let present = self.get(&manifest).await?;
        let outcome = match present {
            None => Outcome::Created,
            Some(present) if definition::is_own(&present) => self.outcome(&manifest).await?,
            Some(present) => Outcome::Kept(definition::consequence(&present)),
        };
        Ok(Step { manifest, outcome })
    }

    /// The effect of the application of an object, by a dry run.
    async fn outcome(&self, manifest: &Manifest) -> Result<Outcome, InstallError> {
        let Some(before) = self.get(manifest).await? else {
            return Ok(Outcome::Created);
        };
        let answer = self.patch(manifest, "&dryRun=All").await?;
        if !answer.is_success() {
            return Err(refused(manifest, &answer));
        }
        let after: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let fields = differences(&before, &after);
        Ok(if fields.is_empty() {
            Outcome::Unchanged
        } else {
            Outcome::Changed(fields)
        })
    }

    /// The object in the cluster; none if it does not exist.
    async fn get(&self, manifest: &Manifest) -> Result<Option<Value>, InstallError> {
        let answer = self
            .send(ApiVerb::Get, manifest, &manifest.path, "")
            .await?;
        match answer.code {
            200..300 => Ok(serde_json::from_slice(&answer.body).ok()),
            404 => Ok(None),
            _ => Err(refused(manifest, &answer)),
        }
    }

    async fn patch(&self, manifest: &Manifest, more: &str) -> Result<ApiAnswer, InstallError> {
        let (path, force) = (&manifest.path, self.options.force);
        let path = format!("{path}?fieldManager={FIELD_MANAGER}&force={force}{more}");
        let body = manifest.object.to_string();
        self.send(ApiVerb::Apply, manifest, &path, &body).await
    }

    async fn send(
        &self,
        verb: ApiVerb,
        manifest: &Manifest,
        path: &str,
        body: &str,
    ) -> Result<ApiAnswer, InstallError> {
        let request = ApiRequest {
            verb,
            path,
            is_metadata_enough: false,
            body,
        };
        let answer = self.server.send(&request).await;
        answer.map_err(|error| InstallError::Unreachable {
            object: manifest.to_string(),
            error,
        })
    }
}

fn refused(manifest: &Manifest, answer: &ApiAnswer) -> InstallError {
    InstallError::Refused {
        object: manifest.to_string(),
        code: answer.code,
        message: answer.message.clone(),
        hint: match answer.code {
            409 => "; `--force` takes the fields over",
            403 => "; use the credentials of an administrator of the cluster",
            _ => "",
        },
    }
}
