//! Generates traces for which formulas give the waiting times and the critical path.

use super::ranks::{NO_SIZE, Ranks};

/// A situation in which ranks wait. All times depend only on [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Case {
    /// Rank 1 receives from rank 0, whose send is delayed by `late`.
    LateSender,
    /// Rank 0 sends 1 MB to rank 1, whose receive is delayed by `late`. Both ranks leave together.
    LateReceiver,
    /// An allreduce. Each rank enters it with a delay of `late` after the previous rank.
    NxN,
    /// A barrier. Each rank enters it with a delay of `late` after the previous rank.
    Barrier,
    /// A broadcast from the middle rank. Each rank enters it with a delay of `late` after the
    /// previous rank.
    OneToN,
    /// A reduction to rank 0. Each rank enters it with a delay of `late` after the previous rank.
    NToOne,
    /// A scan. The last rank enters it first, and each other rank with a delay of `late` after the
    /// next rank.
    Scan,
    /// Each rank receives from the previous rank, works for `work` and sends to the next rank. Rank
    /// 0 is late.
    Chain,
    /// Like [`Case::LateSender`], but in nested states. Rank 1 then works for `work` again.
    Nested,
}

/// Times in microseconds, and the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Number of ranks, at least two, if the case allows any number.
    pub ranks: usize,
    /// Computing time of each rank.
    pub work: u64,
    /// Delay, which is more than twice `transfer`.
    pub late: u64,
    /// Duration of a message, or of a collective after its last rank has entered. It is at least 2.
    pub transfer: u64,
}

/// A trace and the expected results, in microseconds.
#[derive(Clone, Debug)]
pub struct Known {
    /// Bytes of the trace.
    pub bytes: Vec<u8>,
    /// The expected wait states.
    pub waits: Vec<Waiting>,
    /// The critical path: rank, start and end of each of its parts.
    pub path: Vec<(usize, u64, u64)>,
    /// Ranks that cause waiting, each with the total waiting time that it causes directly and
    /// indirectly.
    pub delays: Vec<(usize, u64)>,
}

/// A wait state, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiting {
    /// Kind: `late sender`, `late receiver`, `wait at all-to-all`, `wait at barrier`,
    /// `late broadcast`, `early reduce` or `late scan`.
    pub kind: &'static str,
    /// Rank that waits.
    pub waiter: usize,
    /// Rank that the waiting rank waits for.
    pub whom: usize,
    /// Start of the wait state.
    pub from: u64,
    /// End of the wait state.
    pub until: u64,
}

impl Case {
    /// All cases.
    pub const ALL: [Case; 9] = [
        Case::LateSender,
        Case::LateReceiver,
        Case::NxN,
        Case::Barrier,
        Case::OneToN,
        Case::NToOne,
        Case::Scan,
        Case::Chain,
        Case::Nested,
    ];

    /// Returns the trace and the expected results.
    pub fn trace(self, parameters: &Parameters) -> Known {
        match self {
            Case::LateSender => late_sender(parameters),
            Case::LateReceiver => late_receiver(parameters),
            Case::NxN => all_for_all(parameters, "PMPI_Allreduce", "wait at all-to-all"),
            Case::Barrier => all_for_all(parameters, "PMPI_Barrier", "wait at barrier"),
            Case::OneToN => broadcast(parameters),
            Case::NToOne => reduction(parameters),
            Case::Scan => scan(parameters),
            Case::Chain => chain(parameters),
            Case::Nested => nested(parameters),
        }
    }
}

/// Writes a collective: each rank computes, enters it and leaves it at the given times.
fn collective(
    ranks: usize,
    value: &str,
    enter: impl Fn(usize) -> u64,
    left: impl Fn(usize) -> u64,
) -> Vec<u8> {
    let mut run = Ranks::new(ranks);
    for rank in 0..ranks {
        run.state_until(rank, "computing", enter(rank));
        run.state_until(rank, value, left(rank));
    }
    run.trace()
}

