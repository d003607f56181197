//! Builds the shell's context: the window's configuration, its one capability and the permissions of the four
//! commands listed here. A command that isn't listed can't be called by the page, whatever the code registers.

fn main() {
    println!("cargo:rerun-if-changed=../ui/dist");
    println!("cargo:rerun-if-changed=isolation");
    let commands = tauri_build::AppManifest::new().commands(&["call", "subscribe", "ack", "unsubscribe"]);
    let attributes = tauri_build::Attributes::new().app_manifest(commands);
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo:warning=the window's configuration is refused: {error:#}");
        std::process::exit(1);
    }
}
