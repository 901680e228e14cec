//! Compares the replay with the checker, which reads a trace line by line with plain data
//! structures. The verdict and the first error are the same for blocks of all sizes, and the rows
//! do not depend on the size.

use std::sync::LazyLock;

use datasets::mutate::{Change, mutated};
use datasets::random::RandomTrace;
use paje_sim::{Error, FieldNames, Options, Portion, Progress, Selection, Source, Trace};
use paje_workers::Workers;
use pj_dump::output::Style;
use pj_dump::output::export::Written;
use pj_dump::output::stream::RowStream;
use pj_validate::Rules;
use proptest::prelude::*;
use testkit::{Rng, team};

use crate::verdict::{self, checked, replayed};
use crate::world::trace;

const BLOCKS: [usize; 6] = [1, 64, 300, 1000, 4096, 1 << 20];

pub(crate) fn rows(trace: &Trace, workers: &Workers) -> Vec<u8> {
    verdict::rows(trace, Style::DEFAULT, workers)
}

/// Replays a trace in portions of this many bytes. Returns the selected rows, with header lines on
/// request, and the trace or the error.
pub(crate) fn in_portions(
    source: Source<'_>,
    options: &Options,
    bytes: u64,
    headers: bool,
    style: Style,
    selection: &Selection,
    workers: &Workers,
) -> (Vec<u8>, Result<Trace, Error>) {
    let (mut out, written, progress) = (Vec::new(), Written::default(), Progress::default());
    let mut stream = RowStream::new(style, headers, selection, workers, &mut out, &written);
    let mut show = |portion: &Portion<'_>| stream.show(portion);
    let trace = Trace::read_in_portions(source, options, workers, &progress, bytes, &mut show);
    let exported = stream.finish().expect("memory can be written");
    assert!(exported.bytes == written.bytes() && exported.bytes <= out.len() as u64);
    (out, trace)
}

pub(crate) fn options(old: bool, open_links: bool, extras: bool) -> Options {
    let mut options = Options::default();
    options.field_names = if old { FieldNames::Old } else { FieldNames::Strict };
    options.ignore_incomplete_links = open_links;
    options.user_defined = extras;
    options
}

/// Returns the options with which a random trace is to be replayed.
pub(crate) fn options_of(random: &RandomTrace) -> Options {
    let has = |short: &str, long: &str| random.options.iter().any(|o| o == short || o == long);
    let (old, open_links) = (has("-n", "--no-strict"), has("-z", "--ignore-incomplete-links"));
    let mut options = options(old, open_links, has("-u", "--user-defined"));
    options.no_imbrication = has("-i", "--no-imbrication");
    options
}

/// Replays in blocks of several sizes, with one and with three workers, and compares with the
/// checker. The length of the trace selects the sizes, so many traces cover all combinations.
fn agree(bytes: &[u8], mut options: Options) -> Result<(), String> {
    let wanted = checked(bytes, &options, Rules::Replay);
    let mut first: Option<Vec<u8>> = None;
    static TEAM: LazyLock<Workers> = LazyLock::new(|| team(3));
    static ONE: Workers = Workers::one();
    for turn in 0..4 {
        let block = BLOCKS[(bytes.len() + turn) % BLOCKS.len()];
        let workers = if turn % 2 == 0 { &ONE } else { &*TEAM };
        options.limits.block = block;
        options.decoder_symbols = if turn < 2 { 4 } else { 1 << 14 };
        let (trace, found) = replayed(bytes, &options, workers);
        let rows = trace.map(|trace| rows(&trace, workers)).unwrap_or_default();
        if found != wanted {
            return Err(format!(
                "blocks of {block}, {} workers\nchecker: {wanted:?}\nreplay:  {found:?}\n{}",
                workers.threads(),
                String::from_utf8_lossy(bytes)
            ));
        }
        if *first.get_or_insert_with(|| rows.clone()) != rows {
            return Err(format!(
                "rows differ in blocks of {block}\n{}",
                String::from_utf8_lossy(bytes)
            ));
        }
    }
    Ok(())
}

