//! Costs of cutting a trace into pieces and of their replay, in one command; see `--help`, and
//! `benches::pieces` for what is measured.

#[cfg(target_os = "linux")]
mod cli;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    cli::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("pieces: this study places threads and measures memory the way Linux does");
    std::process::ExitCode::from(2)
}
