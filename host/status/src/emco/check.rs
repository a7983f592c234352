//! Checks of a query in EMCO's newer dialect against its subject.

use super::{EmcoError, EmcoQuery};
use crate::subject::Subject;
use crate::view::ContextView;

impl Subject {
    /// Checks that `query` has an answer in EMCO's newer dialect. It must be the query that the subject was
    /// looked up with. The cost does not grow with the size of the answer.
    ///
    /// # Errors
    /// [`EmcoError`] for an instance or an app that the subject does not have, for an instance that is no
    /// longer stored, and for an instance without a status.
    pub fn emco_check(&self, query: &EmcoQuery) -> Result<(), EmcoError> {
        query.check_instance()?;
        let lists = query.selection.listing.is_some();
        match (&self.context, &self.instance) {
            (None, None) => Ok(()),
            (None, Some(_)) if lists => Err(EmcoError::NoContext("Apps List status")),
            (None, Some(_)) => Err(EmcoError::NoContext("status")),
            (Some(_), _) if lists => Ok(()),
            (Some(context), _) if context.status.is_none() && !self.is_found() => {
                Err(EmcoError::NoStatus)
            }
            (Some(context), _) => self.check_apps(context, query),
        }
    }

    fn check_apps(&self, context: &ContextView, query: &EmcoQuery) -> Result<(), EmcoError> {
        let is_there = |name: &str| context.apps.iter().any(|app| **app.name() == *name);
        let mut asked = query.selection.apps.iter();
        match asked.find(|app| !is_there(app)) {
            None => Ok(()),
            Some(app) => Err(EmcoError::NoApp {
                app: app.clone(),
                composite_app: self
                    .composite_app()
                    .name
                    .unwrap_or(self.name())
                    .into_owned(),
            }),
        }
    }
}
