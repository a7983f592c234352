//! Builds the template components in `sdk/templates`, and generates the list of them.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let templates = kindsight_guest_build::guests_in("sdk/templates", "kindsight-template-")?;
    // The machines that the templates contain.
    println!("cargo::rerun-if-changed=../../sdk/lua/src");
    kindsight_guest_build::build(&templates, "Template")?;
    Ok(())
}
