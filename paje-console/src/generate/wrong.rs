//! Messages about wrong command lines: one line with the option, its value and what would be right.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Option spellings of other programs, each with ours.
const OTHERS: [(&str, &str); 8] = [
    ("--json", "--format json"),
    ("--csv", "--format csv"),
    ("--from", "--start"),
    ("--to", "--end"),
    ("--colour", "--color"),
    ("--quiet", "--no-warnings"),
    ("--level", "--by"),
    ("--dot", "--graph"),
];

/// Number of accepted values from which on they are not listed.
const MANY: usize = 12;

/// Returns the message about the command line `words`.
pub(super) fn sentence(command: &Command, error: &clap::Error, words: &[OsString]) -> String {
    let of = |kind| text(error.get(kind));
    let option = of(ContextKind::InvalidArg);
    let value = of(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("'{option}' needs a value{}", listed(": ", error))
        }
        ErrorKind::InvalidValue => {
            let near = of(ContextKind::SuggestedValue);
            let near = if near.is_empty() { near } else { format!("; did you mean '{near}'?") };
            format!("invalid value '{value}' for '{option}'{}{near}", listed(": expected ", error))
        }
        ErrorKind::ValueValidation => {
            let cause = std::error::Error::source(error);
            let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
            format!("invalid value '{value}' for '{option}'{cause}")
        }
        ErrorKind::UnknownArgument => {
            let near = of(ContextKind::SuggestedArg);
            // Not hidden aliases.
            let exists = |name: &str| {
                let long = name.split(' ').next().unwrap_or_default().trim_start_matches('-');
                command.get_arguments().any(|argument| argument.get_long() == Some(long))
            };
            let ours = OTHERS.iter().find(|(other, ours)| *other == option && exists(ours));
            if !option.starts_with('-')
                && let Some(joined) = joined(command, words)
            {
                return format!("unknown argument '{option}'; write {joined}");
            }
            let what = if option.starts_with('-') { "option" } else { "argument" };
            match ours {
                Some((_, ours)) => format!("unknown {what} '{option}'; use {ours}"),
                None if !exists(&near) => format!("unknown {what} '{option}'; see --help"),
                None => format!("unknown {what} '{option}'; did you mean '{near}'?"),
            }
        }
        ErrorKind::ArgumentConflict => {
            let prior = of(ContextKind::PriorArg);
            match prior.as_str() {
                "" => format!("'{option}' cannot be used with other options"),
                prior if prior == option => format!("'{option}' is given more than once"),
                prior => format!("'{option}' cannot be used with '{prior}'"),
            }
        }
        ErrorKind::MissingRequiredArgument => format!("'{option}' is missing; see --help"),
        ErrorKind::NoEquals => format!("'{option}' needs its value after '='"),
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_owned()
        }
    }
}

/// Returns an option with its value after `=` if that makes the command line right. Some options have
/// optional values, which must not be the next word.
fn joined(command: &Command, words: &[OsString]) -> Option<String> {
    (1..words.len().saturating_sub(1)).find_map(|at| {
        let long = words[at].to_str()?.strip_prefix("--")?;
        command
            .get_arguments()
            .find(|it| it.is_require_equals_set() && it.get_long() == Some(long))?;
        let joined = format!("--{long}={}", words[at + 1].to_str()?);
        let mut words = words.to_vec();
        words.splice(at..at + 2, [OsString::from(&joined)]);
        command.clone().try_get_matches_from(words).ok().map(|_| joined)
    })
}

fn listed(before: &str, error: &clap::Error) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(all)) if all.len() > MANY => {
            format!("{before}one of the {} names in --help", all.len())
        }
        Some(ContextValue::Strings(all)) if !all.is_empty() => {
            let (last, first) = all.split_last().map_or(("", &[][..]), |(l, f)| (l.as_str(), f));
            match first {
                [] => format!("{before}{last}"),
                first => format!("{before}{} or {last}", first.join(", ")),
            }
        }
        _ => String::new(),
    }
}

fn text(value: Option<&ContextValue>) -> String {
    match value {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(all)) => all.join("' and '"),
        _ => String::new(),
    }
}
