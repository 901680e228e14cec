//! A packed trace is replayed like its text.

use std::fs;

use paje_sim::{Options, Progress, Trace};
use paje_workers::Workers;
use splitter::Input;
use testkit::team;

use crate::listing;
use crate::selection::{selections, wanted};
use crate::traces;

#[test]
fn packed_traces() {
    let teams = [1, 3].map(team);
    let selections = selections();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.pjp");
    for (number, text) in traces().enumerate() {
        let mut settings = paje_pack::Settings::default();
        settings.segment = [700, 3000, 1 << 20][number % 3];
        let packed = paje_pack::pack(&text[..], Vec::new(), settings).expect("enough memory");
        fs::write(&path, packed).expect("the folder is writable");
        let read = |options: &Options, team: &Workers| {
            let input = Input::open(Some(&path)).expect("it was written");
            Trace::read_with(input.into(), options, team, &Progress::default())
        };
        let mut options = Options::default();
        options.user_defined = number % 5 == 0;
        let plain = Trace::read(&text[..], &options);
        let team = &teams[number / 3 % teams.len()];
        match (&plain, read(&options, team)) {
            (Ok(plain), Ok(packed)) => assert_eq!(listing::of(&packed), listing::of(plain)),
            (Err(plain), Err(packed)) => assert_eq!(packed.to_string(), plain.to_string()),
            (plain, packed) => panic!("{:?}, {:?}", plain.as_ref().err(), packed.err()),
        }
        // Lines of unwanted lanes are left out.
        let Ok(plain) = plain else { continue };
        options.selection = selections[number % selections.len()].clone();
        let packed = read(&options, team).expect("valid");
        assert_eq!(wanted(&packed, &options.selection), wanted(&plain, &options.selection));
        assert_eq!(packed.end(), plain.end());
    }
}
