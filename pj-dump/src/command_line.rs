//! Selects the command line by the program's name: `pj_dump` or `pj_dump_csv`.
//!
//! PajeNG's development version has a program `pj_dump_csv` that writes rows to five files. If this
//! program is called by that name, through a link, it acts as `pj_dump --prefix`, with that
//! version's option `-p` and its quoting. It has a subset of `pj_dump`'s options.

use std::env::args_os;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches, Parser};
use paje_console::generate;

use crate::cli::Cli;
use crate::manual::{CSV_MANUAL, MANUAL};

const CSV: &str = "pj_dump_csv";

/// Options of `pj_dump` that `pj_dump_csv` does not have, since it only writes rows to files.
const NOT_FOR_CSV: [&str; 15] = [
    "quiet",
    "user_defined",
    "probabilistic",
    "container",
    "dot",
    "time",
    "header",
    "type_hierarchy",
    "entity_hierarchy",
    "out_of_core",
    "tables",
    "format",
    "lines",
    "encoding",
    "partition_by",
];

/// Parses the command line of the process. Ends the process after an error, help or a similar
/// request.
#[must_use]
pub fn parse() -> Cli {
    let called = args_os().next().unwrap_or_default();
    match Path::new(&called).file_stem() == Some(OsStr::new(CSV)) {
        true => generate::parse::<Csv>(&CSV_MANUAL).0,
        false => generate::parse::<Cli>(&MANUAL),
    }
}

pub(crate) fn of(program: &str) -> Command {
    if program == CSV { Csv::command() } else { Cli::command() }
}

/// Command line of `pj_dump_csv`, converted to the equivalent one of `pj_dump`.
#[derive(Debug)]
pub struct Csv(pub Cli);

impl Parser for Csv {}

impl CommandFactory for Csv {
    fn command() -> Command {
        let all = Cli::command();
        let arguments = all.get_arguments().filter(|argument| {
            let id = argument.get_id().as_str();
            id != "prefix" && !NOT_FOR_CSV.contains(&id)
        });
        let prefix = all.get_arguments().find(|argument| argument.get_id() == "prefix");
        let prefix = prefix.cloned().map(|prefix| {
            prefix
                .short('p')
                .required(true)
                .help("Prefix of the names of the files")
                .long_help(Resettable::Reset)
                .allow_hyphen_values(true)
                .help_heading(Resettable::Reset)
                .conflicts_with(Resettable::Reset)
        });
        Command::new(CSV)
            .about("Dumps a Pajé trace into five files of rows, byte for byte as PajeNG's pj_dump_csv does")
            .long_about(
                "Dumps a Pajé trace into five files of rows, byte for byte as PajeNG's pj_dump_csv does: \
                 PREFIX.container.csv, PREFIX.state.csv, PREFIX.variable.csv, PREFIX.event.csv and \
                 PREFIX.link.csv, each below a line with the names of its columns.\n\n\
                 They appear together, once the whole trace has been found valid. It is pj_dump by another \
                 name: the same as pj_dump --prefix PREFIX --quotes keep.",
            )
            .version(all.get_version().unwrap_or_default().to_owned())
            .disable_help_flag(true)
            .disable_version_flag(true)
            .infer_long_args(true)
            .args_override_self(true)
            .after_help(CSV_MANUAL.after_help())
            .after_long_help(CSV_MANUAL.after_long_help())
            .args(prefix.into_iter().chain(arguments.cloned()))
            .mut_arg("quotes", |quotes| quotes.default_value("keep"))
    }

    fn command_for_update() -> Command {
        Csv::command()
    }
}

impl FromArgMatches for Csv {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut words = vec![OsString::from(CSV), "--quotes=keep".into()];
        for argument in Csv::command().get_arguments() {
            let id = argument.get_id().as_str();
            let given = matches.value_source(id) == Some(ValueSource::CommandLine);
            let (true, Some(long)) = (given, argument.get_long()) else { continue };
            let option = OsString::from(format!("--{long}"));
            if !matches!(argument.get_action(), ArgAction::Set | ArgAction::Append) {
                words.push(option);
                continue;
            }
            for value in matches.get_raw(id).into_iter().flatten() {
                let mut word = option.clone();
                word.push("=");
                word.push(value);
                words.push(word);
            }
        }
        words.push("--".into());
        words.extend(matches.get_raw("files").into_iter().flatten().map(OsStr::to_owned));
        let mut cli =
            Cli::try_parse_from(words).map_err(|error| error.with_cmd(&Csv::command()))?;
        cli.program = CSV;
        Ok(Csv(cli))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Csv::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use paje_console::Quotes;

    use super::*;

    fn read(words: &[&str]) -> Result<Cli, ErrorKind> {
        let csv = Csv::try_parse_from([&[CSV], words].concat());
        csv.map(|csv| csv.0).map_err(|error| error.kind())
    }

    #[test]
    fn the_command_line_is_consistent() {
        Csv::command().debug_assert();
        let all = Cli::command();
        for id in NOT_FOR_CSV {
            assert!(all.get_arguments().any(|argument| argument.get_id() == id), "{id}");
        }
    }

    #[test]
    fn options_of_pajengs_program_are_read() {
        let words =
            ["-a1", "-e2", "-f", "-i", "-l", "9", "-n", "-p", "-out", "-s", "-3", "-z", "t", "u"];
        let cli = read(&words).expect("a command line");
        assert_eq!(
            (cli.less.stop_at, cli.which.span.end, cli.which.span.start),
            (Some(1.0), Some(2.0), Some(-3.0))
        );
        let accepted = cli.reading.accepted;
        assert!(cli.flex && cli.less.no_imbrication);
        assert!(accepted.no_strict && accepted.ignore_incomplete_links);
        assert_eq!((cli.float_precision, cli.prefix), (9, Some("-out".into())));
        assert_eq!((cli.files.len(), cli.program, cli.quotes), (2, CSV, Quotes::Keep));
        let cli = read(&["--pre", "a", "--pre=b", "--quotes", "strip", "--nature=state,link"]);
        let cli = cli.expect("a command line");
        assert_eq!((cli.prefix, cli.quotes), (Some("b".into()), Quotes::Strip));
        assert_eq!((cli.which.natures.nature.len(), cli.files.len()), (2, 0));
        assert_eq!(read(&["t"]).err(), Some(ErrorKind::MissingRequiredArgument));
        for option in ["-u", "-h", "-q", "-o", "-c", "-d", "-t", "--dot", "--tables=d"] {
            let found = read(&["-p", "a", option, "t"]).err();
            assert_eq!(found, Some(ErrorKind::UnknownArgument), "{option}");
        }
    }
}
