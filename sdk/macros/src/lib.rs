//! Macros of the kindsight SDK, which exports them. Depend on `kindsight-sdk` instead of this
//! crate.

mod folder;

use std::path::Path;

use proc_macro::{Literal, TokenStream, TokenTree};

use folder::Folder;

/// Reads the fixtures of a folder of the crate, from all its files `*.yaml`, while the crate is
/// compiled.
///
/// `fixtures!("fixtures")` is an expression of the type `Fixtures`. A file contains a list of
/// fixtures, or several documents with one fixture or a list in each. Their members are defined by
/// the contract (`wit/fixtures.schema.json`). An invalid fixture is a compile error with its file
/// and line.
#[proc_macro]
pub fn fixtures(input: TokenStream) -> TokenStream {
    let read = folder_name(input).and_then(|name| {
        let root = std::env::var("CARGO_MANIFEST_DIR");
        let root = root.map_err(|_| "this crate is not built by Cargo".to_owned())?;
        Folder::read(&Path::new(&root).join(name))
    });
    let code = match read {
        Ok(folder) => expression(&folder),
        Err(what) => format!("::core::compile_error!({})", Literal::string(&what)),
    };
    code.parse().unwrap_or_default()
}

/// The name in `fixtures!("name")`.
fn folder_name(input: TokenStream) -> Result<String, String> {
    let usage = || "write the name of a folder of this crate: fixtures!(\"fixtures\")".to_owned();
    let mut tokens = input.into_iter();
    let (Some(TokenTree::Literal(literal)), None) = (tokens.next(), tokens.next()) else {
        return Err(usage());
    };
    let literal = literal.to_string();
    let name = literal
        .strip_prefix('"')
        .and_then(|literal| literal.strip_suffix('"'));
    let name = name.filter(|name| !name.is_empty() && !name.contains('\\'));
    name.map(str::to_owned).ok_or_else(usage)
}

/// The fixtures as an expression. Cargo compiles it again when one of the included files changes.
/// The SDK's check finds files that were added.
fn expression(folder: &Folder) -> String {
    let path = Literal::string(&folder.path.display().to_string());
    let json = Literal::string(&folder.json);
    let files = folder
        .files
        .iter()
        .map(|file| Literal::string(file).to_string());
    let files: Vec<String> = files.collect();
    let included = folder.files.iter().map(|file| {
        let file = folder.path.join(file).display().to_string();
        format!("::core::include_bytes!({})", Literal::string(&file))
    });
    let included: Vec<String> = included.collect();
    // A component must not reveal where it was built.
    format!(
        "{{
            const _: &[&[u8]] = &[{included}];
            #[cfg(target_arch = \"wasm32\")]
            const FOLDER: &str = \"\";
            #[cfg(not(target_arch = \"wasm32\"))]
            const FOLDER: &str = {path};
            ::kindsight_sdk::Fixtures::of_folder({json}, FOLDER, &[{files}])
        }}",
        included = included.join(", "),
        files = files.join(", "),
    )
}
