//! Tests that columns agree with the text.

use paje_pack::Reader;
use paje_parser::columns::{Asked, ColumnLine, Content, Hole, HoleKind, Lines, Wanted};
use paje_parser::number::parse_f64;
use testkit::Rng;

use crate::round::packed;

fn part(text: &[u8], (start, end): (u32, u32)) -> &[u8] {
    &text[start as usize..end as usize]
}

/// Compares the columns of all segments with their text. Returns the number of lines without text
/// and with text. `asks` chooses how the lines of a step are read.
fn compared(text: &[u8], segment: usize, mut asks: impl FnMut(&[Hole]) -> Wanted) -> [usize; 2] {
    let file = packed(text, segment);
    let mut reader = Reader::new(&file[..]);
    // The memory still contains bytes of an earlier segment.
    let (mut sparse, mut lines, mut counts) = (vec![b'?'; 500], Lines::default(), [0; 2]);
    while let Some(packed) = reader.next_segment().unwrap() {
        let whole = packed.unpack().unwrap();
        let mut steps: Vec<(Vec<u8>, Vec<Hole>, Option<Asked>)> = Vec::new();
        let taken = packed.columns(&mut sparse, &mut lines, &mut |line, holes| {
            let wanted = asks(holes);
            let asked = match wanted {
                Wanted::Columns(asked) => asked,
                Wanted::Text | Wanted::Nothing => None,
            };
            steps.push((line.to_vec(), holes.to_vec(), asked));
            wanted
        });
        if !taken {
            let kept_as_text = packed.sizes()[10] > 0;
            let needs_all = !whole.ends_with(b"\n") || whole.contains(&b'%') || has_odd(&whole);
            assert!(kept_as_text || needs_all, "{}", whole.escape_ascii());
            continue;
        }
        let contents = &mut lines.contents.iter().peekable();
        let starts = lines.lines.iter().skip(1).map(|line| line.start as usize);
        let mut from = 0;
        let mut new = 0;
        for (number, (line, end)) in lines.lines.iter().zip(starts.chain([whole.len()])).enumerate()
        {
            let content = contents.next_if(|content| content.line as usize == number);
            assert_eq!(line.start as usize, from);
            let text = &whole[from..end];
            assert_eq!(text.iter().position(|byte| *byte == b'\n'), Some(text.len() - 1));
            if line.has_text() {
                assert_eq!(&sparse[from..end], text);
                let step = content.unwrap().step;
                if step != ColumnLine::OTHER {
                    assert_eq!((step, &steps[new].0[..]), (new as u32, &text[..text.len() - 1]));
                    new += 1;
                }
                counts[1] += 1;
            } else {
                let step = &steps[line.step as usize];
                let content = content.copied().unwrap_or_default();
                same_line(line, &content, (&whole, &sparse, from..end), step, lines.digits);
                counts[0] += 1;
            }
            from = end;
        }
        assert_eq!((new, contents.next().is_none()), (steps.len(), true));
        let count = |step: usize| {
            lines.lines.iter().filter(|line| !line.has_text() && line.step as usize == step).count()
        };
        assert_eq!(lines.counts.len(), new);
        assert!((0..new).all(|step| lines.counts[step] as usize == count(step)));
    }
    counts
}

/// Returns whether a word contains quotes other than those around it.
fn has_odd(text: &[u8]) -> bool {
    text.split(u8::is_ascii_whitespace).any(|word| {
        let quotes = word.iter().filter(|byte| **byte == b'"').count();
        quotes > 0 && !(quotes == 2 && word.starts_with(b"\"") && word.ends_with(b"\""))
    })
}

