use std::process::{Command, Stdio};

/// Opens an address in the user's browser, if there is a screen. Returns whether a browser was
/// started.
pub(crate) fn browser(url: &str) -> bool {
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if !(screen || cfg!(target_os = "macos")) {
        return false;
    }
    let mut command = Command::new(opener);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
