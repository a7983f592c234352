//! The functions of the contract that a component exports, located once when the component is
//! loaded.

use std::sync::Arc;

use wasmtime::Store;
use wasmtime::component::{Component, ComponentExportIndex, Func, Instance, TypedFunc};

use crate::bindings::{Input, JudgeResult};
use crate::instance_context::InstanceContext;

const DESCRIPTION: &str = "kindsight:interpreter/description@1.0.0";
const TEXT: &str = "kindsight:interpreter/text@1.0.0";
const VIEW: &str = "kindsight:interpreter/view@1.0.0";

/// The encoding of a component's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// JSON text, for `judge`.
    Text,
    /// The view, for `judge-view`.
    View,
}

/// The positions of the contract's functions among a component's exports.
#[derive(Clone)]
pub(crate) struct Exports {
    describe: ComponentExportIndex,
    fixtures: ComponentExportIndex,
    judge: ComponentExportIndex,
    encoding: Encoding,
}

impl Exports {
    /// Locates the functions. If a component exports both functions, the view is used.
    ///
    /// # Errors
    /// The name of the missing export.
    pub(crate) fn of(component: &Component) -> Result<Self, String> {
        let find = |interface: &str, function: &str| {
            let (_, interface) = component.get_export(None, interface)?;
            let (_, function) = component.get_export(Some(&interface), function)?;
            Some(function)
        };
        let described = |function: &str| {
            let missing = || format!("`{DESCRIPTION}` has no function `{function}`");
            find(DESCRIPTION, function).ok_or_else(missing)
        };
        let (describe, fixtures) = (described("describe")?, described("fixtures")?);
        let view = find(VIEW, "judge-view").map(|judge| (Encoding::View, judge));
        let text = || find(TEXT, "judge").map(|judge| (Encoding::Text, judge));
        let (encoding, judge) = view.or_else(text).ok_or_else(|| {
            format!("neither `judge-view` of `{VIEW}` nor `judge` of `{TEXT}` is exported")
        })?;
        Ok(Self {
            describe,
            fixtures,
            judge,
            encoding,
        })
    }

    /// The encoding of the component's input.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The function `describe` of an instance.
    ///
    /// # Errors
    /// If its type differs from the contract's.
    pub(crate) fn describe(
        &self,
        store: &mut Store<InstanceContext>,
        instance: &Instance,
    ) -> wasmtime::Result<TypedFunc<(), (String,)>> {
        instance.get_typed_func(store, self.describe)
    }

    /// The function `fixtures` of an instance.
    ///
    /// # Errors
    /// If its type differs from the contract's.
    pub(crate) fn fixtures(
        &self,
        store: &mut Store<InstanceContext>,
        instance: &Instance,
    ) -> wasmtime::Result<TypedFunc<(), (String,)>> {
        instance.get_typed_func(store, self.fixtures)
    }

    /// The function `judge` or `judge-view` of an instance.
    ///
    /// # Errors
    /// If its type differs from the contract's.
    pub(crate) fn judge(
        &self,
        store: &mut Store<InstanceContext>,
        instance: &Instance,
    ) -> wasmtime::Result<Judge> {
        match self.encoding {
            Encoding::View => instance.get_typed_func(store, self.judge).map(Judge::View),
            Encoding::Text => {
                let function = instance
                    .get_func(&mut *store, self.judge)
                    .ok_or_else(|| wasmtime::Error::msg("`judge` is not a function"))?;
                function.typed::<(Input<'_>,), (JudgeResult,)>(&*store)?;
                Ok(Judge::Text(function))
            }
        }
    }
}

/// The function `judge-view`, with the view and the time.
type JudgeView = TypedFunc<(Arc<Vec<u8>>, Option<i64>), (JudgeResult,)>;

/// The function of one instance that judges.
pub(crate) enum Judge {
    /// `judge`. Its type has a lifetime, so it is checked at every call.
    Text(Func),
    /// `judge-view`, with the view and the time. The view is shared, so that its buffer can be
    /// reused.
    View(JudgeView),
}
