//! Man pages and shell completions, generated from a program's command line.
//!
//! A program supports `--generate man|complete-bash|complete-zsh|complete-fish` if its command line
//! has a field [`Generate`] and it calls [`parse`] instead of clap's `parse`. Exit statuses,
//! examples and files are in the program's [`Manual`], which `--help` and the man page print.
//!
//! ```
//! # use clap::Parser;
//! # use paje_console::generate::{Generate, Manual, What};
//! const MANUAL: Manual = Manual {
//!     statuses: &[(0, "tea was made"), (2, "no tea was made")],
//!     examples: &[("tea --sugar 2", "sweet tea")],
//!     sections: &[],
//! };
//!
//! /// Makes tea.
//! #[derive(Parser)]
//! #[command(name = "tea", version, after_help = MANUAL.after_help())]
//! struct Cli {
//!     /// Number of lumps
//!     #[arg(long)]
//!     sugar: u8,
//!     #[command(flatten)]
//!     generate: Generate,
//! }
//!
//! // `main` calls paje_console::generate::parse(&MANUAL). With --generate, no other option is required.
//! let words = ["tea", "--generate", "man"];
//! let text = paje_console::generate::text::<Cli>(&MANUAL, words).expect("a valid command line").expect("a man page");
//! assert!(String::from_utf8_lossy(&text).contains("lumps"));
//! ```

mod manual;
mod page;
mod wrong;

use std::env::args_os;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::process::exit;

use anstream::AutoStream;
use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, Args, Command, Id, Parser, ValueEnum};
use clap_complete::Shell;

use crate::failure::TROUBLE;
use crate::output::standard_output;

pub use manual::{Block, Manual};

/// The option `--generate`.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Generate {
    /// Print the man page or the completions for a shell, instead of anything else
    #[arg(long, value_name = "WHAT", value_enum, exclusive = true, hide_short_help = true)]
    pub generate: Option<What>,
}

/// Help, version and `--generate`, the last options of a command line.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct About {
    /// Option to generate documentation.
    #[command(flatten)]
    pub generate: Generate,

    /// Print this help; -h is shorter
    #[arg(short = 'h', visible_short_alias = '?', long, action = ArgAction::Help)]
    help: Option<bool>,

    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// Generated texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The man page, in roff
    Man,
    /// Completions for bash
    CompleteBash,
    /// Completions for zsh
    CompleteZsh,
    /// Completions for fish
    CompleteFish,
}

/// Parses the command line of the process. Exits after errors, help and version, as clap's `parse`
/// does, and also after `--generate`.
#[must_use]
pub fn parse<C: Parser>(manual: &Manual) -> C {
    let mut command = C::command();
    let words: Vec<_> = args_os().collect();
    let mut matches = matches(&mut command, &words).unwrap_or_else(|error| end(&command, &error));
    if let Some(what) = asked(&matches) {
        let text = what.text(C::command(), manual);
        exit(print(&command, |mut out| out.write_all(&text)));
    }
    C::from_arg_matches_mut(&mut matches)
        .unwrap_or_else(|error| end(&command, &error.format(&mut command.clone())))
}

/// Exits like clap, with two differences: error messages have one line that starts with the program's name, and the
/// exit status shows a failure if the help cannot be printed.
fn end(command: &Command, error: &clap::Error) -> ! {
    if error.use_stderr() {
        let words: Vec<_> = args_os().collect();
        let _ = writeln!(
            io::stderr(),
            "{}: {}",
            command.get_name(),
            wrong::sentence(command, error, &words)
        );
        exit(TROUBLE.into());
    }
    // Colours are printed in the same cases as by clap.
    let text = error.render().ansi().to_string();
    exit(print(command, |out| AutoStream::auto(out).write_all(text.as_bytes())))
}

/// Returns the message about a wrong command line, or nothing if it is right or asks for help. The
/// first word is the program's name.
pub fn complaint<C: Parser>(
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Option<String> {
    let mut command = C::command();
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let error = match matches(&mut command, &words) {
        Ok(mut matches) => C::from_arg_matches_mut(&mut matches).err()?,
        Err(error) => error,
    };
    error.use_stderr().then(|| wrong::sentence(&command, &error, &words))
}

/// Returns the text that a command line requests with `--generate`, or `None` without this option.
/// The first word is the program's name.
pub fn text<C: Parser>(
    manual: &Manual,
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Option<Vec<u8>>, clap::Error> {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let matches = matches(&mut C::command(), &words)?;
    Ok(asked(&matches).map(|what| what.text(C::command(), manual)))
}

/// Parses a command line. To clap, a variable of the environment is an option, with which `--generate` cannot be used. So
/// a command line with a conflict is parsed again without the environment.
fn matches(command: &mut Command, words: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let again = command.clone();
    command.try_get_matches_from_mut(words).or_else(|error| match error.kind() {
        ErrorKind::ArgumentConflict => {
            let again = again.mut_args(|arg| arg.env(Resettable::Reset));
            again.try_get_matches_from(words).map_err(|_| error)
        }
        _ => Err(error),
    })
}

fn asked(matches: &ArgMatches) -> Option<What> {
    matches.get_one("generate").copied()
}

/// Prints to standard output and returns the exit status, which is 2 on failure. A closed pipe is
/// not a failure.
fn print(command: &Command, write: impl FnOnce(File) -> io::Result<()>) -> i32 {
    match standard_output().and_then(write) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let (name, error) = (command.get_name(), splitter::cause(&error));
            let _ = writeln!(io::stderr(), "{name}: standard output: {error}");
            2
        }
        _ => 0,
    }
}

impl What {
    /// Returns the text in UTF-8.
    #[must_use]
    pub fn text(self, command: Command, manual: &Manual) -> Vec<u8> {
        match self {
            What::Man => page::page(command, manual).into_bytes(),
            What::CompleteBash => completions(Shell::Bash, &command),
            What::CompleteZsh => completions(Shell::Zsh, &command),
            What::CompleteFish => {
                // fish would treat a bare question mark as a pattern, which matches no file.
                let text = String::from_utf8_lossy(&completions(Shell::Fish, &command))
                    .replace(" -s ? ", " -s '?' ");
                text.into_bytes()
            }
        }
    }
}

/// Returns the completions without hidden options, because clap would list these for bash.
fn completions(shell: Shell, command: &Command) -> Vec<u8> {
    let name = command.get_name().to_owned();
    let seen: Vec<_> =
        command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned().collect();
    // Groups that options require must exist. They may contain only visible options.
    let is_seen = |id: &Id| seen.iter().any(|argument| argument.get_id() == id);
    let groups = command.get_groups().filter(|group| group.get_args().all(is_seen)).cloned();
    let mut seen = Command::new(name.clone())
        .groups(groups)
        .version(command.get_version().unwrap_or_default().to_owned())
        .disable_help_flag(command.is_disable_help_flag_set())
        .disable_version_flag(command.is_disable_version_flag_set())
        .args(seen.clone());
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut seen, name, &mut text);
    text
}
