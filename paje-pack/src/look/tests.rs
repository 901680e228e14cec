//! A look is held against a plain one, which decodes each line and asks for names and times by their texts.

use paje_parser::{EventKind, FieldName, Line as Decoded};
use proptest::prelude::*;
use testkit::{Rng, damage};

use super::*;
use crate::segment::{Looks, tell};
use crate::writer::{Segments, Settings};

type Name = (Vec<u8>, Vec<u8>);
type Text = (u64, Vec<u8>);

/// Lines that are open in each lane, and all that a passage tells.
#[derive(Default)]
struct Plain {
    lanes: Vec<(Name, Change<Text>)>,
    /// Keys and lines of links, and which of them begin one; those that have both ends are taken out.
    links: Vec<((Name, Vec<u8>), Text, bool)>,
    fixed: Vec<Text>,
    aliased: Vec<Vec<u8>>,
    ended: Vec<Vec<u8>>,
    times: Option<(f64, f64)>,
    latest: Latest<Text>,
}

impl Plain {
    /// Takes in the next line; none if the segment cannot be read by itself.
    fn line(&mut self, decoder: &mut LineDecoder, line: &Text) -> Option<()> {
        use EventKind as E;
        let event = match decoder.line(&line.1).ok()? {
            Decoded::Blank => return Some(()),
            Decoded::Header => {
                self.fixed.push(line.clone());
                return Some(());
            }
            Decoded::Event(event) => event,
        };
        let field = |name| event.span(name).map(|span| span.of(&line.1).bare().to_vec());
        let name = || Some((field(FieldName::Container)?, field(FieldName::Type)?));
        let kind = event.def().kind();
        let (mut opener, mut wants_opener, mut is_kept) = (None, false, false);
        match kind {
            E::TraceFile => return None,
            E::NewEvent => {}
            E::StartLink | E::EndLink => {
                wants_opener = true;
                let key = (name()?, field(FieldName::Key)?);
                let is_start = kind == E::StartLink;
                let begun = |(other, _, begins): &(_, _, bool)| *begins && *other == key;
                match self.links.iter().position(begun).filter(|_| !is_start) {
                    Some(place) => opener = Some(self.links.remove(place).1),
                    None => self.links.push((key, line.clone(), is_start)),
                }
            }
            E::SetState
            | E::PushState
            | E::PopState
            | E::ResetState
            | E::SetVariable
            | E::AddVariable
            | E::SubVariable => {
                let name = name()?;
                let place = self.lanes.iter().position(|(other, _)| *other == name);
                let place = place.unwrap_or_else(|| {
                    self.lanes.push((name, Change::default()));
                    self.lanes.len() - 1
                });
                (opener, wants_opener) = changed(&mut self.lanes[place].1, kind, line)?;
            }
            _ => {
                if field(FieldName::Filename).is_some_and(|file| !file.is_empty()) {
                    return None;
                }
                is_kept = true;
                self.fixed.push(line.clone());
                let (name, alias) = (field(FieldName::Name)?, field(FieldName::Alias));
                if kind == E::DestroyContainer {
                    let of_it = self.lanes.iter_mut().filter(|((of, _), _)| *of == name);
                    for (_, lane) in of_it {
                        lane.gone |= lane.ends_all.is_none();
                        lane.opens.clear();
                    }
                    self.ended.push(name);
                } else if kind != E::DefineEntityValue
                    && alias.is_some_and(|alias| !alias.is_empty() && alias != name)
                {
                    self.aliased.push(name);
                }
            }
        }
        if event.span(FieldName::Time).is_some() {
            // -0 and 0 are one time.
            let time = event.time().ok()? + 0.0;
            let (first, last) = self.times.unwrap_or((time, time));
            if time >= last {
                let line = (!is_kept).then(|| line.clone());
                self.latest = Latest { line, opener, wants_opener };
            }
            self.times = Some((first.min(time), last.max(time)));
        }
        Some(())
    }
}

/// Changes a lane of states, or of a variable; the line that a line has to do with, and if it is nothing without that.
fn changed(lane: &mut Change<Text>, kind: EventKind, line: &Text) -> Option<(Option<Text>, bool)> {
    let from_before = lane.ends_all.is_none() && !lane.gone;
    match kind {
        EventKind::PushState => lane.opens.push(line.clone()),
        EventKind::PopState => {
            let opener = lane.opens.pop();
            if opener.is_none() {
                lane.pops.push(from_before.then(|| line.clone())?);
            }
            return Some((opener, true));
        }
        EventKind::AddVariable | EventKind::SubVariable => {
            let set = lane.opens.first().filter(|_| !from_before).cloned();
            if from_before && lane.opens.is_empty() {
                lane.adds = Some(line.clone());
            }
            lane.opens.push(line.clone());
            return Some((set, true));
        }
        _ => {
            if from_before {
                lane.ends_all = Some(line.clone());
            }
            lane.opens.clear();
            if kind != EventKind::ResetState {
                lane.opens.push(line.clone());
            }
        }
    }
    Some((None, false))
}

/// All that is told of a segment, printed.
fn plainly(text: &[u8], definitions: &Definitions) -> Option<String> {
    let mut decoder = LineDecoder::after(definitions.strict().clone());
    let mut plain = Plain::default();
    let lines: Vec<_> =
        text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n').collect();
    for (number, line) in (0..).zip(&lines) {
        plain.line(&mut decoder, &(number, line.to_vec()))?;
    }
    let links: Vec<_> = plain.links.into_iter().map(|(key, line, _)| (key, line)).collect();
    plain.lanes.retain(|(_, lane)| *lane != Change::default());
    plain.lanes.sort_by(|(one, _), (other, _)| one.cmp(other));
    let times = plain.times.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
    Some(format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {links:?} {}",
        lines.len(),
        times,
        plain.latest,
        plain.fixed,
        plain.aliased,
        plain.lanes,
        plain.ended,
        text.ends_with(b"\n")
    ))
}