fn wait(kind: &'static str, waiter: usize, whom: usize, from: u64, until: u64) -> Waiting {
    Waiting { kind, waiter, whom, from, until }
}

/// Writes a run in which rank 1 waits for the duration `late`. The critical path follows rank 0
/// until the send, and then the message.
fn late_sender(&Parameters { work, late, transfer, .. }: &Parameters) -> Known {
    let mut ranks = Ranks::new(2);
    ranks.state(0, "computing", work + late);
    ranks.state(1, "computing", work);
    let key = ranks.start(0, 8);
    ranks.state(0, "PMPI_Send", 0);
    let (sent, end) = (work + late, work + late + transfer);
    ranks.state_until(1, "PMPI_Recv", end);
    ranks.end(1, key);
    Known {
        bytes: ranks.trace(),
        waits: vec![wait("late sender", 1, 0, work, sent)],
        path: vec![(0, 0, sent), (1, sent, end)],
        delays: vec![(0, late)],
    }
}

/// Writes a run in which rank 0 waits for the duration `late`, and both ranks leave together. Rank
/// 1 never waits, so the critical path stays on rank 1.
fn late_receiver(&Parameters { work, late, transfer, .. }: &Parameters) -> Known {
    let mut ranks = Ranks::new(2);
    ranks.state(0, "computing", work);
    ranks.state(1, "computing", work + late);
    let key = ranks.start(0, 1_000_000);
    let end = work + late + transfer;
    ranks.state_until(0, "PMPI_Send", end);
    ranks.state_until(1, "PMPI_Recv", end);
    ranks.end(1, key);
    Known {
        bytes: ranks.trace(),
        waits: vec![wait("late receiver", 0, 1, work, work + late)],
        path: vec![(1, 0, end)],
        delays: vec![(1, late)],
    }
}

/// Writes a run with n ranks. Rank i works for `work` + i · `late`, then waits (n − 1 − i) · `late`
/// for the last rank.
fn all_for_all(parameters: &Parameters, value: &str, kind: &'static str) -> Known {
    let &Parameters { ranks: count, work, late, transfer } = parameters;
    let last = count - 1;
    let enter = |rank: usize| work + rank as u64 * late;
    let end = enter(last) + transfer;
    let n = count as u64;
    Known {
        bytes: collective(count, value, enter, |_| end),
        waits: (0..last).map(|rank| wait(kind, rank, last, enter(rank), enter(last))).collect(),
        path: vec![(last, 0, end)],
        delays: vec![(last, late * n * (n - 1) / 2)],
    }
}

/// Writes a broadcast that the root enters after half of the ranks. Earlier ranks wait, and later
/// ranks find that the message has already arrived.
fn broadcast(parameters: &Parameters) -> Known {
    let &Parameters { ranks: count, work, late, transfer } = parameters;
    let (root, last) = (count / 2, count - 1);
    let enter = |rank: usize| work + rank as u64 * late;
    let left = |rank: usize| enter(rank.max(root)) + transfer;
    let r = root as u64;
    let waits = (0..root).map(|rank| wait("late broadcast", rank, root, enter(rank), enter(root)));
    Known {
        bytes: collective(count, "PMPI_Bcast", enter, left),
        waits: waits.collect(),
        path: vec![(last, 0, enter(last) + transfer)],
        delays: vec![(root, late * r * (r + 1) / 2)],
    }
}

/// Writes a reduction in which rank 0, the root, waits (n − 1) · `late` for the last rank. The
/// other ranks leave after half a transfer.
fn reduction(parameters: &Parameters) -> Known {
    let &Parameters { ranks: count, work, late, transfer } = parameters;
    let last = count - 1;
    let enter = |rank: usize| work + rank as u64 * late;
    let end = enter(last) + transfer;
    let left = |rank: usize| if rank == 0 { end } else { enter(rank) + transfer / 2 };
    Known {
        bytes: collective(count, "PMPI_Reduce", enter, left),
        waits: vec![wait("early reduce", 0, last, work, enter(last))],
        path: vec![(last, 0, enter(last)), (0, enter(last), end)],
        delays: vec![(last, late * last as u64)],
    }
}

