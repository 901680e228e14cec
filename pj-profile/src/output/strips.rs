//! Heat strips: lines of blocks whose heights show amounts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use paje_console::fill::fill;
use paje_decimal::amounts::{amount, duration};
use paje_pictures::natural;

use super::people::TableView;
use super::screen::{Screen, fitted, heat, width};
use crate::natural::NaturalName;
use crate::pictures::{Pairs, pairs};

const COLOURS: [u8; 6] = [32, 33, 34, 35, 36, 31];

/// Maximum number of values that have a letter.
const LETTERS: usize = 26;

const OTHERS: char = '*';

fn letter(place: Option<usize>) -> char {
    let letters = ('A'..='Z').take(LETTERS);
    place.and_then(|place| letters.into_iter().nth(place)).unwrap_or(OTHERS)
}

type Bins = BTreeMap<usize, BTreeMap<String, f64>>;

const ENDS: usize = 64;

/// Writes a communication matrix for each link type, with a line for each sender and a cell for
/// each receiver.
pub(super) fn matrices(seen: TableView<'_>, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let mut row = 0;
    while row < seen.0.len() {
        let type_ = seen.text("type", row);
        let rows = (row..seen.0.len()).take_while(|row| seen.text("type", *row) == type_);
        let rows = row..row + rows.count();
        row = rows.end;
        let pairs = pairs(seen, rows, ["from", "to"], "count");
        if (3..=ENDS).contains(&pairs.names.len()) {
            matrix(&type_, &pairs, screen, out)?;
        }
    }
    Ok(())
}

fn matrix(
    type_: &str,
    Pairs { names, cells }: &Pairs,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let most = cells.values().copied().fold(0.0, f64::max);
    let wide = label_width(names.iter(), screen);
    writeln!(
        out,
        "\n{}",
        screen.paint(1, &format!("{type_}: links by sender (row) and receiver (column)"))
    )?;
    for (from, name) in names.iter().enumerate() {
        let part = |to: usize| cells.get(&(from, to)).map_or(0.0, |count| count / most);
        let strip: String = (0..names.len()).map(part).map(heat).collect();
        line(name, wide, &screen.paint(36, &strip), "", out)?;
    }
    Ok(())
}

/// Writes a line for each container and type. If containers are added up, there is a line for each
/// value instead.
pub(super) fn times(seen: TableView<'_>, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let by_value = (0..seen.0.len()).all(|row| seen.text("container", row).is_empty());
    let mut totals: BTreeMap<String, f64> = BTreeMap::new();
    let mut lines: BTreeMap<(usize, NaturalName, String, String), Bins> = BTreeMap::new();
    let mut types: BTreeMap<String, usize> = BTreeMap::new();
    let (mut first, mut last, mut length) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
    for row in 0..seen.0.len() {
        let number = |name| seen.number(name, row).unwrap_or(0.0);
        let (start, end, seconds) = (number("start"), number("end"), number("seconds"));
        let (type_, value) = (seen.text("type", row), seen.text("value", row));
        let name = if by_value { value.clone() } else { seen.text("container", row) };
        *totals.entry(value.clone()).or_default() += seconds;
        let next = types.len();
        let place = match by_value {
            true => (0, NaturalName::default()),
            false => (*types.entry(type_.clone()).or_insert(next), NaturalName(name.clone())),
        };
        let bins = lines.entry((place.0, place.1, type_, name)).or_default();
        *bins.entry(number("bin") as usize).or_default().entry(value).or_default() += seconds;
        (first, last, length) = (first.min(start), last.max(end), end - start);
    }
    let bins =
        lines.values().filter_map(|bins| bins.keys().next_back()).max().map_or(0, |bin| bin + 1);
    let mut values: Vec<(&String, f64)> = totals.iter().map(|(name, sum)| (name, *sum)).collect();
    values.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let colour = |value: &str| {
        let place = values.iter().position(|(name, _)| *name == value);
        place.and_then(|place| COLOURS.get(place)).copied().unwrap_or(37)
    };
    let wide = label_width(lines.keys().map(|(.., name)| name), screen);
    let most = |of: &Bins| {
        let sums = of.values().map(|values| values.values().sum());
        if by_value { sums.fold(0.0, f64::max) } else { length }
    };
    let mut type_now = None;
    for ((.., type_, name), of) in &lines {
        if type_now != Some(type_) {
            writeln!(
                out,
                "\n{}",
                screen
                    .paint(1, &format!("{type_}, from {} to {}", duration(first), duration(last)))
            )?;
            type_now = Some(type_);
        }
        let columns = bins.min(screen.width.saturating_sub(wide + 14)).max(1);
        let (most, mut strip) = (most(of), String::new());
        for column in 0..columns {
            let range = column * bins / columns
                ..((column + 1) * bins / columns).max(column * bins / columns + 1);
            let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
            let count = range.len() as f64;
            for (value, seconds) in range.filter_map(|bin| of.get(&bin)).flatten() {
                *sums.entry(value).or_default() += seconds / count;
            }
            let longest = sums.iter().max_by(|a, b| a.1.total_cmp(b.1));
            let Some((value, seconds)) = longest else {
                strip.push(' ');
                continue;
            };
            let whole = most.max(f64::MIN_POSITIVE);
            if by_value || screen.has_colours {
                let block = heat(sums.values().sum::<f64>() / whole).to_string();
                strip += &screen.paint(colour(value), &block);
            } else {
                let letter = letter(values.iter().position(|(name, _)| name == value));
                // Values that take less than half of the bin's time have a lower-case letter.
                let small = seconds / whole < 0.5;
                strip.push(if small { letter.to_ascii_lowercase() } else { letter });
            }
        }
        let sum: f64 = of.values().flat_map(BTreeMap::values).sum();
        line(name, wide, &strip, &duration(sum), out)?;
    }
    if !screen.has_colours && !by_value {
        let named = values.iter().take(LETTERS).enumerate();
        let named = named.map(|(place, (name, _))| format!("{} {name}", letter(Some(place))));
        let others = (values.len() > LETTERS).then(|| format!("{OTHERS} others"));
        let named = named.chain(others);
        let named: Vec<(String, String)> = named.map(|name| (name.clone(), name)).collect();
        legend(&named, screen, out)?;
        let how = "  Letters show the value with the most time, in lower case below half of it.\n";
        write!(out, "{}", fill(how, screen.width))?;
    }
    if screen.has_colours && !by_value {
        let named = values.iter().take(COLOURS.len());
        let named = named.map(|(name, _)| {
            let plain = format!("█ {name}");
            (plain.clone(), screen.paint(colour(name), &plain))
        });
        legend(&named.collect::<Vec<_>>(), screen, out)?;
    }
    Ok(())
}

