//! Verdicts in words.

use std::io::{self, Write};

use paje_analysis::why::capital;
use paje_console::fill::fill;
use paje_decimal::amounts::percent;

use super::people::TableView;
use super::screen::Screen;

/// Largest number of lines of a verdict, with its title.
const LINES: usize = 15;

/// Writes a verdict. `above` is the number of lines above it. If it is too long, the last doubts
/// and causes are left out.
pub(super) fn write(
    seen: TableView<'_>,
    above: usize,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows = 0..seen.0.len();
    let mut blocks: Vec<(usize, String)> = rows.map(|row| block(seen, row, screen)).collect();
    let lines = |blocks: &[(usize, String)]| -> usize {
        blocks.iter().map(|(_, text)| text.lines().count()).sum()
    };
    let mut left_out = 0;
    while above + 1 + lines(&blocks) + usize::from(left_out > 0) > LINES {
        // Of equally important blocks, the last one is left out.
        let least = (1..blocks.len()).max_by_key(|at| blocks[*at].0);
        let Some(least) = least else { break };
        blocks.remove(least);
        left_out += 1;
    }
    writeln!(out)?;
    for (_, text) in &blocks {
        out.write_all(text.as_bytes())?;
    }
    if left_out > 0 {
        writeln!(out, "({left_out} more with --format csv)")?;
    }
    Ok(())
}

/// Returns the text of a row. Smaller numbers are more important.
fn block(seen: TableView<'_>, row: usize, screen: Screen) -> (usize, String) {
    let (name, text) = (capital(&seen.text("name", row)), seen.text("text", row));
    let share = seen.number("share", row);
    let share = share.map_or(String::new(), |share| format!(", {} of the run", percent(share)));
    let mut block = fill(&format!("{name}{share}: {text}\n"), screen.width);
    let head = format!("{name}{share}:");
    if block.starts_with(&head) {
        block = format!("{}{}", screen.paint(1, &head), &block[head.len()..]);
    }
    let commands = ["next", "whatif"].map(|name| seen.text(name, row));
    for command in commands.iter().filter(|command| !command.is_empty()) {
        block += &format!("  > {command}\n");
    }
    let importance = match seen.text("kind", row).as_str() {
        "fact" => 0,
        "cause" => 1,
        _ => 2,
    };
    (importance, block)
}
