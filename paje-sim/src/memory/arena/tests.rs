use super::*;

/// Words that are zeros, and keep what is put there.
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

/// Small pieces, large ones, and a request that is larger than any.
#[test]
fn words_keep_their_places() {
    let mut arena = Arena::default();
    check(&mut arena, (1..3000).chain([HUGE + 1, 5]));
    assert!(arena.pieces.iter().any(|piece| matches!(piece, Piece::Huge(_))));
}

/// Pieces that were used before are zeros again, and those that are not needed are gone after the next time.
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

/// An arena takes no more than it fills, but for a little.
#[test]
fn shared_words_keep_their_places() {
    let supply = Supply { reserve: Some(Arc::default()), overflow: None };
    let mut arenas = [Arena::new(supply.clone()), Arena::new(supply)];
    for _ in 0..3 {
        for arena in &mut arenas {
            check(arena, (1..3000).rev().step_by(7).chain([HUGE + 1, 5]));
        }
    }
    let filled = 3 * ((1..3000).rev().step_by(7).sum::<usize>() + HUGE + 6);
    for arena in &arenas {
        let huge = |piece: &&Piece| matches!(piece, Piece::Huge(_));
        assert!(arena.pieces.iter().filter(huge).count() > 300);
        assert!(arena.total < filled + filled / 10, "{} of {filled}", arena.total);
    }
}

/// The first piece of an arena is full where it is for one taker alone.
#[test]
fn the_first_piece_has_one_owner() {
    let reserve: Arc<Reserve> = Arc::default();
    reserve.note(HUGE);
    let mut arena = Arena::new(Supply { reserve: Some(reserve), overflow: None });
    check(&mut arena, [8192, 8192, 3, 8192].into_iter());
}
