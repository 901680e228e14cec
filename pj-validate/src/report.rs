//! Output for people. The modules [`json`] and [`csv`] write output for machines.

pub mod csv;
pub mod json;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use paje_sim::error::Problem;

use crate::check::{Disorder, Report};
use crate::excerpt::Shown;
use crate::finding::{Cause, Finding, Severity};
use crate::summary::{Summary, depth_first};

/// Text styles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Styles {
    error: Style,
    warning: Style,
    note: Style,
    strong: Style,
}

impl Styles {
    /// Returns terminal colours.
    #[must_use]
    pub const fn coloured() -> Self {
        Styles {
            error: AnsiColor::BrightRed.on_default().bold(),
            warning: AnsiColor::BrightYellow.on_default().bold(),
            note: AnsiColor::BrightCyan.on_default().bold(),
            strong: Style::new().bold(),
        }
    }

    const fn of(&self, severity: Severity) -> Style {
        match severity {
            Severity::Error => self.error,
            Severity::Warning => self.warning,
        }
    }
}

/// Number of indented levels of a tree. Deeper levels share a column.
const DEEPEST: usize = 30;

/// Writer of reports for people.
#[derive(Debug)]
pub struct Human<W> {
    out: W,
    files: Vec<String>,
    styles: Styles,
}

impl<W: Write> Human<W> {
    /// Creates a writer to `out`. `files` has a name for each of [`Report::files`].
    pub const fn new(out: W, files: Vec<String>, styles: Styles) -> Self {
        Human { out, files, styles }
    }

    /// Writes all findings: errors first, then warnings. Findings of the same kind are combined
    /// unless `each` is true. Returns whether any were combined.
    pub fn findings(&mut self, findings: &[Finding], each: bool) -> io::Result<bool> {
        let of = |severity| findings.iter().filter(move |it| it.severity == severity);
        for error in of(Severity::Error) {
            self.finding(error)?;
        }
        // Groups are in the order of their first findings.
        let mut kinds: Vec<Vec<&Finding>> = Vec::new();
        for warning in of(Severity::Warning) {
            let kind = kinds.iter_mut().find(|kind| !each && kind[0].code() == warning.code());
            match kind {
                Some(kind) => kind.push(warning),
                None => kinds.push(vec![warning]),
            }
        }
        for kind in &kinds {
            self.gathered(kind)?;
        }
        Ok(kinds.iter().any(|kind| kind.len() > 1))
    }

    fn gathered(&mut self, kind: &[&Finding]) -> io::Result<()> {
        let Some((first, rest)) = kind.split_first() else { return Ok(()) };
        if rest.is_empty() {
            return self.finding(first);
        }
        let last = kind.iter().map(|it| (it.last_file, it.last_line)).max();
        let more = kind.iter().map(|it| it.count).sum::<u64>() - 1;
        let note =
            format!("{more} more of this kind, {}", self.last(first, last.unwrap_or_default()));
        self.finding_with_notes(first, first.note.iter().cloned().chain([note]))
    }

    /// Says where the last of several lines is.
    fn last(&self, first: &Finding, (file, line): (usize, u64)) -> String {
        if file == first.file {
            return format!("last in line {line}");
        }
        format!("last in line {line} of {}", self.name(file))
    }

    fn name(&self, file: usize) -> &str {
        self.files.get(file).map_or("", String::as_str)
    }