/// All that a passage tells. Times of -0 are those of 0, as in any comparison.
fn told(passage: &Passage) -> String {
    let (first, last) = passage.times;
    let mut lanes: Vec<_> = passage.lanes.iter().collect();
    lanes.sort_by_key(|(name, _)| name);
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {}",
        passage.lines,
        (first + 0.0, last + 0.0),
        passage.latest,
        passage.fixed,
        passage.aliased,
        lanes,
        passage.ended,
        passage.links,
        passage.ends_with_newline
    )
}

/// Holds each segment of a text against the plain look; how many can be read by themselves.
fn assert_same(text: &[u8], segment: usize) -> usize {
    let settings = Settings { segment, level: 1 };
    let (mut segments, mut definitions) = (Segments::new(text, settings), Definitions::default());
    let mut count = 0;
    while let Some(text) = segments.next_text().unwrap() {
        let looks = if text.len() % 2 == 0 { Looks::Across } else { Looks::AtRows };
        let (_, passage) = tell(&text, &definitions, 1, looks).unwrap();
        count += usize::from(passage.is_some());
        let (found, wanted) = (passage.as_ref().map(told), plainly(&text, &definitions));
        assert_eq!(found, wanted, "{}", text.escape_ascii());
        definitions.learn(&text);
    }
    count
}

#[test]
fn shapes_cross_as_they_plainly_do() {
    for shape in datasets::Shape::ALL {
        let text = datasets::generate(shape, 40_000, 2);
        for segment in [1 << 20, 9_000] {
            assert!(assert_same(&text, segment) > 0, "{}", shape.name());
        }
    }
}

#[test]
fn types_and_containers_tell_lanes_apart() {
    let event = |kind: &str, code: u8, fields: &str| {
        let fields = fields.split(' ').map(|field| format!("% {field} string\n"));
        format!(
            "%EventDef Paje{kind} {code}\n% Time date\n{}%EndEventDef\n",
            fields.collect::<String>()
        )
    };
    let text = event("PushState", 1, "Type Container Value")
        + &event("PopState", 2, "Container Type")
        + &event("SetVariable", 3, "Type Container Value")
        + &event("AddVariable", 4, "Container Type Value")
        + &event("StartLink", 5, "Type Container StartContainer Value Key")
        + &event("EndLink", 6, "Key Type Container EndContainer Value")
        + "1 1 S a v\n1 2 T a v\n1 3 S b v\n3 4 V a 1\n2 5 a S\n2 6 \"a\" T\n4 7 a V 2\n4 7 b V 2\n\
           5 8 L r a v k\n5 8 M r a v k\n6 9 k L r b v\n5 8 L s a v k\n6 9 \"k\" M r b v\n6 9 k L r b v\n";
    assert_eq!(assert_same(text.as_bytes(), 1 << 20), 1);
}

#[test]
fn a_code_is_not_defined_anew() {
    let event = |kind: &str| format!("%EventDef Paje{kind} 9\n% Time date\n%EndEventDef\n");
    let text = event("NewEvent") + "9 1\n" + &event("PushState") + "9 1\n";
    assert_eq!(assert_same(text.as_bytes(), 1 << 20), 0);
}

#[test]
fn a_line_within_a_definition_is_refused() {
    let event = "%EventDef PajeNewEvent 9\n% Time date\n%EndEventDef\n";
    let text = event.to_owned() + "9 1\n%EventDef PajePushState 8\n9 2\n%EndEventDef\n";
    assert_eq!(assert_same(text.as_bytes(), 1 << 20), 0);
}

#[test]
fn times_are_compared_as_they_are_read() {
    let event = "%EventDef PajeNewEvent 9\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n";
    for times in [
        // The same when they are rounded, but not to the last digit.
        ["0.12345678901234567", "0.12345678901234566", "0.1"],
        ["123456.789012345678", "123456.789012345677", "123456.7"],
        // Not all are spelt alike.
        ["1.5", "1.50", "15e-1"],
        ["2.5", "1e3", "999.9"],
        ["-1.5", "-1.5", "-2.5"],
        ["1", "0", "1"],
        ["0", "-0", "1"],
        ["-0", "0", "-1"],
        ["1e300", "5", "1e300"],
        ["-1e300", "-5", "1e-300"],
        ["0.3", "0.30000000000000004", "3e-1"],
        ["0.1234567890123456", "1234567890123456e-16", "0.1234567890123455"],
    ] {
        let lines: String = times.iter().map(|time| format!("9 {time} E p v\n")).collect();
        for repeated in [1, 3] {
            let text = event.to_owned() + &lines.repeat(repeated);
            assert_eq!(assert_same(text.as_bytes(), 1 << 20), 1, "{times:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_traces_cross_as_they_plainly_do(seed: u64, segment in 60_usize..5_000) {
        let trace = datasets::random::trace(seed);
        assert_same(&trace.bytes, segment);
        // Of such texts it is asked for nothing that makes sense, but it is the same.
        assert_same(&damage(&trace.bytes, &mut Rng::new(seed)), segment);
    }
}
