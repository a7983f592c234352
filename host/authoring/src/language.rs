//! The languages of projects.

use std::fmt;
use std::str::FromStr;

/// The language of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C, without a C library.
    C,
    /// Go, with the compiler's own port to WASI.
    Go,
    /// JavaScript, on `QuickJS`.
    JavaScript,
    /// Python, on `CPython`.
    Python,
    /// Rust, with the SDK.
    Rust,
    /// TypeScript, on `QuickJS`.
    TypeScript,
}

impl Language {
    /// All languages, in the order of their words.
    pub const ALL: [Self; 6] = [
        Self::C,
        Self::Go,
        Self::JavaScript,
        Self::Python,
        Self::Rust,
        Self::TypeScript,
    ];

    /// The word of the language: on the command line, in the manifest of a project, and of its folder of templates.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Go => "go",
            Self::JavaScript => "javascript",
            Self::Python => "python",
            Self::Rust => "rust",
            Self::TypeScript => "typescript",
        }
    }

    /// The file with the rule of a project.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::C => "rule.c",
            Self::Go => "rule.go",
            Self::JavaScript => "rule.js",
            Self::Python => "rule.py",
            Self::Rust => "src/lib.rs",
            Self::TypeScript => "rule.ts",
        }
    }

    /// The commands that install the tools of a project, for its README and for errors.
    pub fn tools(self) -> &'static str {
        match self {
            Self::C => "`apt-get install clang lld`, or `pip install ziglang`",
            Self::Go => "Go 1.24 or later, from https://go.dev/dl",
            Self::JavaScript | Self::TypeScript => {
                "Node.js 18 or later; `npm install` in the project installs the compiler"
            }
            Self::Python => {
                "Python 3.10 or later; `python3 -m venv .venv && .venv/bin/pip install componentize-py==0.25.1` in the project installs the compiler"
            }
            Self::Rust => {
                "rustup, from https://rustup.rs; `rustup target add wasm32-unknown-unknown`"
            }
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|language| language.as_str() == word)
            .ok_or_else(|| {
                let words = Self::ALL.map(Self::as_str).join(", ");
                format!("`{word}` is not a language of projects: use one of {words}")
            })
    }
}