    /// Writes a finding in the form `FILE:LINE:COLUMN: error[code]: sentence`, with the line.
    pub fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let mut notes = Vec::new();
        notes.extend(finding.note.clone());
        if finding.count > 1 {
            let more = finding.count - 1;
            let times = if more == 1 { "time" } else { "times" };
            let last = self.last(finding, (finding.last_file, finding.last_line));
            notes.push(format!("{more} more {times}, {last}"));
        }
        match finding.consequences {
            0 => {}
            1 => notes.push("1 line that depends on it was not checked".into()),
            lines => notes.push(format!("{lines} lines that depend on it were not checked")),
        }
        self.finding_with_notes(finding, notes.into_iter())
    }

    fn finding_with_notes(
        &mut self,
        finding: &Finding,
        notes: impl Iterator<Item = String>,
    ) -> io::Result<()> {
        let Human { out, files, styles } = self;
        let file = files.get(finding.file).map_or("", String::as_str);
        let (strong, colour) = (styles.strong, styles.of(finding.severity));
        let position = finding.position;
        let place = position.map_or_else(String::new, |position| format!(":{position}"));
        writeln!(
            out,
            "{strong}{file}{place}:{strong:#} {colour}{}[{}]:{colour:#} {strong}{}{strong:#}",
            finding.severity.name(),
            finding.code(),
            finding.cause
        )?;
        let line = position.map_or(0, |position| position.line).to_string();
        if let (Some(excerpt), Some(position)) = (&finding.excerpt, position) {
            let Shown { text, indent, width } = excerpt.shown(position.column, finding.width);
            let (indent, carets) = (" ".repeat(indent), "^".repeat(width));
            writeln!(out, " {line} | {text}")?;
            let margin = " ".repeat(line.len());
            writeln!(out, " {margin} | {indent}{colour}{carets}{colour:#}")?;
        }
        let note = styles.note;
        for text in notes {
            writeln!(out, " {} {note}={note:#} {text}", " ".repeat(line.len()))?;
        }
        Ok(())
    }

    /// Writes a sentence about a file. `word` precedes it, such as `note`.
    fn remark(&mut self, file: usize, word: &str, text: &str) -> io::Result<()> {
        let Human { out, files, styles } = self;
        let (file, style) = (files.get(file).map_or("", String::as_str), styles.note);
        writeln!(out, "{file}: {style}{word}:{style:#} {text}")
    }

    /// Writes which files are truncated, and how many findings are not listed.
    pub fn remarks(&mut self, report: &Report) -> io::Result<()> {
        for (file, _) in report.files.iter().enumerate().filter(|(_, read)| read.truncated) {
            let until = report.summary.times.map_or_else(String::new, |(_, end)| {
                format!("; if its lines are in time order, it is complete before {end}")
            });
            self.remark(file, "note", &format!("the file is truncated{until}"))?;
        }
        let counts = [(report.unlisted_errors, "error"), (report.unlisted_warnings, "warning")];
        for (count, what) in counts {
            if count > 0 {
                let what = counted(count, what);
                self.remark(0, "note", &format!("{what} more; --max-errors 0 lists all"))?;
            }
        }
        Ok(())
    }

    /// Writes which option lists each of the combined warnings.
    pub fn how_to_see_each(&mut self) -> io::Result<()> {
        self.remark(0, "note", "warnings of one kind are combined; --only KIND lists each")
    }

    /// Writes a hint that an option would help.
    pub fn hint(&mut self, report: &Report) -> io::Result<()> {
        let has_old_name = |finding: &Finding| match &finding.cause {
            Cause::Problem(Problem::Line { fault, .. }) => fault.is_old_name(),
            _ => false,
        };
        if report.findings.iter().any(has_old_name) {
            self.remark(0, "hint", "`-n` reads the field names of older traces")?;
        }
        let Disorder { events, lanes } = report.disorder;
        let what = match (events, lanes) {
            (0, _) => return Ok(()),
            (1, _) => "1 event is not in time order in its lane (a container and a type)".into(),
            (_, 1) => {
                format!(
                    "{events} events are not in time order in their lane (a container and a type)"
                )
            }
            _ => format!(
                "{events} events are not in time order in their {lanes} lanes (a container and a type each)"
            ),
        };
        let remedy = "`pj_dump --sort` replays such a trace as if it had been sorted by time";
        self.remark(0, "hint", &format!("{what}; {remedy}"))
    }

    /// Writes the tree of containers.
    pub fn containers(&mut self, summary: &Summary) -> io::Result<()> {
        let parents: Vec<usize> = summary.containers.iter().map(|c| c.parent).collect();
        writeln!(self.out, "containers")?;
        for (node, depth) in depth_first(&parents) {
            let container = &summary.containers[node];
            let name = named(&container.name, container.alias.as_deref());
            let type_ = plain(&summary.types[container.type_].name);
            let indent = "  ".repeat(depth.min(DEEPEST) + 1);
            if node == 0 {
                writeln!(self.out, "{indent}{name}")?;
            } else {
                writeln!(self.out, "{indent}{name} {type_}")?;
            }
        }
        Ok(())
    }

    /// Writes the tree of types, in the form `Name (alias) nature`, with the number of objects.
    pub fn types(&mut self, summary: &Summary) -> io::Result<()> {
        let parents: Vec<usize> = summary.types.iter().map(|type_| type_.parent).collect();
        writeln!(self.out, "types")?;
        for (node, depth) in depth_first(&parents) {
            let type_ = &summary.types[node];
            let name = named(&type_.name, type_.alias.as_deref());
            let nature = type_.nature.name().to_lowercase();
            let indent = "  ".repeat(depth.min(DEEPEST) + 1);
            write!(self.out, "{indent}{name} {nature}")?;
            if node > 0 {
                write!(self.out, ", {}", type_.objects)?;
            }
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// Writes the numbers of objects in the trace.
    pub fn summary(&mut self, report: &Report) -> io::Result<()> {
        let summary = &report.summary;
        let out = &mut self.out;
        let mut row = |name: &str, value: String| writeln!(out, "{name:<18} {value}");
        if report.files.len() > 1 {
            row("files", report.files.len().to_string())?;
        }
        row("lines", summary.lines.to_string())?;
        if let Some((first, last)) = summary.times {
            row("time", format!("{first} to {last}"))?;
        }
        row("event definitions", summary.event_definitions.to_string())?;
        let counts = [
            ("types", summary.types.len().saturating_sub(1) as u64),
            ("containers", summary.containers.len().saturating_sub(1) as u64),
            ("states", summary.states),
            ("variables", summary.variables),
            ("events", summary.events),
            ("links", summary.links),
            ("values", summary.values),
        ];
        for (name, count) in counts {
            row(name, count.to_string())?;
        }
        Ok(())
    }

    /// Writes the verdict. `shown` is true if warnings were shown.
    pub fn verdict(&mut self, report: &Report, sound: bool, shown: bool) -> io::Result<()> {
        let Styles { strong, error, .. } = self.styles;
        let (word, style) = if sound { ("sound", strong) } else { ("not sound", error) };
        let mut counts = Vec::new();
        for (count, what) in [(report.errors, "error"), (report.warnings, "warning")] {
            if count > 0 {
                counts.push(counted(count, what));
            }
        }
        if report.warnings > 0 && !shown {
            counts.push("which are not shown".into());
        }
        let separator = if counts.is_empty() { "" } else { ": " };
        let (file, counts) = (self.files.first().map_or("", String::as_str), counts.join(", "));
        writeln!(self.out, "{file} is {style}{word}{style:#}{separator}{counts}")
    }

    /// Writes the duration of the check.
    pub fn seconds(&mut self, seconds: f64) -> io::Result<()> {
        writeln!(self.out, "{seconds:.6}")
    }

    /// Flushes the output.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Escapes a name for a tree as in messages, but without quotes.
fn plain(name: &[u8]) -> String {
    let shown = paje_parser::error::shown(name);
    shown[1..shown.len() - 1].into()
}

fn named(name: &[u8], alias: Option<&[u8]>) -> String {
    match alias {
        Some(alias) if alias != name => format!("{} ({})", plain(name), plain(alias)),
        _ => plain(name),
    }
}
