use super::*;

#[test]
fn residuals_of_broadcasts_equal_their_definition() {
    let mut state = 7_u64;
    let mut next = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as i128 % i128::from(bound)
    };
    for _ in 0..500 {
        let count = 1 + next(8) as usize;
        let times: Vec<_> = (0..count)
            .map(|_| {
                let enter = next(10);
                (enter, enter + next(10))
            })
            .collect();
        let mut sums = vec![0; count];
        one_to_n(&times, &mut sums);
        for (root, sum) in sums.iter().enumerate() {
            let at = times[root].0;
            let residual = |(enter, exit): &(i128, i128)| (exit - (*enter).max(at)).abs();
            assert_eq!(*sum, times.iter().map(residual).sum::<i128>(), "{root} of {times:?}");
        }
    }
}
