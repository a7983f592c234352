//! Macros of the kindsight SDK, which exports them again: depend on `kindsight-sdk`.

mod folder;

use std::path::Path;

use proc_macro::{Literal, TokenStream, TokenTree};

use folder::Folder;

/// Reads the fixtures of a folder of the crate: every `*.yaml` in it, while the crate is compiled.
///
/// `fixtures!("fixtures")` is an expression of the type `Fixtures`. A file holds a list of fixtures,
/// or several documents with one or a list in each; their members are those of the contract
/// (`wit/fixtures.schema.json`). What is wrong with one does not compile, with its file and line.
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
        .and_then(|it| it.strip_suffix('"'));
    let name = name.filter(|name| !name.is_empty() && !name.contains('\\'));
    name.map(str::to_owned).ok_or_else(usage)
}

/// The fixtures as an expression. Cargo compiles it again when a file changes that it includes; files
/// that are added are found by the SDK's check.
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
    // A component does not tell where it was built.
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
