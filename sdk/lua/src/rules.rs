//! The data that is spliced into the template of Lua interpreters: scripts with the Kinds that they
//! judge, and fixtures.
//!
//! The format is private to one release of kindsight: texts with their length in four bytes,
//! little-endian. An instance reads it without parsing.

use crate::Libraries;

/// The rules of one interpreter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules<'a> {
    /// The interpreter's name.
    pub name: &'a str,
    /// The interpreter's version.
    pub version: &'a str,
    /// One line for users.
    pub summary: &'a str,
    /// The rules, each for another pattern of Kinds.
    pub rules: Vec<Rule<'a>>,
    /// Fixtures, as the JSON text of the contract.
    pub fixtures: &'a str,
}

/// The script for a pattern of Kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule<'a> {
    /// Group that the interpreter claims: exact, `*.suffix` or `*`.
    pub group: &'a str,
    /// Kind that the interpreter claims: exact or `*`.
    pub kind: &'a str,
    /// What the group and Kind of an object must match, with `*` for any characters, as the origin
    /// wrote it. Empty if `group` and `kind` say all.
    pub pattern: &'a str,
    /// How the script is called.
    pub call: Call,
    /// The libraries that the script can use.
    pub libraries: Libraries,
    /// The script.
    pub script: &'a str,
}

/// How a script is called, and what it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Argo CD: the script returns the health of `obj`.
    Argo,
    /// Karmada: the function `InterpretHealth` returns whether the object is healthy.
    Karmada,
}

impl<'a> Rules<'a> {
    /// Writes the data.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut data = Vec::new();
        for text in [self.name, self.version, self.summary, self.fixtures] {
            write(&mut data, text);
        }
        for rule in &self.rules {
            for text in [rule.group, rule.kind, rule.pattern] {
                write(&mut data, text);
            }
            data.push(u8::from(rule.call == Call::Karmada));
            data.push(u8::from(rule.libraries == Libraries::StringAndMath));
            write(&mut data, rule.script);
        }
        data
    }

    /// Reads the data. `None` if it is not such data.
    pub fn from_bytes(data: &'a [u8]) -> Option<Self> {
        let mut rest = data;
        let [name, version, summary, fixtures] = [(); 4].map(|()| read(&mut rest));
        let mut rules = Vec::new();
        while !rest.is_empty() {
            let [group, kind, pattern] = [(); 3].map(|()| read(&mut rest));
            let [call, libraries, ..] = *rest else {
                return None;
            };
            rest = rest.get(2..)?;
            rules.push(Rule {
                group: group?,
                kind: kind?,
                pattern: pattern?,
                call: if call == 0 { Call::Argo } else { Call::Karmada },
                libraries: match libraries {
                    0 => Libraries::Base,
                    _ => Libraries::StringAndMath,
                },
                script: read(&mut rest)?,
            });
        }
        Some(Self {
            name: name?,
            version: version?,
            summary: summary?,
            rules,
            fixtures: fixtures?,
        })
    }
}

impl Rule<'_> {
    /// Whether the rule is for objects of this group and Kind.
    pub fn matches(&self, group: &str, kind: &str) -> bool {
        if self.is_exact() {
            return self.kind == kind && self.group == group;
        }
        if group.is_empty() {
            return glob(self.pattern.as_bytes(), kind.as_bytes());
        }
        glob(
            self.pattern.as_bytes(),
            format!("{group}/{kind}").as_bytes(),
        )
    }

    /// Whether the rule is for one Kind. Such rules come before patterns.
    pub fn is_exact(&self) -> bool {
        self.pattern.is_empty()
    }
}

/// Whether a text matches a pattern, in which `*` stands for any characters and `?` for one.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut code) = (0, 0);
    // The last `*`, and how far into the text it reaches.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(code) {
            Some(b'*') => {
                star = Some((code, at));
                code += 1;
            }
            Some(literal) if *literal == b'?' || text.get(at) == Some(literal) => {
                at += 1;
                code += 1;
            }
            _ => match star {
                Some((place, reach)) => {
                    star = Some((place, reach + 1));
                    (at, code) = (reach + 1, place + 1);
                }
                None => return false,
            },
        }
    }
    let rest = pattern.get(code..).unwrap_or_default();
    rest.iter().all(|byte| *byte == b'*')
}

fn write(data: &mut Vec<u8>, text: &str) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    data.extend_from_slice(&length.to_le_bytes());
    data.extend_from_slice(text.as_bytes());
}

fn read<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let (length, behind) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (text, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_group_and_kind() {
        for (pattern, text, expected) in [
            ("*.example.com/*", "a.example.com/Widget", true),
            ("*.example.com/*", "example.com/Widget", false),
            ("*/*", "Pod", false),
            ("*", "a/b", true),
            ("*a*b?", "xxaxxbbc", true),
            ("*a*b?", "xxaxxb", false),
            ("", "", true),
        ] {
            let matches = glob(pattern.as_bytes(), text.as_bytes());
            assert_eq!(matches, expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let rules = Rules {
            name: "argo-cd",
            version: "1.0.0",
            summary: "",
            rules: vec![Rule {
                group: "*.example.com",
                kind: "*",
                pattern: "*.example.com/*",
                call: Call::Karmada,
                libraries: Libraries::StringAndMath,
                script: "return nil",
            }],
            fixtures: "[]",
        };
        let data = rules.to_bytes();
        assert_eq!(Rules::from_bytes(&data), Some(rules));
        assert_eq!(Rules::from_bytes(&data[..data.len() - 1]), None);
        assert_eq!(Rules::from_bytes(b""), None);
    }
}
