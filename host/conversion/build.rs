//! Builds the template components in `sdk/templates`, and generates the list of them.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut templates = kindsight_guest_build::guests_in("sdk/templates", "kindsight-template-")?;
    // The rules of kstatus need no template: they are a component that is not live by default.
    templates.push(kindsight_guest_build::Guest {
        name: "kstatus".to_owned(),
        package: "kindsight-plugin-kstatus".to_owned(),
        folder: "plugins/kstatus".to_owned(),
    });
    // The machines that the templates contain.
    println!("cargo::rerun-if-changed=../../sdk/cel/src");
    println!("cargo::rerun-if-changed=../../sdk/lua/src");
    kindsight_guest_build::build(&templates, "Template")?;
    Ok(())
}
