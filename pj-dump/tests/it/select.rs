//! Compares `--nature`, `--of-type` and `--in` with a simple filter of all rows.

use std::fs;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use datasets::invalid::{self, Fault};
use datasets::random;
use datasets::{Rng, Shape};
use paje_sim::{
    ContainerId, FieldNames, Name, Natures, Options, Progress, Row, Selection, Source, TimeRange,
    Trace, TypeId, TypeNature,
};
use paje_workers::Workers;
use pj_dump::output::export::{Written, write_selected};
use pj_dump::output::header::Header;
use pj_dump::output::{Quotes, Style};

use crate::agree::{in_portions, options_of};
use crate::tables::examples;
use crate::verdict;
use crate::world::trace;

static TEAMS: LazyLock<[Workers; 4]> = LazyLock::new(testkit::teams);

const NATURES: [TypeNature; 5] = [
    TypeNature::Container,
    TypeNature::State,
    TypeNature::Variable,
    TypeNature::Event,
    TypeNature::Link,
];

type Fact = (ContainerId, TypeId, Option<(f64, f64)>);

/// Returns container, type and times of each row in the order of a dump.
fn facts(trace: &Trace) -> Vec<Fact> {
    let root = (ContainerId::ROOT, trace.containers().type_of(ContainerId::ROOT), None);
    let fact = |row: Row<'_>| match row {
        Row::Container(container) => (container.id(), row.type_id(), None),
        _ => {
            let lane = row.lane().expect("only containers have none");
            (lane.container(), row.type_id(), Some((row.start(), row.end())))
        }
    };
    std::iter::once(root).chain(trace.rows().map(fact)).collect()
}

fn style(window: TimeRange) -> Style {
    let (from, to) = (window.from, window.to);
    Style { quotes: Quotes::Auto, precision: 9, as_released: false, from, to }
}

fn dumped(trace: &Trace) -> Vec<u8> {
    verdict::rows(trace, style(TimeRange::ALWAYS), &TEAMS[0])
}

pub(crate) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn inside(trace: &Trace, selection: &Selection, id: ContainerId) -> bool {
    let all = trace.containers();
    let named = |name: Name<'_>| selection.containers.iter().any(|glob| glob.matches(name.text));
    selection.containers.is_empty()
        || named(all.name(id))
        || all.alias(id).is_some_and(named)
        || id != ContainerId::ROOT && inside(trace, selection, all.parent(id))
}

fn wanted(trace: &Trace, selection: &Selection) -> Vec<u8> {
    let facts = facts(trace);
    let whole = dumped(trace);
    assert_eq!(lines(&whole).len(), facts.len());
    let types = trace.types();
    let named = |name: Name<'_>| selection.types.iter().any(|glob| glob.matches(name.text));
    let mut kept = Vec::new();
    for (line, (container, type_, when)) in lines(&whole).iter().zip(facts) {
        if selection.natures.contains(types.nature(type_))
            && (selection.types.is_empty()
                || named(types.name(type_))
                || types.alias(type_).is_some_and(named))
            && inside(trace, selection, container)
            && when.is_none_or(|(start, end)| selection.window.overlaps(start, end))
        {
            kept.extend_from_slice(line);
        }
    }
    kept
}

fn glob(rng: &mut Rng, name: Name<'_>) -> Option<paje_sim::Glob> {
    let text = str::from_utf8(name.text).ok()?;
    let mut pattern = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '-' || c == '_' {
            pattern.push(c);
        } else {
            pattern.push('\\');
            pattern.push(c);
        }
    }
    if rng.index(2) == 0 && text.is_ascii() && text.chars().all(char::is_alphanumeric) {
        pattern.pop();
        pattern.push(if rng.index(2) == 0 { '*' } else { '?' });
    }
    pattern.parse().ok()
}

pub(crate) fn selection(rng: &mut Rng, trace: &Trace) -> Selection {
    let mut selection = Selection::default();
    if rng.index(2) == 0 {
        let some: Vec<_> = NATURES.into_iter().filter(|_| rng.index(2) == 0).collect();
        selection.natures = some.into_iter().collect();
    }
    for _ in 0..[0, 0, 1, 3][rng.index(4)] {
        let id = TypeId(rng.index(trace.types().len()) as u32);
        let types = trace.types();
        let name = if rng.index(2) == 0 { types.name(id) } else { types.identifier(id) };
        selection.types.extend(glob(rng, name));
    }
    for _ in 0..[0, 1, 1, 3][rng.index(4)] {
        let id = ContainerId(rng.index(trace.containers().len()) as u32);
        let all = trace.containers();
        let name = if rng.index(2) == 0 { all.name(id) } else { all.identifier(id) };
        selection.containers.extend(glob(rng, name));
    }
    if rng.index(3) == 0 {
        selection.window.from = trace.end() * rng.index(100) as f64 / 100.0;
        selection.window.to = selection.window.from + trace.end() / 7.0;
    }
    selection
}

