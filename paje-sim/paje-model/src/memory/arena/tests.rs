use super::*;

/// Checks that words are zeros at first and keep their values.
fn check(arena: &mut Arena, sizes: impl Iterator<Item = usize>) {
    let places: Vec<(Place, usize)> = sizes.map(|words| (arena.take(words), words)).collect();
    for (number, (place, words)) in (1..).zip(&places) {
        assert!(arena.words(*place, 0, *words).iter().all(|word| *word == 0));
        arena.set(*place, 0, number);
        arena.set(*place, words - 1, number);
    }
    for (number, (place, words)) in (1..).zip(&places) {
        assert_eq!(arena.words(*place, 0, *words)[0], number);
        assert_eq!(arena.words(*place, 0, *words)[words - 1], number);
    }
}

/// Tests small pieces, large pieces, and a piece that is larger than any other.
#[test]
fn words_keep_their_places() {
    let mut arena = Arena::default();
    check(&mut arena, (1..3000).chain([HUGE + 1, 5]));
    assert!(arena.pieces.iter().any(|piece| matches!(piece, Piece::Huge(_))));
}

/// Reused pieces are zeros again. Unused pieces are freed by the next reuse.
#[test]
fn pieces_are_used_again() {
    let mut old = Arena::default();
    for round in 0..4 {
        let mut arena = Arena::default();
        arena.reuse(&mut old);
        let spare = arena.spare.len();
        check(&mut arena, 1..if round < 2 { 1000 } else { 100 });
        assert_eq!(spare - arena.spare.len(), if round == 0 { 0 } else { arena.pieces.len() });
        old = arena;
    }
    assert!(old.spare.is_empty());
}
