//! Unit of a trace's times.

use clap::Args;
use paje_sim::TimeUnit;

/// Unit of a trace's times.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Units {
    /// Unit of the trace's times: ns, us, ms or s
    ///
    /// Default: that of the program that wrote the trace, if it is known (StarPU, EZTrace: ms;
    /// SimGrid, Akypuera: s), else s. Points in time such as --start are in this unit, too
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<TimeUnit>,
}
