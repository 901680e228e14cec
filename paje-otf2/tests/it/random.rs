//! Random archives: how an archive is written does not change what it says.

use paje_otf2::table::{EVENTS, Item, Type};
use testkit::Rng;
use testkit::otf2::{Archive, Given};

use super::{text, world, world_in};

/// Adds random events of all kinds.
pub(crate) fn fill(archive: &mut Archive, rng: &mut Rng, count: u64) {
    let mut time = 900;
    for _ in 0..count {
        time += rng.below(3);
        let record = EVENTS.get(10 + rng.below(83) as u8).unwrap();
        let items: Vec<u64> = (0..rng.below(4)).map(|_| rng.below(20)).collect();
        // Most metrics have two members.
        let count = if rng.percent(90) { 2 } else { 3 };
        let types = [4, 8, 10];
        let typed: Vec<(u8, u64)> =
            (0..count).map(|_| (rng.pick(&types), rng.bits() >> rng.below(64))).collect();
        let fields = record.fields.iter().map(|field| match field.type_ {
            Type::List { item: Item::Typed, .. } => Given::V(&typed),
            Type::List { .. } => Given::L(&items),
            Type::Long | Type::Signed => Given::N(rng.bits() >> rng.below(64)),
            Type::Time => Given::N(time + rng.below(9)),
            _ => Given::N(rng.below(12)),
        });
        let fields: Vec<Given<'_>> = fields.collect();
        let location = 10 + 10 * rng.below(2);
        match rng.below(5) {
            0 => archive.event_with(location, time, record.name, &fields, &[(3, 4, time)]),
            _ => archive.event(location, time, record.name, &fields),
        }
    }
}

#[test]
fn orders_of_bytes_and_sizes_of_chunks_do_not_matter() {
    for seed in 0..60 {
        let (mut cut, mut turned) = (Archive::default(), Archive::default());
        (cut.chunk_events, turned.big_endian) = (7, true);
        let archives = [world(), world_in(cut), world_in(turned)];
        let texts = archives.map(|mut archive| {
            fill(&mut archive, &mut Rng::new(seed), 200);
            text(&archive).unwrap()
        });
        assert!(texts[0] == texts[1] && texts[0] == texts[2], "{seed}");
    }
}

/// More events than a piece and a chunk hold.
#[test]
fn long_archives_are_cut_into_pieces() {
    let mut archive = world();
    fill(&mut archive, &mut Rng::new(1), 60_000);
    let folder = tempfile::tempdir().unwrap();
    let trace = super::open(&archive.write(folder.path())).unwrap();
    assert!(trace.pieces() > 8, "{}", trace.pieces());
    let text = super::text_of(&trace).unwrap();
    let bytes: u64 = (0..trace.pieces()).map(|piece| trace.bytes(piece)).sum();
    assert_eq!(bytes, text.len() as u64);
}