/// Writes the legend in lines that are as wide as the screen. Each name is given twice: without and
/// with colour.
fn legend(names: &[(String, String)], screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    let mut taken = 0;
    for (plain, painted) in names {
        let wide = width(plain) + 2;
        if taken > 0 && taken + wide > screen.width {
            writeln!(out)?;
            taken = 0;
        }
        write!(out, "  {painted}")?;
        taken += wide;
    }
    writeln!(out)
}

/// Writes the means of variables, in a line for each container. All lines of a type are scaled to
/// its highest mean.
pub(super) fn means(seen: TableView<'_>, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let mut row = 0;
    while row < seen.0.len() {
        let type_ = seen.text("type", row);
        let mut lines: Vec<(String, BTreeMap<usize, f64>)> = Vec::new();
        let mut most = 0.0_f64;
        while row < seen.0.len() && seen.text("type", row) == type_ {
            let name = seen.text("container", row);
            if lines.last().is_none_or(|(last, _)| *last != name) {
                lines.push((name, BTreeMap::new()));
            }
            let mean = seen.number("mean", row).unwrap_or(0.0);
            let bin = seen.number("bin", row).unwrap_or(0.0) as usize;
            lines.last_mut().map(|(_, means)| means.insert(bin, mean));
            most = most.max(mean);
            row += 1;
        }
        lines.sort_by(|(a, _), (b, _)| natural(a, b));
        let bins = lines.iter().filter_map(|(_, means)| means.keys().next_back()).max();
        let wide = label_width(lines.iter().map(|(name, _)| name), screen);
        let columns = bins.map_or(0, |bin| bin + 1);
        let most_text = amount(most);
        writeln!(out, "\n{}", screen.paint(1, &format!("{type_}, █ is {most_text}")))?;
        for (name, means) in &lines {
            let shown = columns.min(screen.width.saturating_sub(wide + 5)).max(1);
            let part = |column: usize| {
                let mean = means.get(&(column * columns / shown));
                mean.map_or(' ', |mean| heat(mean / most.max(f64::MIN_POSITIVE)))
            };
            let strip: String = (0..shown).map(part).collect();
            line(name, wide, &screen.paint(36, &strip), "", out)?;
        }
    }
    Ok(())
}

fn label_width<'n>(names: impl Iterator<Item = &'n String>, screen: Screen) -> usize {
    names.map(|name| width(name)).max().unwrap_or(0).min(screen.width / 3)
}

fn line(name: &str, wide: usize, strip: &str, behind: &str, out: &mut dyn Write) -> io::Result<()> {
    let name = fitted(name, wide);
    let pad = " ".repeat(wide.saturating_sub(width(&name)));
    let behind = if behind.is_empty() { String::new() } else { format!(" {behind}") };
    writeln!(out, "  {name}{pad} ▕{strip}▏{behind}")
}
