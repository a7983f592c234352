//! A component that its author examines: its fixtures are run one by one, and need not hold.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_contract::{Fields, Fixture, Wider, unasked};
use kindsight_model::Verdict;
use kindsight_settings::{SettingsCheck, SettingsSchema};

use crate::interpreter::Interpreter;
use crate::limits::Limits;
use crate::load::{self, fixture_objects, fixture_settings_of};
use crate::load_error::LoadError;
use crate::stats::CallStats;
use crate::trial::{Trial, TrialError};

/// A component that was loaded in every step except the run of its fixtures. It can never go live.
pub struct Examination {
    interpreter: Interpreter,
    fixtures: Vec<Fixture>,
    limits: Limits,
    compile_time: Duration,
}

impl Examination {
    pub(crate) fn new(
        interpreter: Interpreter,
        fixtures: Vec<Fixture>,
        limits: Limits,
        compile_time: Duration,
    ) -> Self {
        Self {
            interpreter,
            fixtures,
            limits,
            compile_time,
        }
    }

    /// The component.
    pub fn interpreter(&self) -> &Interpreter {
        &self.interpreter
    }

    /// Its fixtures, in their order.
    pub fn fixtures(&self) -> &[Fixture] {
        &self.fixtures
    }

    /// The time from its bytes to machine code. Shorter with a code cache that has it.
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// The time of the start of a new instance, without a call.
    ///
    /// # Errors
    /// If no instance can be made.
    pub fn start_time(&self) -> Result<Duration, LoadError> {
        let began = Instant::now();
        load::start(&self.interpreter, &self.limits)?;
        Ok(began.elapsed())
    }

    /// An examiner, which calls the component as a worker would call it, on one pooled instance.
    ///
    /// # Errors
    /// If the settings schema cannot be used.
    pub fn examiner(&self) -> Result<Examiner<'_>, LoadError> {
        let check = self.interpreter.settings_schema();
        let check = check.map(SettingsSchema::checking).transpose();
        let stats = Arc::<CallStats>::default();
        Ok(Examiner {
            trial: Trial::counted(&self.interpreter, &self.limits, &stats),
            check: check.map_err(LoadError::SettingsSchema)?,
        })
    }
}

/// Calls of one component. See [`Examination::examiner`].
pub struct Examiner<'e> {
    trial: Trial<'e>,
    check: Option<SettingsCheck<'e>>,
}

impl Examiner<'_> {
    /// Judges the object of a fixture among its related objects, with its time and settings.
    ///
    /// # Errors
    /// The reason why there is no verdict.
    pub fn judge(&mut self, fixture: &Fixture) -> Result<Verdict, TrialError> {
        self.judge_wider(fixture, &Wider::default())
    }

    /// The same as [`Self::judge`], with more fields than the description requests. The rules of related objects find the
    /// same objects.
    fn judge_wider(&mut self, fixture: &Fixture, wider: &Wider) -> Result<Verdict, TrialError> {
        let settings = fixture_settings_of(self.check.as_ref(), fixture);
        let settings = settings.map_err(TrialError::Fixture)?;
        let (object, siblings) = fixture_objects(fixture).map_err(TrialError::Fixture)?;
        let handled = load::widened(self.trial.handled(&object)?, wider);
        self.trial
            .judge_as(&handled, &object, &siblings, fixture.now_ms, &settings)
    }

    /// The same as [`Self::judge`], without one of the fields of the object that the description requests.
    ///
    /// # Errors
    /// The reason why there is no verdict.
    pub fn judge_without(
        &mut self,
        fixture: &Fixture,
        pointer: &str,
    ) -> Result<Verdict, TrialError> {
        let settings = fixture_settings_of(self.check.as_ref(), fixture);
        let settings = settings.map_err(TrialError::Fixture)?;
        let (object, siblings) = fixture_objects(fixture).map_err(TrialError::Fixture)?;
        let mut handled = self.trial.handled(&object)?.clone();
        let mut fields = handled.fields.pointers();
        fields.retain(|field| field != pointer);
        handled.fields = Fields::new(&fields);
        self.trial
            .judge_as(&handled, &object, &siblings, fixture.now_ms, &settings)
    }

    /// The fields of a fixture's object, or of its related objects, that the description does not request although the
    /// verdict depends on them, as text for the author.
    ///
    /// A verdict may depend on the relations: a fixture can have objects that the rules must not find.
    pub fn undeclared(&mut self, fixture: &Fixture) -> Option<String> {
        let declared = self.judge(fixture).ok()?;
        let (object, _) = fixture_objects(fixture).ok()?;
        let request = load::request(self.trial.handled(&object).ok()?);
        unasked(fixture, &request, |wider| {
            let wider = self.judge_wider(fixture, wider).ok()?;
            Some(
                (&wider.state, &wider.reason, &wider.message)
                    != (&declared.state, &declared.reason, &declared.message),
            )
        })
    }

    /// The difference between the answer to a fixture and its promise, if there is one, as a refusal of the component
    /// would tell it.
    pub fn mismatch(&mut self, fixture: &Fixture) -> Option<String> {
        load::told_mismatch(&mut self.trial, self.check.as_ref(), fixture, true)
    }
}
