//! Generates runs whose races, orders, deadlocks and barriers are known. The runs are from B.
//! Schaeli, *Performance prediction and race detection in message-passing parallel applications*
//! (2009), chapters 4 and 5.

use std::fmt::Write;

use super::ranks::{Ranks, header};
use crate::header::seconds;
use crate::rng::Rng;

/// A run with a known answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hazard {
    /// A merge sort on four ranks (listing 5.9). There is one race, between the messages of ranks 2
    /// and 1 to rank 0.
    MergeSort,
    /// Rank 0 sends a request to each of the given number of ranks, one after the other, and
    /// receives each reply. There is no race.
    RequestReply(usize),
    /// Rank 0 receives from each of n other ranks, which gives n(n−1)/2 races and n! orders.
    Gather(usize),
    /// Three ranks exchange borders the given number of times (listing 5.10). If they do so once,
    /// twice or three times, there are 60, 6268 or 653916 orders of events.
    Exchange(usize),
    /// Three ranks send to the next rank and then receive from the previous rank (figure 5.12),
    /// which is a potential deadlock.
    Circle,
    /// Like [`Hazard::Circle`], but the receives are posted first, so there is no deadlock.
    PostedCircle,
    /// Two ranks notify a detector and enter a barrier. Then one of them notifies the detector
    /// again (figure 5.20). With synchronous sends, the barrier is needed. Otherwise, it has no
    /// effect.
    Notify {
        /// Whether the first notifications are synchronous sends.
        synchronous: bool,
    },
    /// Random messages between ranks, with occasional barriers.
    Anybody {
        /// Number of ranks, at least two.
        ranks: usize,
        /// Number of messages.
        messages: usize,
        /// Seed of the messages.
        seed: u64,
    },
    /// Three threads exchange borders and then update. The run has the messages to thread 1. The
    /// original figures (4.12b, 4.16) are lost, so this run follows the text. The split operation
    /// and the operations that send borders only read. The two borders are merged, and the update
    /// comes after all these operations. Neighbours may send requests at any time. Another
    /// read-only message before the split's requests gives the numbers in the text: 168 orders, and
    /// 1 and 20 orders after the reduction.
    Borders,
    /// Threads in a ring exchange borders and then update, in two iterations (section 4.2). Merges
    /// also send messages to request the amount of data from their splits (section 2.6.1).
    /// Operations are states that messages trigger. The original figures (4.2, 4.20) are lost, so
    /// this run follows the text. A thread notifies its own merge before and after its update, as
    /// the numbers in tables 4.1 and 4.11 imply.
    Neighbours {
        /// Number of threads, at least two. An additional thread starts the iterations.
        threads: usize,
    },
}

impl Hazard {
    /// Returns the trace.
    #[must_use]
    pub fn trace(self) -> Vec<u8> {
        match self {
            Hazard::MergeSort => merge_sort(),
            Hazard::RequestReply(others) => request_reply(others),
            Hazard::Gather(others) => gather(others),
            Hazard::Exchange(iterations) => exchange(iterations),
            Hazard::Circle => circle(false),
            Hazard::PostedCircle => circle(true),
            Hazard::Notify { synchronous } => return notify(synchronous),
            Hazard::Anybody { ranks, messages, seed } => anybody(ranks, messages, seed),
            Hazard::Borders => borders(),
            Hazard::Neighbours { threads } => neighbours(threads),
        }
        .trace()
    }
}

/// A message under way: its key, and its sending time in microseconds.
#[derive(Clone, Copy)]
struct Sent(u64, u64);

/// Messages between ranks. Each call takes a microsecond.
impl Ranks {
    fn send(&mut self, from: usize, call: &str, value: &str) -> Sent {
        self.push(from, call);
        let sent = Sent(self.start_as(from, value), self.clock[from]);
        self.clock[from] += 1;
        self.pop(from);
        sent
    }

    fn recv(&mut self, to: usize, call: &str, value: &str, message: Sent) {
        self.push(to, call);
        self.clock[to] = self.clock[to].max(message.1) + 1;
        self.end_as(to, value, message.0);
        self.pop(to);
    }

    fn pass(&mut self, from: usize, to: usize, value: &str) {
        let sent = self.send(from, "PMPI_Send", value);
        self.recv(to, "PMPI_Recv", value, sent);
    }

