//! A context as a composite application: its meta, state and apps.

use std::sync::Arc;

use kindsight_model::{ContextId, ContextStatus};
use kindsight_store::Store;

use crate::app::App;
use crate::handle::{Handle, handle_methods};
use crate::instruction::{AppOrder, AppsDependency};
use crate::keys::{self, ContextKeys};
use crate::value::Value;
use crate::{ContextMeta, Result, go_json};

/// A context. Cheap to clone; it reads and writes the store at each call.
#[derive(Clone)]
pub struct CompositeApp {
    handle: Handle,
    keys: ContextKeys,
    id: ContextId,
}

impl CompositeApp {
    pub(crate) fn new(store: &Arc<dyn Store>, id: &ContextId) -> Self {
        let keys = ContextKeys::new(id);
        Self {
            handle: Handle {
                store: Arc::clone(store),
                key: keys.root().to_owned(),
            },
            keys,
            id: id.clone(),
        }
    }

    pub(crate) fn existing(self) -> Result<Self> {
        let handle = self.handle.existing()?;
        Ok(Self { handle, ..self })
    }

    /// The id.
    pub fn id(&self) -> &ContextId {
        &self.id
    }

    handle_methods!();

    /// The names of its group, application and environment.
    pub fn meta(&self) -> Value<ContextMeta> {
        self.handle.value(self.keys.meta())
    }

    /// The state.
    pub fn status(&self) -> Value<ContextStatus> {
        self.handle.value(self.keys.status())
    }

    /// The flag that asks the orchestrator to stop working on it.
    pub fn stop_flag(&self) -> Value<bool> {
        self.handle.value(self.keys.stop_flag())
    }

    /// The context that its statuses and reports are in, unless that is itself.
    pub fn status_context(&self) -> Value<ContextId> {
        self.handle.value(self.keys.status_context())
    }

    /// The order of its apps, for instantiating them.
    pub fn app_order(&self) -> Value<AppOrder> {
        self.handle.value(self.keys.app_order())
    }

    /// The dependencies of its apps.
    pub fn app_dependency(&self) -> Value<AppsDependency> {
        self.handle.value(self.keys.app_dependency())
    }

    /// The names of its apps, in order of their keys.
    pub fn apps(&self) -> Result<Vec<String>> {
        let mut names = self.handle.names("app")?;
        names.retain(|name| self.keys.app(name).is_ok());
        Ok(names)
    }

    /// Adds an app. No error where there is one of that name. It is in no instruction yet.
    ///
    /// # Errors
    /// [`Error::Name`](crate::Error::Name) for an impossible name,
    /// [`Error::NotFound`](crate::Error::NotFound) when the context does not exist.
    pub fn add_app(&self, name: &str) -> Result<App> {
        let keys = self.keys.app(name)?;
        self.handle.add(keys.root(), &go_json::encode(name)?)?;
        Ok(App::new(&self.handle, self.keys.clone(), keys, name))
    }

    /// An app of it.
    ///
    /// # Errors
    /// [`Error::Name`](crate::Error::Name) for an impossible name,
    /// [`Error::NotFound`](crate::Error::NotFound) when there is none of that name.
    pub fn app(&self, name: &str) -> Result<App> {
        let keys = self.keys.app(name)?;
        self.handle.below(keys.root()).existing()?;
        Ok(App::new(&self.handle, self.keys.clone(), keys, name))
    }

    /// Removes the context and everything in it at once; false when it did not exist.
    pub fn delete(&self) -> Result<bool> {
        let batch = self.handle.deletion();
        self.handle
            .delete_by(&batch.delete_prefix(keys::deployed(&self.id)))
    }
}

#[cfg(test)]
mod tests;
