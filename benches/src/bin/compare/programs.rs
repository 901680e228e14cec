//! The programs that are compared.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Paths of the programs.
#[derive(Debug)]
pub(crate) struct Programs {
    /// This program.
    pub(crate) compare: PathBuf,
    /// Our `pj_dump`.
    pub(crate) dump: PathBuf,
    /// Our `pj_validate`.
    pub(crate) validate: PathBuf,
    /// PajeNG's `pj_dump`.
    pub(crate) pajeng: PathBuf,
    /// The version of Debian's package, such as `1.3.6-3+b1`.
    pub(crate) pajeng_version: String,
}

impl Programs {
    /// Finds PajeNG and hyperfine, and builds ours, as they are shipped, if no folder of them is given.
    pub(crate) fn find(
        pajeng: Option<&Path>,
        ours: Option<&Path>,
    ) -> Result<Programs, Box<dyn Error>> {
        let named = pajeng.map(Path::to_owned);
        let candidates = match named {
            Some(program) => vec![program],
            // Our own Debian package puts PajeNG's program aside.
            None => {
                ["/usr/bin/pj_dump.pajeng", "/usr/bin/pj_dump", "pj_dump"].map(PathBuf::from).into()
            }
        };
        let Some(pajeng) = candidates.into_iter().find(|program| is_pajeng(program)) else {
            return Err("PajeNG's pj_dump is not here; on Debian `apt-get install pajeng`, \
                        elsewhere name it with --pajeng"
                .into());
        };
        if said(Command::new("hyperfine").arg("--version")).is_none() {
            return Err("hyperfine is not here; on Debian `apt-get install hyperfine`".into());
        }
        let compare = std::env::current_exe()?;
        let folder = match ours {
            Some(folder) => folder.to_owned(),
            None => {
                build()?;
                // Cargo puts programs of one profile side by side.
                let folder = compare.parent().ok_or("this program is in no folder")?;
                folder.with_file_name("dist")
            }
        };
        // The program itself calls every version a "Development build".
        let version = ["--show", "--showformat=${Version}", "pajeng"];
        let pajeng_version = match Command::new("dpkg-query").args(version).output() {
            Ok(output) if output.status.success() && pajeng.starts_with("/usr/bin") => {
                String::from_utf8_lossy(&output.stdout).into_owned()
            }
            _ => "of unknown version".into(),
        };
        Ok(Programs {
            dump: folder.join("pj_dump"),
            validate: folder.join("pj_validate"),
            compare,
            pajeng,
            pajeng_version,
        })
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--profile", "dist", "--features", "tables"])
        .args(["-p", "pj-dump", "-p", "pj-validate"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()?;
    if status.success() { Ok(()) } else { Err("our programs do not build".into()) }
}

/// Only PajeNG's help offers a reader made with flex.
fn is_pajeng(program: &Path) -> bool {
    said(Command::new(program).arg("--help")).is_some_and(|help| help.contains("flex-based"))
}

/// Output of a program, standard error behind standard output, if it can be run at all.
fn said(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).into_owned())
}
