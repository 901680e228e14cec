//! Unsorted traces, and a simple sort by time.

use datasets::Rng;
use paje_parser::{FieldName, FieldNames, LineDecoder, Span, number, token};

#[derive(Clone)]
pub(crate) struct Found<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) byte: u64,
    pub(crate) number: u64,
}

pub(crate) fn sorted(text: &[u8], names: FieldNames) -> Vec<Found<'_>> {
    let mut lines = Vec::new();
    let mut byte = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let number = lines.len() as u64 + 1;
        lines.push(Found { text: line.strip_suffix(b"\n").unwrap_or(line), byte, number });
        byte += line.len() as u64;
    }
    let mut decoder = LineDecoder::new(names);
    for line in lines.iter().filter(|line| is_header(line.text)) {
        if decoder.line(line.text).is_err() {
            break;
        }
    }
    let mut timed: Vec<_> = lines.iter().map(|line| (rank(line.text, &decoder), line)).collect();
    timed.sort_by(|(a, _), (b, _)| a.partial_cmp(b).expect("no time is a NaN"));
    timed.into_iter().map(|(_, line)| line.clone()).collect()
}

fn is_header(line: &[u8]) -> bool {
    line.iter().find(|byte| !token::is_white(**byte)) == Some(&b'%')
}

fn rank(line: &[u8], decoder: &LineDecoder) -> (u8, f64) {
    let mut words: Vec<Span> = Vec::new();
    token::fields(line, 0, &mut words);
    let word = |word: usize| words.get(word).map(|span: &Span| span.of(line).bare());
    let def = word(0).filter(|_| !is_header(line)).and_then(|id| decoder.defs().find(id));
    let Some(def) = def.map(|def| &decoder.defs().defs()[def]) else { return (0, 0.0) };
    if !def.kind().obligatory().contains(&FieldName::Time) {
        return (0, 0.0);
    }
    let time = def.word_of(FieldName::Time).and_then(word).and_then(number::parse_time);
    time.map_or((1, 0.0), |time| (2, time))
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Disorder {
    None,
    /// Shuffled lines. Lines of the same time and lines without time keep their order.
    KeepsTies,
    /// Interleaved runs of lines, like those of several processes.
    Interleaved,
    Reversed,
    Shuffled,
}

pub(crate) const DISORDERS: [Disorder; 5] = [
    Disorder::None,
    Disorder::KeepsTies,
    Disorder::Interleaved,
    Disorder::Reversed,
    Disorder::Shuffled,
];

pub(crate) fn disordered(text: &[u8], how: Disorder, names: FieldNames, rng: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    // The last line may have no newline.
    let ended = lines.pop_if(|last| last.is_empty()).is_some();
    match how {
        Disorder::None => return text.to_vec(),
        Disorder::Reversed => lines.reverse(),
        Disorder::Shuffled => rng.shuffle(&mut lines),
        Disorder::Interleaved => {
            let mut parts: Vec<Vec<&[u8]>> = lines
                .chunks(lines.len() / 4 + 1)
                .map(|part| part.iter().rev().copied().collect())
                .collect();
            lines.clear();
            while !parts.is_empty() {
                let at = rng.index(parts.len());
                match parts[at].pop() {
                    Some(line) => lines.push(line),
                    None => drop(parts.swap_remove(at)),
                }
            }
        }
        Disorder::KeepsTies => {
            let in_order = sorted(text, names);
            let mut decoder = LineDecoder::new(names);
            for line in in_order.iter().filter(|line| is_header(line.text)) {
                drop(decoder.line(line.text));
            }
            let mut places: Vec<usize> = (0..in_order.len()).collect();
            rng.shuffle(&mut places);
            let mut first = 0;
            for ties in in_order.chunk_by(|a, b| rank(a.text, &decoder) == rank(b.text, &decoder)) {
                places[first..first + ties.len()].sort_unstable();
                for (line, place) in ties.iter().zip(&places[first..]) {
                    lines[*place] = line.text;
                }
                first += ties.len();
            }
        }
    }
    let mut text = lines.join(&b'\n');
    if ended {
        text.push(b'\n');
    }
    text
}