fn read(text: &[u8], options: &Options, workers: &Workers) -> Result<Trace, paje_sim::Error> {
    Trace::read_with(Source::stream(text), options, workers, &Progress::default())
}

fn streamed(text: &[u8], options: &Options, selection: &Selection, workers: &Workers) -> Vec<u8> {
    let (source, style) = (Source::stream(text), style(selection.window));
    let (rows, trace) = in_portions(source, options, 3000, false, style, selection, workers);
    trace.expect("a valid trace");
    rows
}

/// Compares several selections of a trace, with several numbers of threads. Returns how many
/// selections contain some, but not all rows.
fn look_at(what: &str, text: &[u8], mut options: Options, rng: &mut Rng) -> usize {
    let Ok(whole) = read(text, &options, &TEAMS[0]) else { return 0 };
    let (mut telling, all) = (0, dumped(&whole).len());
    options.limits.block = [100, 3000, 1 << 20][rng.index(3)];
    options.decoder_symbols = 4;
    for turn in 0..6 {
        let selection = selection(rng, &whole);
        let what = format!("{what}, {selection:?}");
        let expected = wanted(&whole, &selection);
        telling += usize::from(!expected.is_empty() && expected.len() < all);
        let workers = &TEAMS[turn % 4];
        // At random, the selection is also an option of the replay.
        options.selection = [Selection::default(), selection.clone()][rng.index(2)].clone();
        let trace = read(text, &options, workers).expect("it is valid");
        let selected = trace.select(&selection);
        let (mut out, written) = (Vec::new(), Written::default());
        let style = style(selection.window);
        let exported = write_selected(&trace, &selected, style, workers, &mut out, &written)
            .expect("memory can be written");
        assert!(out == expected, "{what}\n{}", String::from_utf8_lossy(&out));
        assert_eq!(exported.rows, lines(&out).len() as u64, "{what}");

        let steps = trace.walk(style.quotes.order()).filter(|step| selected.wants_step(*step));
        let header = Header::new(style, &selection).lines(&trace, steps);
        let nature = |line: &&[u8]| line.split(|byte| *byte == b',').next().map(<[u8]>::to_vec);
        let headed: Vec<_> = lines(&header).iter().map(nature).collect();
        let mut natures = Vec::new();
        for nature in lines(&expected).iter().map(nature) {
            if !natures.contains(&nature) {
                natures.push(nature);
            }
        }
        assert_eq!(headed, natures, "{what}");

        let stream = streamed(text, &options, &selection, workers);
        let (mut found, mut expected) = (lines(&stream), lines(&expected));
        found.sort_unstable();
        expected.sort_unstable();
        assert!(found == expected, "in portions: {what}\n{}", String::from_utf8_lossy(&stream));
    }
    telling
}

#[test]
fn traces_of_every_shape_are_filtered() {
    for (number, shape) in Shape::ALL.into_iter().enumerate() {
        let mut options = Options::default();
        options.sort = shape == Shape::Unsorted;
        let text = datasets::generate(shape, 30_000, 5);
        let telling = look_at(shape.name(), &text, options, &mut Rng::new(number as u64));
        assert!(telling > 0, "{shape:?}");
    }
}

#[test]
fn example_traces_are_filtered() {
    let examples = examples("trace");
    for (number, path) in examples.iter().enumerate() {
        let text = fs::read(path).expect("readable");
        for user_defined in [false, true] {
            let mut options = Options::default();
            options.field_names = FieldNames::Old;
            options.ignore_incomplete_links = true;
            options.user_defined = user_defined;
            let rng = &mut Rng::new(number as u64);
            look_at(&path.display().to_string(), &text, options, rng);
        }
    }
    assert!(examples.len() >= 15, "{}", examples.len());
}

#[test]
fn random_traces_are_filtered() {
    let mut telling = 0;
    for seed in 0..80 {
        let random = random::trace(seed);
        let mut options = options_of(&random);
        options.user_defined = seed.is_multiple_of(2);
        telling += look_at(&format!("seed {seed}"), &random.bytes, options, &mut Rng::new(seed));
    }
    assert!(telling > 80, "{telling}");
}

fn verdict(trace: &Result<Trace, paje_sim::Error>) -> String {
    match trace {
        Ok(trace) => format!("{:?} {:#?}", trace.warnings(), trace.recovered()),
        Err(error) => format!("{error:#?}"),
    }
}