    /// Adds a state in which a rank receives messages and then sends messages.
    fn operation(&mut self, rank: usize, inputs: &[(&str, Sent)], outputs: &[&str]) -> Vec<Sent> {
        self.push(rank, "PMPI_Sendrecv");
        for (value, message) in inputs {
            self.clock[rank] = self.clock[rank].max(message.1) + 1;
            self.end_as(rank, value, message.0);
        }
        self.clock[rank] += 1;
        let time = self.clock[rank];
        let sent = outputs.iter().map(|value| Sent(self.start_as(rank, value), time));
        let sent = sent.collect();
        self.clock[rank] += 1;
        self.pop(rank);
        sent
    }

    fn pass_synchronously(&mut self, from: usize, to: usize) {
        self.push(from, "PMPI_Ssend");
        self.push(to, "PMPI_Recv");
        let sent = self.start_as(from, "PTP");
        let end = self.clock[from].max(self.clock[to]) + 1;
        (self.clock[from], self.clock[to]) = (end, end);
        self.end_as(to, "PTP", sent);
        self.pop(from);
        self.pop(to);
    }

    fn barrier(&mut self) {
        let until = self.clock.iter().copied().max().unwrap_or(0) + 1;
        for rank in 0..self.count() {
            self.state_until(rank, "PMPI_Barrier", until);
        }
    }
}

fn merge_sort() -> Ranks {
    let mut run = Ranks::new(4);
    let sent: Vec<Sent> = (0..4).map(|_| run.send(0, "PMPI_Isend", "PTP")).collect();
    for (rank, sent) in sent.into_iter().enumerate() {
        run.recv(rank, "PMPI_Recv", "PTP", sent);
    }
    run.state(0, "PMPI_Waitall", 1);
    run.barrier();
    run.pass_synchronously(2, 0);
    run.pass_synchronously(3, 1);
    run.pass_synchronously(1, 0);
    run
}

fn request_reply(others: usize) -> Ranks {
    let mut run = Ranks::new(others + 1);
    for rank in 1..=others {
        run.pass(0, rank, "request");
        run.pass(rank, 0, "reply");
    }
    run
}

fn gather(others: usize) -> Ranks {
    let mut run = Ranks::new(others + 1);
    (1..=others).for_each(|rank| run.pass(rank, 0, "PTP"));
    run
}

fn exchange(iterations: usize) -> Ranks {
    let mut run = Ranks::new(3);
    for _ in 0..iterations {
        for (first, last) in [(0, 2), (2, 0)] {
            let sent = run.send(first, "PMPI_Send", "PTP");
            run.push(1, "PMPI_Sendrecv");
            let on = Sent(run.start_as(1, "PTP"), run.clock[1]);
            run.clock[1] = run.clock[1].max(sent.1) + 1;
            run.end_as(1, "PTP", sent.0);
            run.pop(1);
            run.recv(last, "PMPI_Recv", "PTP", on);
        }
    }
    run
}

fn circle(posted: bool) -> Ranks {
    let mut run = Ranks::new(3);
    if posted {
        (0..3).for_each(|rank| run.state(rank, "PMPI_Irecv", 1));
    }
    let sent: Vec<Sent> = (0..3).map(|rank| run.send(rank, "PMPI_Send", "PTP")).collect();
    for (rank, sent) in sent.into_iter().enumerate() {
        let call = if posted { "PMPI_Wait" } else { "PMPI_Recv" };
        run.recv((rank + 1) % 3, call, "PTP", sent);
    }
    run
}

fn anybody(ranks: usize, messages: usize, seed: u64) -> Ranks {
    let (mut run, mut rng) = (Ranks::new(ranks), Rng::new(seed));
    let mut under_way: Vec<(usize, Sent)> = Vec::new();
    for _ in 0..messages {
        let (from, to) = (rng.index(ranks), rng.index(ranks));
        under_way.push((to, run.send(from, "PMPI_Isend", "PTP")));
        // Some messages stay under way for a while.
        while under_way.len() > rng.index(8) {
            let (to, sent) = under_way.remove(0);
            run.recv(to, "PMPI_Recv", "PTP", sent);
        }
        if rng.below(50) == 0 {
            run.barrier();
        }
    }
    for (to, sent) in under_way {
        run.recv(to, "PMPI_Recv", "PTP", sent);
    }
    run
}