/// Writes a scan that rank i enters (n − 1 − i) · `late` after the last rank. All ranks therefore
/// wait for rank 0, and rank i waits i · `late`.
fn scan(parameters: &Parameters) -> Known {
    let &Parameters { ranks: count, work, late, transfer } = parameters;
    let last = count - 1;
    let enter = |rank: usize| work + (last - rank) as u64 * late;
    let left = |rank: usize| enter(0) + (rank as u64 + 1) * transfer;
    let n = count as u64;
    Known {
        bytes: collective(count, "PMPI_Scan", enter, left),
        waits: (1..count).map(|rank| wait("late scan", rank, 0, enter(rank), enter(0))).collect(),
        path: vec![(0, 0, enter(0)), (last, enter(0), left(last))],
        delays: vec![(0, late * n * (n - 1) / 2)],
    }
}

/// Writes a run in which rank i sends at s(i) = `work` + `late` + i · (`transfer` + `work`), and
/// rank i + 1 waits for this message from `work` on. For each waiting rank, rank 0 causes `late` of
/// the waiting time, and each rank in between causes `transfer` + `work`.
fn chain(parameters: &Parameters) -> Known {
    let &Parameters { ranks: count, work, late, transfer } = parameters;
    let mut ranks = Ranks::new(count);
    let last = count - 1;
    let sent = |rank: usize| work + late + rank as u64 * (transfer + work);
    ranks.state(0, "computing", work + late);
    for rank in 1..count {
        let key = ranks.start(rank - 1, NO_SIZE);
        ranks.state(rank - 1, "PMPI_Send", 0);
        ranks.state(rank, "computing", work);
        ranks.state_until(rank, "PMPI_Recv", sent(rank - 1) + transfer);
        ranks.end(rank, key);
        if rank < last {
            ranks.state(rank, "computing", work);
        }
    }
    let waits = (1..count).map(|rank| wait("late sender", rank, rank - 1, work, sent(rank - 1)));
    let mut path: Vec<(usize, u64, u64)> =
        (1..last).map(|rank| (rank, sent(rank - 1), sent(rank))).collect();
    path.insert(0, (0, 0, sent(0)));
    path.push((last, sent(last - 1), sent(last - 1) + transfer));
    let delay = |rank: usize| match rank {
        0 => (0, late * last as u64),
        _ => (rank, (transfer + work) * (last - rank) as u64),
    };
    Known {
        bytes: ranks.trace(),
        waits: waits.collect(),
        path,
        delays: (0..last).map(delay).collect(),
    }
}

/// Writes a run in which rank 1 waits for the duration `late` in nested states: a receive inside
/// another receive inside computing.
fn nested(&Parameters { work, late, transfer, .. }: &Parameters) -> Known {
    let mut ranks = Ranks::new(2);
    let (sent, end) = (work + late, work + late + transfer + work);
    ranks.push(0, "computing");
    ranks.clock[0] = sent;
    ranks.push(0, "PMPI_Send");
    let key = ranks.start(0, 8);
    ranks.clock[0] += 1;
    ranks.pop(0);
    ranks.pop(0);
    ranks.push(1, "computing");
    ranks.clock[1] = work;
    ranks.push(1, "PMPI_Wait");
    ranks.push(1, "PMPI_Recv");
    ranks.clock[1] = sent + transfer;
    ranks.end(1, key);
    ranks.pop(1);
    ranks.pop(1);
    ranks.clock[1] = end;
    ranks.pop(1);
    Known {
        bytes: ranks.trace(),
        waits: vec![wait("late sender", 1, 0, work, sent)],
        path: vec![(0, 0, sent), (1, sent, end)],
        delays: vec![(0, late)],
    }
}
