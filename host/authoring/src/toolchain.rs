//! Builds a project: its data, its language's compiler, and the component.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::component::{ComponentError, component_of};
use crate::data::ProjectData;
use crate::language::Language;
use crate::project::Project;

/// The target of Rust for interpreters.
const RUST_TARGET: &str = "wasm32-unknown-unknown";

/// The reason why a project cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The description or the fixtures are wrong.
    #[error("{0}: {1}")]
    Data(PathBuf, String),
    /// A compiler is not installed.
    #[error("{tool} was not found. To install it: {install}")]
    MissingTool {
        /// The program.
        tool: String,
        /// The command that installs it.
        install: &'static str,
    },
    /// A compiler failed. Contains its output.
    #[error("`{0}` failed:\n{1}")]
    Failed(String, String),
    /// A compiler ended without the expected file.
    #[error("`{0}` wrote no component: {1}")]
    NoOutput(String, String),
    /// The compiled module is no interpreter.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// A file cannot be read or written.
    #[error("{0}")]
    Io(String, #[source] io::Error),
}

impl Project {
    /// Builds the project with the tools of its language, and writes [`Self::component`]. Takes seconds to minutes.
    ///
    /// # Errors
    /// The reason why there is no component. An earlier one stays.
    pub fn build(&self) -> Result<PathBuf, BuildError> {
        if self.language != Language::Rust {
            let data = ProjectData::read(&self.folder)?;
            data.write(&self.folder, self.language)?;
        }
        let output = self.folder.join("build");
        fs::create_dir_all(&output)
            .map_err(|error| BuildError::Io(format!("write {}", output.display()), error))?;
        let (module, world) = match self.language {
            Language::C => (self.c()?, "view-interpreter"),
            Language::Go => (self.go()?, "interpreter"),
            Language::JavaScript => (
                self.javascript(&["rule.js", "interpreter.js"])?,
                "interpreter",
            ),
            Language::Python => (self.python()?, "interpreter"),
            Language::Rust => (self.rust()?, "view-interpreter"),
            Language::TypeScript => (self.typescript()?, "interpreter"),
        };
        let read = fs::read(&module)
            .map_err(|error| BuildError::Io(format!("read {}", module.display()), error))?;
        let path = self.component();
        fs::write(&path, component_of(read, world)?)
            .map_err(|error| BuildError::Io(format!("write {}", path.display()), error))?;
        Ok(path)
    }

    fn tool(&self, program: impl Into<PathBuf>) -> Tool {
        let program = program.into();
        let mut command = Command::new(&program);
        command.current_dir(&self.folder);
        Tool {
            name: program.display().to_string(),
            command,
            install: self.language.tools(),
        }
    }

    fn rust(&self) -> Result<PathBuf, BuildError> {
        let mut cargo = self.tool("cargo");
        cargo.args(&[
            "build",
            "--release",
            "--target",
            RUST_TARGET,
            "--message-format",
            "json-render-diagnostics",
        ]);
        let printed = cargo.run().map_err(|error| match error {
            BuildError::Failed(_, output) if output.contains("can't find crate for `core`") => {
                BuildError::MissingTool {
                    tool: format!("the target {RUST_TARGET} of Rust"),
                    install: "`rustup target add wasm32-unknown-unknown`",
                }
            }
            other => other,
        })?;
        let mut artifacts = printed
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let module = artifacts.find_map(|artifact| {
            let is_own = artifact.pointer("/target/name").and_then(Value::as_str)
                == Some(&self.name.replace('-', "_"));
            let files = artifact
                .get("filenames")?
                .as_array()?
                .iter()
                .filter_map(Value::as_str);
            let mut wasm =
                files.filter(|file| is_own && Path::new(file).extension() == Some("wasm".as_ref()));
            wasm.next().map(PathBuf::from)
        });
        module.ok_or_else(|| {
            let advice = "add `crate-type = [\"cdylib\", \"rlib\"]` below `[lib]` in Cargo.toml";
            BuildError::NoOutput("cargo build".to_owned(), advice.to_owned())
        })
    }

    fn go(&self) -> Result<PathBuf, BuildError> {
        let mut go = self.tool("go");
        go.args(&[
            "build",
            "-buildmode=c-shared",
            "-trimpath",
            "-ldflags=-s -w",
            "-o",
            "build/module.wasm",
            ".",
        ]);
        go.command.envs([("GOOS", "wasip1"), ("GOARCH", "wasm")]);
        go.run()?;
        Ok(self.folder.join("build/module.wasm"))
    }

