//! Runs each hot loop in a separate function.
//!
//! The compiler can then assign registers to the loop without regard to other code. Each loop is compiled twice: for
//! any processor, and for processors with AVX2 and BMI.

pub(super) trait Loop {
    type Result;

    /// Runs the loop. It is always inlined, so that it is compiled for its caller's instructions.
    fn run(self) -> Self::Result;
}

/// Runs a loop, with AVX2 and BMI if the processor has them.
#[inline(always)]
pub(super) fn run<L: Loop>(lines: L) -> L::Result {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
    {
        #[allow(unsafe_code)]
        // SAFETY: the processor has all features that the function requires.
        return unsafe { run_wide(lines) };
    }
    run_plain(lines)
}

#[inline(never)]
fn run_plain<L: Loop>(lines: L) -> L::Result {
    lines.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn run_wide<L: Loop>(lines: L) -> L::Result {
    lines.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sum<'a>(&'a [u8]);

    impl Loop for Sum<'_> {
        type Result = u64;

        #[inline(always)]
        fn run(self) -> u64 {
            self.0.iter().map(|byte| u64::from(*byte)).sum()
        }
    }

    #[test]
    fn both_ways_give_the_same() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(run(Sum(&bytes)), 32_640);
        assert_eq!(run_plain(Sum(&bytes)), 32_640);
    }
}
