//! Tests the texts that options take: each is refused with a message, or read.

use paje_analysis::classes::Map;
use paje_comm::tasks::Records;
use paje_whatif::hypothesis::{Hypothesis, Random, parse_file};
use paje_whatif::{Hosts, fit};

const KINDS: [&str; 6] = ["scale", "balance", "cut", "cut-messages", "net", "cpu"];
const RANKS: usize = 7;

pub fn run(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let text = &*String::from_utf8_lossy(bytes);
    let refused = match choice % 12 {
        kind @ 0..6 => Hypothesis::parse(KINDS[usize::from(kind)], text).err(),
        6 => parse_file(text).err(),
        7 => match Hosts::given(text, RANKS) {
            Ok(hosts) => return assert!((0..RANKS as u32).all(|rank| hosts.host(rank) <= rank)),
            Err(error) => Some(error),
        },
        8 => Map::parse("given", text).err().map(|error| error.to_string()),
        9 => Records::read(bytes).err().map(|error| error.to_string()),
        10 => fit::Table::parse(text).err(),
        _ => match text.parse::<Random>() {
            Ok(random) => return assert_eq!(random.to_string().parse(), Ok(random)),
            Err(error) => Some(error),
        },
    };
    assert!(refused.is_none_or(|why| !why.is_empty()));
}