fn borders() -> Ranks {
    // Ranks 0 to 2 are the threads, rank 3 starts the iteration, and rank 4 sends the size of the
    // border.
    let mut run = Ranks::new(5);
    let asks = [0, 2].map(|rank| run.send(rank, "PMPI_Isend", "read request"));
    run.pass(3, 1, "read split");
    run.pass(4, 1, "read size");
    for rank in [0, 2] {
        run.pass(1, rank, "read request");
    }
    for rank in [0, 2] {
        run.pass(rank, 1, "border");
    }
    let update = run.send(1, "PMPI_Isend", "update");
    run.recv(1, "PMPI_Recv", "update", update);
    for ask in asks {
        run.recv(1, "PMPI_Recv", "read request", ask);
    }
    run
}

fn neighbours(threads: usize) -> Ranks {
    const SIDES: [[&str; 2]; 2] =
        [["read request left", "border left"], ["read request right", "border right"]];
    let mut run = Ranks::new(threads + 1);
    let main = threads;
    let mut start = run.operation(main, &[], &["read start"])[0];
    for iteration in 0..2 {
        let splits = run.operation(main, &[("read start", start)], &vec!["read split"; threads]);
        let mut asked = Vec::new();
        for (thread, split) in splits.into_iter().enumerate() {
            let asks = SIDES.map(|side| side[0]);
            asked.push(run.operation(thread, &[("read split", split)], &asks));
        }
        let borders: Vec<[(&str, Sent); 2]> = (0..threads)
            .map(|thread| {
                [0, 1].map(|at| {
                    let neighbour = (thread + if at == 0 { threads - 1 } else { 1 }) % threads;
                    let [request, border] = SIDES[at];
                    let asks = [(request, asked[thread][at])];
                    (border, run.operation(neighbour, &asks, &[border])[0])
                })
            })
            .collect();
        let mut done = Vec::new();
        for (thread, borders) in borders.iter().enumerate() {
            let mut last = run.operation(thread, borders, &["read how many"])[0];
            for (input, output) in
                [("read how many", "update"), ("update", "read so many"), ("read so many", "done")]
            {
                last = run.operation(thread, &[(input, last)], &[output])[0];
            }
            done.push(("done", last));
        }
        let mut last = run.operation(main, &done, &["read how many"])[0];
        last = run.operation(main, &[("read how many", last)], &["read so many"])[0];
        let next: &[&str] = if iteration == 0 { &["read start"] } else { &[] };
        start = *run.operation(main, &[("read so many", last)], next).first().unwrap_or(&last);
    }
    run
}

/// Times are in microseconds. The detector has a separate type, because it takes part in no
/// barrier.
fn notify(synchronous: bool) -> Vec<u8> {
    let call = if synchronous { "PMPI_Ssend" } else { "PMPI_Send" };
    let mut out = format!(
        "{}0 D 0 Detector\n2 T D MPI_STATE\n4 M 0 R D MPI_LINK\n6 0 r0 R 0 rank-0\n6 0 r1 R 0 rank-1\n6 0 d D 0 detector\n",
        header()
    );
    let lines: [(u64, String); 22] = [
        (0, "12 @ T d PMPI_Recv".into()),
        (1, format!("12 @ S r0 {call}")),
        (1, "15 @ M 0 PTP r0 a 1".into()),
        (1, format!("12 @ S r1 {call}")),
        (1, "15 @ M 0 PTP r1 b 1".into()),
        (2, "16 @ M 0 PTP d a".into()),
        (2, "13 @ T d".into()),
        (2, "13 @ S r0".into()),
        (3, "12 @ T d PMPI_Recv".into()),
        (3, "12 @ S r0 PMPI_Barrier".into()),
        (4, "16 @ M 0 PTP d b".into()),
        (4, "13 @ T d".into()),
        (4, "13 @ S r1".into()),
        (5, "12 @ T d PMPI_Recv".into()),
        (5, "12 @ S r1 PMPI_Barrier".into()),
        (6, "13 @ S r0".into()),
        (6, "13 @ S r1".into()),
        (7, "12 @ S r0 PMPI_Send".into()),
        (7, "15 @ M 0 PTP r0 c 1".into()),
        (8, "13 @ S r0".into()),
        (9, "16 @ M 0 PTP d c".into()),
        (9, "13 @ T d".into()),
    ];
    for (time, line) in lines {
        let _ = writeln!(out, "{}", line.replace('@', &seconds(time)));
    }
    out.into_bytes()
}