    /// Clang with its linker, or the compiler of `ziglang`.
    fn c(&self) -> Result<PathBuf, BuildError> {
        const FLAGS: [&str; 10] = [
            "-O2",
            "-nostdlib",
            "-fno-builtin",
            "-Wall",
            "-Wl,--no-entry",
            "-Wl,--strip-all",
            "-o",
            "build/module.wasm",
            "rule.c",
            "kindsight.c",
        ];
        let mut clang = self.tool("clang");
        clang.args(&["--target=wasm32"]).args(&FLAGS);
        match clang.run() {
            Err(BuildError::MissingTool { .. }) => {
                let mut zig = self.tool("python3");
                zig.args(&["-m", "ziglang", "cc", "--target=wasm32-freestanding"])
                    .args(&FLAGS);
                zig.run().map_err(|error| match error {
                    BuildError::Failed(_, output) if output.contains("No module named ziglang") => {
                        BuildError::MissingTool {
                            tool: "clang".to_owned(),
                            install: self.language.tools(),
                        }
                    }
                    other => other,
                })?;
            }
            other => drop(other?),
        }
        Ok(self.folder.join("build/module.wasm"))
    }

    fn python(&self) -> Result<PathBuf, BuildError> {
        let local = self.folder.join(".venv/bin/componentize-py");
        let program = if local.exists() {
            absolute(&local)?
        } else {
            PathBuf::from("componentize-py")
        };
        let mut python = self.tool(program);
        python.args(&[
            "--wit-path",
            "wit",
            "--world",
            "interpreter",
            "componentize",
            "--stub-wasi",
        ]);
        // The file of the data is in `build`.
        python.args(&[
            "--python-path",
            ".",
            "--python-path",
            "build",
            "--output",
            "build/component.wasm",
            "interpreter",
        ]);
        python.run()?;
        Ok(self.folder.join("build/component.wasm"))
    }

    /// Compiles these files, which are copied beside the data.
    fn javascript(&self, files: &[&str]) -> Result<PathBuf, BuildError> {
        for file in files {
            let (from, to) = (self.folder.join(file), self.folder.join("build").join(file));
            fs::copy(&from, &to).map_err(|error| {
                BuildError::Io(
                    format!("copy {} to {}", from.display(), to.display()),
                    error,
                )
            })?;
        }
        let mut compiler = self.installed("componentize-qjs")?;
        compiler.args(&[
            "--wit",
            "wit",
            "--world",
            "interpreter",
            "--js",
            "build/interpreter.js",
            "--module-root",
            "build",
        ]);
        compiler.args(&["--output", "build/component.wasm", "--sync", "--stub-wasi"]);
        compiler.run()?;
        Ok(self.folder.join("build/component.wasm"))
    }

    fn typescript(&self) -> Result<PathBuf, BuildError> {
        let mut compiler = self.installed("tsc")?;
        compiler.args(&["--project", "tsconfig.json"]);
        compiler.run()?;
        self.javascript(&[])
    }

    /// A tool of `node_modules`.
    fn installed(&self, name: &str) -> Result<Tool, BuildError> {
        let path = self.folder.join("node_modules/.bin").join(name);
        if path.exists() {
            return Ok(self.tool(absolute(&path)?));
        }
        Err(BuildError::MissingTool {
            tool: name.to_owned(),
            install: self.language.tools(),
        })
    }
}

fn absolute(path: &Path) -> Result<PathBuf, BuildError> {
    std::path::absolute(path)
        .map_err(|error| BuildError::Io(format!("find {}", path.display()), error))
}

/// One run of a compiler.
struct Tool {
    name: String,
    command: Command,
    install: &'static str,
}

impl Tool {
    fn args(&mut self, arguments: &[&str]) -> &mut Self {
        self.command.args(arguments);
        self
    }

    /// Runs the compiler to its end. Returns what it printed to standard output.
    fn run(mut self) -> Result<String, BuildError> {
        let output = self.command.output().map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                BuildError::MissingTool {
                    tool: self.name.clone(),
                    install: self.install,
                }
            } else {
                BuildError::Io(format!("run {}", self.name), error)
            }
        })?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        // Cargo prints JSON for programs to standard output.
        let told = if stderr.trim().is_empty() {
            stdout.trim()
        } else {
            stderr.trim()
        };
        Err(BuildError::Failed(self.name, told.to_owned()))
    }
}
