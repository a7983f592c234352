//! The cost of a settings schema, computed before any settings are validated with it.
//!
//! A schema of 2.6 KB can refer to its parts 2^40 times. The schema is therefore walked in the same
//! way as by a validator, with every reference followed. If this takes too many steps, the
//! component is refused when it is loaded.

use serde_json::{Map, Value};

/// Maximum number of steps of a schema with every reference followed. Each value in it is one step.
/// Schemas for human users have some hundred steps.
const SCHEMA_STEPS_MAX: usize = 10_000;
/// Maximum number of nested values below the root of a schema, with every reference followed.
const SCHEMA_DEPTH_MAX: usize = 64;
/// Maximum length of one regular expression, in bytes.
const PATTERN_BYTES_MAX: usize = 512;
/// Number of steps for which a pattern counts, because it costs more per byte than any other
/// keyword.
const PATTERN_STEPS: usize = 64;

/// Keywords that are refused. Some refer to other documents, some change the meaning of references,
/// and some make a validator process the same part of the settings again at every level.
const REFUSED: [&str; 7] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is data, so that a `$ref` in it is not a reference.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];
/// Keywords whose members have names from the author: a property may have the name `$anchor`.
const NAMED: [&str; 5] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// The cost of a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Maximum number of steps for each part of the settings.
    pub(crate) steps: usize,
    /// True if it compares the elements of arrays with each other.
    pub(crate) asks_for_unique: bool,
}

/// The cost of a schema within the budget. Takes at most a millisecond.
///
/// # Errors
/// The exceeded limit or the refused keyword, for the author.
pub(crate) fn cost(root: &Value) -> Result<Cost, String> {
    let mut walk = Walk {
        root,
        cost: Cost::default(),
        references: Vec::new(),
    };
    walk.schema(root, 0)?;
    Ok(walk.cost)
}

struct Walk<'s> {
    root: &'s Value,
    cost: Cost,
    /// The references that were followed to reach this value.
    references: Vec<&'s str>,
}

impl<'s> Walk<'s> {
    fn step(&mut self, steps: usize, depth: usize) -> Result<(), String> {
        self.cost.steps += steps;
        if self.cost.steps > SCHEMA_STEPS_MAX {
            return Err(format!(
                "with every `$ref` followed, it has more than {SCHEMA_STEPS_MAX} steps, which is the limit"
            ));
        }
        if depth > SCHEMA_DEPTH_MAX {
            return Err(format!(
                "with every `$ref` followed, it is nested deeper than {SCHEMA_DEPTH_MAX}, which is the limit"
            ));
        }
        Ok(())
    }

    /// Walks a value whose members are keywords.
    fn schema(&mut self, value: &'s Value, depth: usize) -> Result<(), String> {
        self.step(1, depth)?;
        match value {
            Value::Object(members) => {
                for (keyword, value) in members {
                    self.keyword(keyword, value, depth)?;
                }
                Ok(())
            }
            Value::Array(items) => {
                let mut items = items.iter();
                items.try_for_each(|item| self.schema(item, depth + 1))
            }
            _ => Ok(()),
        }
    }

    fn keyword(&mut self, keyword: &'s str, value: &'s Value, depth: usize) -> Result<(), String> {
        if REFUSED.contains(&keyword) || (keyword == "$id" && depth > 0) {
            return Err(format!("`{keyword}` is not supported in a settings-schema"));
        }
        match (keyword, value) {
            ("$ref", value) => self.reference(value, depth),
            ("pattern", Value::String(pattern)) => self.pattern(pattern, depth),
            ("uniqueItems", value) => {
                self.cost.asks_for_unique |= *value == Value::Bool(true);
                self.step(1, depth)
            }
            (keyword, value) if DATA.contains(&keyword) => self.data(value, depth + 1),
            (keyword, Value::Object(members)) if NAMED.contains(&keyword) => {
                self.named(keyword, members, depth)
            }
            (_, value) => self.schema(value, depth + 1),
        }
    }

    fn named(
        &mut self,
        keyword: &str,
        members: &'s Map<String, Value>,
        depth: usize,
    ) -> Result<(), String> {
        for (name, value) in members {
            if keyword == "patternProperties" {
                self.pattern(name, depth)?;
            }
            self.schema(value, depth + 1)?;
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &str, depth: usize) -> Result<(), String> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(format!(
                "a pattern of {} bytes is over the limit of {PATTERN_BYTES_MAX} bytes",
                pattern.len()
            ));
        }
        self.step(PATTERN_STEPS, depth)
    }

    fn data(&mut self, value: &Value, depth: usize) -> Result<(), String> {
        self.step(1, depth)?;
        match value {
            Value::Object(members) => {
                let mut members = members.values();
                members.try_for_each(|member| self.data(member, depth + 1))
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.data(item, depth + 1)),
            _ => Ok(()),
        }
    }

    /// Follows a reference within the schema.
    fn reference(&mut self, value: &'s Value, depth: usize) -> Result<(), String> {
        let local = value
            .as_str()
            .filter(|target| *target == "#" || target.starts_with("#/"));
        let Some(reference) = local else {
            return Err(format!(
                "`$ref` {} does not have the form `#/…`: other references are not followed",
                short(value)
            ));
        };
        if self.references.contains(&reference) {
            return Err(format!(
                "`{}` refers to itself, which is not supported in a settings-schema",
                short(value)
            ));
        }
        let pointer = reference.strip_prefix('#').unwrap_or_default();
        let target = self.root.pointer(&decoded(pointer));
        let target =
            target.ok_or_else(|| format!("`$ref` {} has no target in the schema", short(value)))?;
        self.references.push(reference);
        self.schema(target, depth + 1)?;
        self.references.pop();
        Ok(())
    }
}

/// Decodes a pointer in a URL fragment. `%` and `"` in it may be percent-encoded.
fn decoded(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = byte.filter(|_| *first == b'%') {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests;
