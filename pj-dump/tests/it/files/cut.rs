//! Traces cut into files in every style, compared with the whole.

use super::*;

fn in_all_ways(
    root: &Path,
    options: &Options,
    turn: usize,
    about: &str,
) -> Result<Vec<u8>, String> {
    let mut options = options.clone();
    let mut first = None;
    for (workers, block) in ways(turn) {
        options.limits.block = block;
        let found = outcome(root, &options, workers);
        let wanted = first.get_or_insert_with(|| found.clone());
        if found != *wanted {
            let text = |one: &Result<Vec<u8>, String>| match one {
                Ok(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Err(error) => error.clone(),
            };
            let (found, wanted) = (text(&found), text(wanted));
            let line = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
            panic!("{about}: {} threads, blocks of {block}: {line:?}", workers.threads());
        }
    }
    first.expect("there are ways")
}

fn check(text: &[u8], pieces: usize, options: &Options, turn: usize, about: &str) {
    let whole = Trace::read(text, options).expect("the trace is valid");
    let wanted = shown(&whole, &TEAMS[0]);
    let ignored = whole.warnings().iter().any(|warning| warning.kind == WarningKind::AfterDestroy);
    for style in Style::ALL {
        // Pieces that do not repeat a destruction accept later lines.
        if ignored && style != Style::Full {
            continue;
        }
        let about = format!("{about}, {pieces} pieces, {style:?}");
        let folder = folder();
        let root = cut(folder.path(), text, style, pieces);
        let found = in_all_ways(&root, options, turn + pieces, &about);
        let found = found.unwrap_or_else(|error| panic!("{about}: {error}"));
        if !found.starts_with(&wanted) {
            let (found, wanted) =
                (String::from_utf8_lossy(&found), String::from_utf8_lossy(&wanted));
            let line = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
            panic!("{about}: (found, wanted) {line:?}");
        }
    }
}

#[test]
fn every_shape_is_equal_in_pieces() {
    for (index, shape) in Shape::ALL.into_iter().enumerate() {
        let text = generate(shape, 20_000, 3);
        let mut options = Options::default();
        options.user_defined = index % 2 == 0;
        options.no_imbrication = index % 3 == 0;
        options.sort = !shape.is_sorted() || index % 4 == 0;
        for pieces in [1, 3, 60] {
            check(&text, pieces, &options, index, shape.name());
        }
    }
}

#[test]
fn random_traces_are_equal_in_pieces() {
    let (mut valid, options) = (0, Options::default());
    for seed in 0..120 {
        let text = datasets::random::trace(seed).bytes;
        if Trace::read(&text[..], &options).is_ok() {
            valid += 1;
            let (pieces, turn) = (1 + seed as usize % 5, seed as usize / 5);
            check(&text, pieces, &options, turn, &format!("seed {seed}"));
        }
    }
    assert!(valid > 50, "{valid}");
}

/// Replays each valid trace of up to 500 kB below the folder that `PAJE_CORPUS` names 24 times,
/// also line by line.
#[test]
fn a_corpus_is_equal_in_pieces() {
    const MOST: u64 = 500_000;
    let Some(folder) = std::env::var_os("PAJE_CORPUS") else {
        return;
    };
    let mut options = Options::default();
    options.ignore_incomplete_links = true;
    let mut compared = 0;
    for (turn, path) in crate::equal::files(Path::new(&folder)).into_iter().enumerate() {
        let mut text = Vec::new();
        let input = Input::open(Some(&path)).expect("the corpus can be read");
        let read = input.take(MOST + 1).read_to_end(&mut text);
        if read.is_err() || text.len() as u64 > MOST {
            continue;
        }
        options.sort = turn % 3 == 0;
        if Trace::read(&text[..], &options).is_ok() {
            compared += 1;
            for pieces in [2, 7] {
                check(&text, pieces, &options, turn, &path.display().to_string());
            }
        }
    }
    assert!(compared > 0, "{} has no valid traces", folder.display());
}