/// Compares a line with the first line of its step. They may differ only in their holes.
fn same_line(
    line: &ColumnLine,
    content: &Content,
    (whole, sparse, range): (&[u8], &[u8], std::ops::Range<usize>),
    (first, holes, asked): &(Vec<u8>, Vec<Hole>, Option<Asked>),
    digits: u8,
) {
    let (mut at, mut copied) = (range.start, 0);
    for (number, hole) in holes.iter().enumerate() {
        let literal = &first[copied..hole.range.start];
        assert_eq!(&whole[at..at + literal.len()], literal);
        at += literal.len();
        copied = hole.range.end;
        let quoted = whole[at] == b'"';
        let ends = |(place, byte): (usize, &u8)| {
            if quoted { place > 0 && *byte == b'"' } else { byte.is_ascii_whitespace() }
        };
        let len = whole[at..].iter().enumerate().position(ends).unwrap() + usize::from(quoted);
        let word = &whole[at..at + len];
        at += len;
        match hole.kind {
            HoleKind::Time => {
                let time = line.time as f64 / 10_f64.powi(digits.into());
                assert_eq!(parse_f64(word), Some(time), "{}", word.escape_ascii());
            }
            HoleKind::Key => {
                let linked = content.linked;
                assert_eq!(part(whole, linked.key_at), word);
                assert_eq!(part(sparse, linked.key_at), word);
                assert_eq!(linked.at as usize, at - len);
            }
            HoleKind::Value => match asked.filter(|asked| asked.hole == number) {
                None => {}
                Some(asked) if content.value_at.0 == Content::NUMBER => {
                    assert!(asked.numbers);
                    let value =
                        content.value as i64 as f64 / 10_f64.powi(content.value_at.1 as i32);
                    assert_eq!(parse_f64(word), Some(value));
                }
                Some(_) => assert_eq!(part(sparse, content.value_at), word),
            },
        }
    }
    assert_eq!([&first[copied..], b"\n"].concat(), whole[at..range.end]);
}

/// For most steps, requests the values of the first hole with values.
fn some(rng: &mut Rng, holes: &[Hole]) -> Wanted {
    let is_whole = holes.iter().any(|hole| hole.kind == HoleKind::Time);
    if !is_whole || rng.index(8) == 0 {
        return Wanted::Text;
    }
    let hole = holes.iter().position(|hole| hole.kind == HoleKind::Value);
    let numbers = rng.index(2) == 0;
    Wanted::Columns(hole.map(|hole| Asked { hole, numbers }))
}

#[test]
fn columns_of_all_shapes_are_those_of_the_text() {
    let mut rng = Rng::new(3);
    for shape in datasets::Shape::ALL {
        let text = datasets::generate(shape, 60_000, 5);
        for segment in [2000, 9000, 25_000] {
            compared(&text, segment, |holes| some(&mut rng, holes));
        }
    }
}

#[test]
fn columns_of_examples_are_those_of_the_text() {
    let mut rng = Rng::new(4);
    let mut without = 0;
    for text in crate::round::examples() {
        for segment in [400, 3000] {
            without += compared(&text, segment, |holes| some(&mut rng, holes))[0];
        }
    }
    assert!(without > 400, "{without}");
}

/// If lines may be skipped in every step, only a few lines need their text.
#[test]
fn most_lines_need_no_text() {
    for (shape, most) in [(datasets::Shape::Mpi, 3), (datasets::Shape::Variables, 3)] {
        let text = datasets::generate(shape, 400_000, 1);
        let [without, with] = compared(&text, 100_000, |holes| {
            let hole = holes.iter().position(|hole| hole.kind == HoleKind::Value);
            Wanted::Columns(hole.map(|hole| Asked { hole, numbers: true }))
        });
        assert!(without > most * with, "{shape:?}: {without} without, {with} with");
    }
}

fn event(line: &[u8]) -> &[u8] {
    line.split(u8::is_ascii_whitespace).next().unwrap()
}

fn with_contents(lines: &Lines) -> impl Iterator<Item = (&ColumnLine, Content)> {
    let mut contents = lines.contents.iter().peekable();
    lines.lines.iter().zip(0..).map(move |(line, number)| {
        let content = contents.next_if(|content| content.line == number);
        (line, content.copied().unwrap_or_default())
    })
}

