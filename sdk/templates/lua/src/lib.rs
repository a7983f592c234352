//! Template of interpreters with rules in Lua.
//!
//! `kindsight plugin from-argo` and `from-karmada` splice the scripts in. Each instance compiles a
//! script before its first run and keeps it.

mod settings;

use std::sync::OnceLock;

use kindsight_lua::rules::{Call, Rule, Rules};
use kindsight_lua::{Health, Input as ScriptInput, RunError, Script};
use kindsight_sdk::prelude::*;
use kindsight_sdk::spliced;

use crate::settings::Status;

/// The interpreter. Its rules are spliced in.
pub struct Lua;

/// The state of status Missing, which means that the object reports the absence of its subject.
const MISSING: State = State::new(
    "Missing",
    Phase::NotPresent,
    "Reports that what it represents does not exist",
);

/// Time after which a verdict of a script that reads the time is computed again, in milliseconds.
const RECHECK_MS: i64 = 60_000;

/// The rules of this component with their compiled scripts.
struct Loaded {
    rules: Rules<'static>,
    scripts: Vec<OnceLock<Result<Script, String>>>,
}

fn loaded() -> &'static Loaded {
    static LOADED: OnceLock<Loaded> = OnceLock::new();
    LOADED.get_or_init(|| {
        let rules = Rules::from_bytes(spliced::data()).unwrap_or(Rules {
            name: "lua",
            version: env!("CARGO_PKG_VERSION"),
            summary: "A template without rules",
            rules: Vec::new(),
            fixtures: "[]",
        });
        let scripts = rules.rules.iter().map(|_| OnceLock::new()).collect();
        Loaded { rules, scripts }
    })
}

impl Interpreter for Lua {
    fn describe() -> Description {
        let rules = &loaded().rules;
        let mut claims: Vec<(&str, &str)> = Vec::new();
        for rule in &rules.rules {
            if !claims.contains(&(rule.group, rule.kind)) {
                claims.push((rule.group, rule.kind));
            }
        }
        // A script can read any field.
        let kinds = claims
            .into_iter()
            .map(|(group, kind)| Kind::new(group, "*", kind).deletion_check().fields(&[""]));
        Description::new(rules.name, rules.version, rules.summary)
            .kinds(kinds)
            .states(&ALL)
            .states(&[MISSING])
            .reason(
                "ScriptFailed",
                "The script of this Kind ended with an error",
                None,
            )
            .settings_schema(settings::SCHEMA)
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        let loaded = loaded();
        let (group, kind) = (object.group(), object.kind());
        let mut rules = loaded.rules.rules.iter().zip(&loaded.scripts);
        let found = rules.find(|(rule, _)| rule.matches(group, kind));
        let Some((rule, script)) = found else {
            return Err(Failure::unsupported("no script is for this Kind"));
        };
        if let Some(verdict) = standard::deletion(object, input) {
            return Ok(verdict);
        }
        let script =
            script.get_or_init(|| Script::compile(rule.script).map_err(|error| error.to_string()));
        Ok(match script {
            Ok(script) => by_script(rule, script, object, input)?,
            Err(error) => Verdict::unknown("ScriptFailed", error.clone()),
        })
    }

    fn fixtures() -> Fixtures {
        Fixtures::from_json(loaded().rules.fixtures)
    }
}

fn by_script(
    rule: &Rule<'_>,
    script: &Script,
    object: &Object<'_>,
    input: &Input<'_>,
) -> Result<Verdict, Failure> {
    let now_ms = input.now_ms();
    let script_input = ScriptInput {
        object: object.root(),
        libraries: rule.libraries,
        now_ms,
    };
    let result = match rule.call {
        Call::Argo => script.health(&script_input).map(status_of),
        Call::Karmada => script
            .decision("InterpretHealth", &script_input)
            .map(|is_healthy| (Status::of_decision(is_healthy), String::new())),
    };
    let verdict = verdict(result, input)?;
    Ok(if script.uses_time() {
        verdict.recheck_at(now_ms.saturating_add(RECHECK_MS))
    } else {
        verdict
    })
}

fn status_of(health: Health) -> (Status, String) {
    match health {
        Health::None => (Status::None, "the script assesses no health".to_owned()),
        Health::Stated { status, message } => {
            if let Some(status) = Status::of_word(&status) {
                (status, message)
            } else {
                let what = format!(
                    "the script returned the status `{status}`, which is not one of Argo CD"
                );
                (Status::Invalid, what)
            }
        }
    }
}

fn verdict(
    result: Result<(Status, String), RunError>,
    input: &Input<'_>,
) -> Result<Verdict, Failure> {
    Ok(match result {
        Ok((status, message)) => {
            let state = settings::state(status, input.settings())?;
            Verdict::new(state, status.reason(), message)
        }
        Err(error) => Verdict::unknown("ScriptFailed", error.to_string()),
    })
}

kindsight_sdk::export!(Lua);
