//! Scaling of `pj_dump` with threads, in one command; see `--help`, and `benches::scaling` for the
//! definitions.

#[cfg(target_os = "linux")]
mod cli;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    cli::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("scaling: this study places threads and drops pages the way Linux does");
    std::process::ExitCode::from(2)
}
