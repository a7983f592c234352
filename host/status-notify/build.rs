//! Generates the messages and the service of the protocol file.

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=proto");
    let mut config = tonic_prost_build::Config::new();
    // If the crate has no `protoc` for this machine, prost uses `PROTOC` or the `protoc` of the machine.
    if let Ok(protoc) = protoc_bin_vendored::protoc_bin_path() {
        config.protoc_executable(protoc);
    }
    let files = &["proto/statusnotify.proto"];
    tonic_prost_build::configure().compile_with_config(config, files, &["proto"])
}
