//! Marks of axes.

/// Returns the spacing between the marks of an axis: 1, 2 or 5 times a power of ten, and no smaller
/// than `least`.
#[must_use]
pub fn step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|it| it * power).find(|it| *it >= least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (least, found) in [(0.9, 1.0), (1.0, 1.0), (1.5, 2.0), (0.03, 0.05), (7.0, 10.0)] {
            assert!((step(least) - found).abs() < found * 1e-9, "{least}");
        }
    }
}
