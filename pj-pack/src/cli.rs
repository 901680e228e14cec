//! The command line.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Parser};
use paje_console::generate::About;
use paje_console::options::{Format, Formatted, Parallel, Talk, size, whole};
use paje_pack::Settings;

use crate::manual::MANUAL;

/// Headings of the help, in the order of their first options.
const INSTEAD: &str = "Instead of packing";
const HOW: &str = "How it is packed";
const OTHER: &str = "Other";

/// Packs a Pajé trace into a small file from which it can be restored byte for byte.
///
/// All programs read packed traces as they read the text. Any file can be packed, invalid traces
/// too. The output appears when it is complete.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_pack",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    mut_arg("format", |arg| arg.value_parser(Format::among(&[Format::Text, Format::Json]))),
    group = ArgGroup::new("instead").multiple(false),
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// Traces, plain or compressed with gzip, zstd, xz or bzip2, or packed traces; `-` is standard
    /// input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Output; `-` is standard output. By default, FILE is packed to FILE.pjp (instead of .gz,
    /// .zst, .xz, .bz2), and unpacked to standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Unpack a packed trace
    #[arg(short, long, group = "instead", help_heading = INSTEAD)]
    pub unpack: bool,

    /// Read the whole packed trace and report damage
    #[arg(short, long, group = "instead", conflicts_with = "output", help_heading = INSTEAD)]
    pub test: bool,

    /// List the times, the numbers of lines and the sizes of a packed trace
    #[arg(short, long, group = "instead", conflicts_with = "output", help_heading = INSTEAD)]
    pub list: bool,

    /// Print the sequences and loops of each container
    #[arg(long, group = "instead", conflicts_with = "output", help_heading = INSTEAD)]
    pub structure: bool,

    /// Format of --list
    #[command(flatten, next_help_heading = INSTEAD)]
    pub formatted: Formatted,

    /// Longest body of a loop that --structure finds, in events
    #[arg(long, value_name = "N", default_value = "100", value_parser = whole::<u16>(1..=1000), help_heading = INSTEAD)]
    pub max_pattern: u16,

    /// Compression level of zstd
    #[arg(long, value_name = "N", default_value = "3", value_parser = whole::<u8>(1..=22), help_heading = HOW)]
    pub level: u8,

    /// Text per segment, at most 64M
    ///
    /// Larger segments compress a little better and take more memory
    ///
    /// Default: 4M; a 32nd of plain files from 48M, and a 96th of those from 64M to 512M, so that a window reads little
    #[arg(long, value_name = "SIZE", value_parser = size::<usize>(4096..=64 << 20, "a size from 4K to 64M"), help_heading = HOW)]
    pub segment: Option<usize>,

    /// Store no reports, and nothing for windows of time
    ///
    /// The reports are `states` and `comm` of pj_profile; the windows those of pj_dump -s -e
    #[arg(long, help_heading = HOW)]
    pub no_summary: bool,

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = HOW)]
    pub parallel: Parallel,

    /// Choice of messages
    #[command(flatten, next_help_heading = OTHER)]
    pub talk: Talk,

    /// About the program
    #[command(flatten, next_help_heading = OTHER)]
    pub about: About,
}

/// Endings of the names of compressed files.
const ENDINGS: [&str; 5] = [".gz", ".zst", ".xz", ".bz2", ".pjp"];

/// Sizes of plain files that are cut into a fixed number of segments by default. Shorter files can
/// be read quickly as a whole. In longer files, a segment of the usual size is only a small part.
/// The first number of segments is for files below 64 MiB.
const PARTED: Range<u64> = 48 << 20..512 << 20;
const PARTS: [u64; 2] = [32, 96];

impl Cli {
    /// Returns the size of a segment. `text` is the size of the text, if it is known.
    #[must_use]
    pub fn segment_of(&self, text: Option<u64>) -> usize {
        let usual = Settings::default().segment;
        let parts = |size: u64| PARTS[usize::from(size >= 64 << 20)];
        let part = text.filter(|size| PARTED.contains(size)).map(|size| size / parts(size));
        self.segment.or_else(|| part?.try_into().ok()).unwrap_or(usual)
    }

    /// Returns the path of the packed trace of a file.
    ///
    /// # Errors
    /// The file has no name. The error is a sentence for the user.
    pub fn place(&self, file: &Path) -> Result<PathBuf, String> {
        if let Some(output) = &self.output {
            return Ok(output.clone());
        }
        if file == Path::new("-") {
            return Err(
                "standard input needs -o OUT, the file to write (`-` for standard output)".into()
            );
        }
        let mut name = file.as_os_str().to_owned();
        if let Some(text) = file.to_str()
            && let Some(bare) = ENDINGS.iter().find_map(|ending| text.strip_suffix(ending))
        {
            name = bare.into();
        }
        name.push(".pjp");
        Ok(name.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_a_small_part_of_a_long_text() {
        let cli = |words: &[&str]| Cli::parse_from([&["pj_pack", "t"], words].concat());
        let of = |text| cli(&[]).segment_of(text);
        assert_eq!([of(None), of(Some((48 << 20) - 1)), of(Some(512 << 20))], [4 << 20; 3]);
        assert_eq!([of(Some(96 << 20)), of(Some(384 << 20))], [1 << 20, 4 << 20]);
        assert_eq!(of(Some(48 << 20)), 3 << 19);
        assert_eq!(cli(&["--segment", "1M"]).segment_of(Some(64 << 20)), 1 << 20);
    }
}
