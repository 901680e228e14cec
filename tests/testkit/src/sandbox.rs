use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::{fed, folder, names, outcome};

/// A temporary folder with files, and a program to run in it.
#[derive(Debug)]
pub struct Sandbox {
    folder: TempDir,
    program: PathBuf,
}

impl Sandbox {
    /// Creates a folder with these files for a program.
    pub fn new(program: &str, files: &[(&str, &[u8])]) -> Self {
        Sandbox { folder: folder(files), program: program.into() }
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and creates its folder if necessary.
    pub fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("writable");
        fs::write(path, bytes).expect("writable");
    }

    /// Returns the bytes of a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the text of a file.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    /// Returns the sorted names of files and folders.
    pub fn names(&self) -> Vec<String> {
        names(self.folder.path())
    }

    /// Removes a file or a folder, if it exists.
    pub fn remove(&self, name: &str) {
        let path = self.path(name);
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }

    /// Returns a command that runs the program in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder);
        command
    }

    /// Runs the program. Returns its exit status, standard output and standard error.
    pub fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        outcome(&self.command(arguments).output().expect("the program starts"))
    }

    /// Runs the program with this standard input. Returns its exit status, standard output and
    /// standard error.
    pub fn fed(&self, arguments: &[&str], input: &[u8]) -> (i32, String, String) {
        outcome(&fed(&mut self.command(arguments), input))
    }

    /// Runs a shell script in the folder. The program is `$0`, and its folder is in PATH.
    pub fn shell(&self, script: &str) -> Output {
        let bin = self.program.parent().unwrap_or(Path::new("."));
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(&self.program).env("PATH", path);
        shell.current_dir(&self.folder).output().expect("there is a shell")
    }
}
