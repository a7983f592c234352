//! Packs the files that `kindsight plugin` writes or builds with: the SDK in Rust with the contract, the templates of
//! projects, and the adapter in place of WASI.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// The crates of the SDK, with their folders in the repository and beside a project.
const CRATES: [(&str, &str); 4] = [
    ("sdk/contract", "contract"),
    ("sdk/macros", "macros"),
    ("sdk/rust", "rust"),
    ("sdk/settings", "settings"),
];

/// The parts of a crate that are packed, without its tests and fixtures.
const PARTS: [&str; 5] = ["src", "wit", "fixtures", "Cargo.toml", "README.md"];

type Files = BTreeMap<String, String>;

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let root = here.join("../..");
    let mut sdk = Files::new();
    for (from, to) in CRATES {
        for part in PARTS {
            add(
                &root.join(from).join(part),
                &format!("{to}/{part}"),
                &mut sdk,
            )?;
        }
    }
    sdk.insert("Cargo.toml".to_owned(), workspace(&root)?);
    fs::write(out.join("sdk.gz"), packed(&sdk)?)?;

    let mut templates = Files::new();
    add(&here.join("templates"), "", &mut templates)?;
    add(
        &root.join("wit/interpreter.wit"),
        "wit/interpreter.wit",
        &mut templates,
    )?;
    fs::write(out.join("templates.gz"), packed(&templates)?)?;

    let stubs = here.join("src/wasi_stubs.wat");
    println!("cargo::rerun-if-changed={}", stubs.display());
    fs::write(out.join("wasi_stubs.wasm"), wat::parse_file(stubs)?)?;
    Ok(())
}

/// Adds a file, or the files of a folder, under this name. A path that does not exist adds nothing.
fn add(path: &Path, name: &str, files: &mut Files) -> Result<(), Box<dyn Error>> {
    if !path.exists() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed={}", path.display());
    if path.is_file() {
        files.insert(name.to_owned(), fs::read_to_string(path)?);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let below = entry.file_name().to_string_lossy().into_owned();
        let below = if name.is_empty() {
            below
        } else {
            format!("{name}/{below}")
        };
        add(&entry.path(), &below, files)?;
    }
    Ok(())
}

/// The manifest of the workspace of the packed crates: what they inherit from the repository's.
fn workspace(root: &Path) -> Result<String, Box<dyn Error>> {
    let path = root.join("Cargo.toml");
    println!("cargo::rerun-if-changed={}", path.display());
    let manifest: toml::Table = fs::read_to_string(path)?.parse()?;
    let of = manifest.get("workspace").and_then(toml::Value::as_table);
    let mut workspace = of.ok_or("no workspace")?.clone();
    workspace.remove("default-members");
    let members = CRATES.map(|(_, to)| toml::Value::from(to));
    workspace.insert("members".to_owned(), members.to_vec().into());
    let dependencies = workspace
        .get_mut("dependencies")
        .and_then(toml::Value::as_table_mut);
    let dependencies = dependencies.ok_or("no dependencies")?;
    dependencies.retain(|_, dependency| {
        let path = dependency.get("path").and_then(toml::Value::as_str);
        path.is_none_or(|path| CRATES.iter().any(|(from, _)| *from == path))
    });
    for (_, dependency) in dependencies.iter_mut() {
        let path = dependency.get_mut("path");
        if let Some(path) = path
            && let Some((_, to)) = CRATES.iter().find(|(from, _)| path.as_str() == Some(from))
        {
            *path = (*to).into();
        }
    }
    let mut manifest = toml::Table::new();
    manifest.insert("workspace".to_owned(), workspace.into());
    Ok(toml::to_string(&manifest)?)
}

/// The files as compressed JSON, an object of names and texts.
fn packed(files: &Files) -> Result<Vec<u8>, Box<dyn Error>> {
    let files = files
        .iter()
        .map(|(name, text)| (name.clone(), Value::from(text.as_str())));
    let json = Value::Object(files.collect());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(json.to_string().as_bytes())?;
    Ok(encoder.finish()?)
}