fn assert_checked(what: &str, text: &[u8], mut options: Options, turn: usize) {
    let natures: [&[TypeNature]; 4] =
        [&[], &[TypeNature::State], &[TypeNature::Link, TypeNature::Event], &NATURES];
    let workers = &TEAMS[turn % 4];
    options.limits.block = [500, 5000, 1 << 20][turn % 3];
    let whole = |options: &Options| read(text, options, workers);
    let in_portions = |options: &Options| {
        let (source, progress) = (Source::stream(text), Progress::default());
        let mut show = |_: &paje_sim::Portion<'_>| ControlFlow::Continue(());
        Trace::read_in_portions(source, options, workers, &progress, 5000, &mut show)
    };
    let wanted = [verdict(&whole(&options)), verdict(&in_portions(&options))];
    for (natures, glob) in natures.into_iter().zip(["*", "*", "?*", "nothing"]) {
        options.selection.natures = natures.iter().copied().collect();
        options.selection.types = vec![glob.parse().expect("a pattern")];
        let found = [whole(&options), in_portions(&options)];
        assert_eq!(found.each_ref().map(verdict), wanted, "{what}, {natures:?}");
        let [Ok(trace), Ok(_)] = found else { continue };
        let selected = trace.select(&options.selection);
        for lane in trace.lanes().filter(|lane| !selected.wants_lane(*lane)) {
            assert!(lane.is_empty() || options.recover, "{what}, {natures:?}");
        }
    }
}

#[test]
fn unselected_rows_are_checked() {
    let mut refused = 0;
    for seed in 0..100 {
        let random = random::trace(seed);
        let mut options = options_of(&random);
        options.user_defined = seed.is_multiple_of(2);
        options.recover = seed % 5 == 0;
        refused += usize::from(!random.is_valid());
        assert_checked(&format!("seed {seed}"), &random.bytes, options, seed as usize);
    }
    assert!(refused > 15, "{refused}");
    for (turn, fault) in Fault::ALL.into_iter().enumerate() {
        for seed in 0..2 {
            let bytes = invalid::trace(fault, seed).bytes;
            assert_checked(&format!("{fault:?}, {seed}"), &bytes, Options::default(), turn);
        }
    }
}

/// Without imbrication, a pop opens a state again, and later states must not begin before the pop.
#[test]
fn unselected_rows_are_checked_without_imbrication() {
    let mut options = Options::default();
    options.no_imbrication = true;
    let lines = ["push 1 S p a", "push 2 S p b", "pop 4 S p", "set 3 S p c", "reset 5 S p"];
    let more =
        ["pop 4 S p", "pop 4 S p", "reset 1 S p", "push 3 S p d", "pop 5 S p", "set 4 S p a"];
    let mut rng = Rng::new(1);
    for turn in 0..80 {
        let line = |rng: &mut Rng| [&lines[..], &more].concat()[rng.index(11)].to_owned() + "\n";
        let text: String = lines[..2].iter().map(|line| format!("{line}\n")).collect();
        let text = text + &(0..4).map(|_| line(&mut rng)).collect::<String>();
        assert_checked(&text, &trace(text.as_bytes()), options.clone(), turn);
    }
}

/// Many links come between two uses of a key, so the second use does not find the key among the
/// recent ones.
#[test]
fn keys_of_unselected_links_are_checked() {
    let mut text = String::new();
    for i in 0..1000 {
        text.push_str(&format!("from {i} L h m p k{i}\nto {i}.5 L h m q k{i}\n"));
    }
    assert_checked("each key once", &trace(text.as_bytes()), Options::default(), 2);
    text.push_str("from 1001 L h m p k7\nto 1002 L h m q k7\n");
    let text = trace(text.as_bytes());
    for turn in 0..4 {
        assert_checked("a key twice", &text, Options::default(), turn);
    }
    let error = read(&text, &Options::default(), &TEAMS[0]).expect_err("a key is used again");
    assert!(error.to_string().contains("k7"), "{error}");
}

#[test]
fn natures_are_a_set() {
    assert_eq!(Natures::default(), Natures::ALL);
    assert_eq!(NATURES.into_iter().collect::<Natures>(), Natures::ALL);
    let none: Natures = [].into_iter().collect();
    assert!(
        NATURES.into_iter().all(|nature| Natures::ALL.contains(nature) && !none.contains(nature))
    );
    let some: Natures = [TypeNature::Link, TypeNature::State].into_iter().collect();
    assert_eq!(format!("{some:?}"), "{State, Link}");
}