/// Leaves out the lines whose event numbers end with one of these digits. Compares the other lines
/// with lines that are read without a filter. Returns the number of segments with both omitted and
/// kept lines.
fn left_out(text: &[u8], segment: usize, digits: &[u8]) -> usize {
    let is_out = |line: &[u8]| event(line).last().is_some_and(|last| digits.contains(last));
    let asks = |line: &[u8], holes: &[Hole]| {
        if !holes.iter().any(|hole| hole.kind == HoleKind::Time) {
            return Wanted::Text;
        }
        let hole = holes.iter().position(|hole| hole.kind == HoleKind::Value);
        let numbers = line.len().is_multiple_of(2);
        Wanted::Columns(hole.map(|hole| Asked { hole, numbers }))
    };
    let file = packed(text, segment);
    let mut reader = Reader::new(&file[..]);
    let (mut texts, mut lines) = ([Vec::new(), Vec::new()], [Lines::default(), Lines::default()]);
    let mut parts = 0;
    while let Some(packed) = reader.next_segment().unwrap() {
        let [all, some] = &mut lines;
        let [all_text, some_text] = &mut texts;
        some.leaves_out = true;
        let taken = packed.columns(all_text, all, &mut |line, holes| asks(line, holes));
        let left_some =
            packed.columns(some_text, some, &mut |line, holes| match asks(line, holes) {
                Wanted::Columns(_) if is_out(line) => Wanted::Nothing,
                wanted => wanted,
            });
        assert_eq!(taken, left_some);
        if !taken {
            continue;
        }
        let whole = packed.unpack().unwrap();
        let of = |line: &ColumnLine| &whole[line.start as usize..];
        let is_timed = |line: &[u8]| line.split(u8::is_ascii_whitespace).nth(1).and_then(parse_f64);
        let out = |line: &&ColumnLine| is_out(of(line)) && is_timed(of(line)).is_some();
        let power = 10_f64.powi(all.digits.into());
        let times = all.lines.iter().filter(out).filter_map(|line| is_timed(of(line)));
        let latest = times.fold(f64::NEG_INFINITY, f64::max);
        let count = all.lines.iter().filter(out).count();
        assert_eq!(some.left_out, count as u64);
        assert!(count == 0 || some.latest as f64 / power == latest);
        let kept: Vec<_> = with_contents(all).filter(|(line, _)| !out(line)).collect();
        assert_eq!(kept.len(), some.lines.len());
        for ((line, told), (found, found_told)) in kept.into_iter().zip(with_contents(some)) {
            assert!(found.start <= line.start && found.step == line.step);
            assert_eq!(found_told.step, told.step);
            if line.has_text() {
                let len = of(line).iter().position(|byte| *byte == b'\n').unwrap() + 1;
                let start = found.start as usize;
                assert_eq!(&some_text[start..start + len], &of(line)[..len]);
                continue;
            }
            assert_eq!((found.time, found_told.value), (line.time, told.value));
            assert_eq!(
                part(some_text, found_told.linked.key_at),
                part(all_text, told.linked.key_at)
            );
            match told.value_at {
                (Content::NUMBER, _) => assert_eq!(found_told.value_at, told.value_at),
                place => assert_eq!(part(some_text, found_told.value_at), part(all_text, place)),
            }
        }
        parts += usize::from(count > 0 && !some.lines.is_empty());
    }
    parts
}

#[test]
fn unneeded_steps_are_left_out() {
    for shape in datasets::Shape::ALL {
        let text = datasets::generate(shape, 60_000, 5);
        for digits in [&b"13579"[..], b"02468", b"012", b"0123456789", b""] {
            let parts = left_out(&text, 9000, digits);
            assert!(parts > 0 || digits.len() % 5 == 0 || shape != datasets::Shape::Mpi, "{parts}");
        }
    }
}

/// There are many lanes with many actions, so most steps are not in the table.
#[test]
fn steps_of_many_lanes_need_no_text() {
    let mut rng = Rng::new(7);
    let mut text = String::from(
        "%EventDef PajeSetState 1\n%Time date\n%Type string\n%Container string\n%Value string\n%EndEventDef\n\
         %EventDef PajeSetVariable 2\n%Time date\n%Type string\n%Container string\n%Value double\n%EndEventDef\n",
    );
    for time in 0..14_000 {
        let (lane, action) = (rng.index(40), time / 400 * 3 + rng.index(3));
        text += &match action % 4 {
            0 => format!("2 {}.{:03} V lane{lane} {time}.5\n", time / 1000, time % 1000),
            _ => format!("1 {}.{:03} S lane{lane} act{action}\n", time / 1000, time % 1000),
        };
        // Lanes that occur only once fill the table.
        if time % 20 == 0 {
            text += &format!("1 {}.{:03} S once{time} once{time}\n", time / 1000, time % 1000);
        }
    }
    let [without, with] = compared(text.as_bytes(), 150_000, |holes| {
        let hole = holes.iter().position(|hole| hole.kind == HoleKind::Value);
        Wanted::Columns(hole.map(|hole| Asked { hole, numbers: true }))
    });
    assert!(without > 2 * with && with > 500, "{without} without, {with} with");
}