pub(crate) fn assert_agree(bytes: &[u8], options: Options) {
    if let Err(difference) = agree(bytes, options) {
        panic!("{difference}");
    }
}

#[test]
fn random_traces_agree() {
    for seed in 0..testkit::number("PAJE_SEEDS").unwrap_or(200) {
        let random = datasets::random::trace(seed);
        let mut options = options_of(&random);
        // The checker knows imbrication only.
        (options.user_defined, options.no_imbrication) = (seed % 2 == 0, false);
        let mut rng = Rng::new(!seed);
        let change = |_| Change::from_bytes(std::array::from_fn(|_| rng.below(256) as u8));
        let damaged = mutated(&random.bytes, &(0..=seed % 4).map(change).collect::<Vec<_>>());
        for bytes in [&random.bytes, &damaged] {
            let result = agree(bytes, options.clone());
            assert!(result.is_ok(), "seed {seed}: {}", result.unwrap_err());
        }
    }
}

#[test]
fn planted_faults_agree() {
    for fault in datasets::invalid::Fault::ALL {
        for seed in 0..6 {
            assert_agree(
                &datasets::invalid::trace(fault, seed).bytes,
                options(false, false, false),
            );
        }
    }
}

const SOUND: &str = "\
value w S working \"0 1 0\"
set 0 S p w
push 1 S p wait
pop 2 S p
reset 3 S p
vset 0 V p 1.5
vadd 1 V p 2
vsub 2 V p 0x1p1
event 1 E q here
from 1 L h data p k1
to 2 L h data q k1
from 3 L h data q k2
to 4 L h data p k2
set_in 2 S q w 10 20 # a comment

push_in 3 S q w 10
pop 4 S q
create_as 4 rank-9 P h r
set 4 S r late
push 5 S r w
event 5 E r here
from 5 L h data r k3
to 5 L h data q k3
destroy 5 P p
set 5 S p late
destroy 6 P r
destroy 6 P q
";

fn verdict(bytes: &[u8], which: (bool, bool, bool)) -> Result<(), TestCaseError> {
    let (old, links, extras) = which;
    agree(bytes, options(old, links, extras)).map_err(TestCaseError::fail)
}

/// Generates up to `most` changes, as numbers that proptest can shrink.
fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    let change = any::<(u8, u16, u16)>();
    let change = change.prop_map(|(what, line, number)| Change { what, line, number });
    proptest::collection::vec(change, 1..=most)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_agree(bytes in proptest::collection::vec(any::<u8>(), 0..400), which in any::<(bool, bool, bool)>()) {
        verdict(&bytes, which)?;
    }

    #[test]
    fn likely_words_agree(
        text in "(%|%EventDef|%EndEventDef|PajeSetState|PajePopState|PajeDefineStateType|Name|Type|Time|Container|string|date|[0-3]|\"|#|[ \n\n]){0,80}",
        which in any::<(bool, bool, bool)>(),
    ) {
        verdict(text.as_bytes(), which)?;
    }

    #[test]
    fn changed_definitions_agree(
        changes in changes(5),
        which in any::<(bool, bool, bool)>(),
    ) {
        verdict(&mutated(&trace(SOUND.as_bytes()), &changes), which)?;
    }

    #[test]
    fn changed_events_agree(
        changes in changes(11),
        which in any::<(bool, bool, bool)>(),
    ) {
        let lines = mutated(SOUND.as_bytes(), &changes);
        verdict(&trace(&lines), which)?;
    }
}

#[test]
fn the_unchanged_trace_is_valid() {
    let bytes = trace(SOUND.as_bytes());
    assert_eq!(checked(&bytes, &options(false, false, true), Rules::Replay), Ok(()));
    assert_agree(&bytes, options(false, false, true));
}
