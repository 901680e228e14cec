//! Computes wait states, their costs and the critical path directly from their definitions, in
//! whole microseconds. Compares every row with every other row, and shares no code with the crate.

mod costs;

use std::collections::BTreeMap;

use paje_sim::Trace;

use crate::micros;

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) value: String,
    /// Number of states around it.
    depth: u32,
}

#[derive(Clone, Debug)]
struct Message {
    from: usize,
    to: usize,
    start: u64,
    end: u64,
    bytes: Option<f64>,
}

/// A wait. The fields before `whom` determine the order of waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wait {
    pub(crate) waiter: usize,
    pub(crate) until: u64,
    pub(crate) state: usize,
    /// Index of the kind in the crate's list of kinds.
    pub(crate) kind: usize,
    pub(crate) from: u64,
    pub(crate) whom: usize,
    pub(crate) release: Option<usize>,
}

pub(crate) struct Naive {
    pub(crate) ranks: Vec<Vec<State>>,
    pub(crate) waits: Vec<Wait>,
    /// Times at which all ranks were synchronised.
    meetings: Vec<u64>,
    begin: u64,
    end: u64,
}

const LATE_SENDER: usize = 0;
const LATE_RECEIVER: usize = 1;

fn sends(value: &str) -> bool {
    ["PMPI_Send", "PMPI_Ssend", "PMPI_Isend", "PMPI_Sendrecv"].contains(&value)
}

fn receives(value: &str) -> bool {
    ["PMPI_Recv", "PMPI_Wait", "PMPI_Waitall", "PMPI_Sendrecv"].contains(&value)
}

fn collective(value: &str) -> bool {
    COLLECTIVES.iter().any(|(name, _)| *name == value)
}

/// Values of collectives, each with the index of its kind.
const COLLECTIVES: [(&str, usize); 6] = [
    ("PMPI_Allreduce", 2),
    ("PMPI_Barrier", 3),
    ("PMPI_Bcast", 4),
    ("PMPI_Reduce", 5),
    ("PMPI_Gather", 5),
    ("PMPI_Scan", 6),
];

impl Naive {
    pub(crate) fn new(trace: &Trace, ranks: usize, eager: f64) -> Naive {
        let mut naive = Naive {
            ranks: vec![Vec::new(); ranks],
            waits: Vec::new(),
            meetings: Vec::new(),
            begin: 0,
            end: 0,
        };
        let mut messages = Vec::new();
        let number =
            |name: &str| name.trim_start_matches("rank-").parse::<usize>().expect("a rank");
        for state in trace.states().filter(|state| state.lane.type_name().text == b"MPI_STATE") {
            naive.ranks[number(&state.lane.container_name().to_str_lossy())].push(State {
                start: micros(state.start),
                end: micros(state.end),
                value: state.value_name().to_string(),
                depth: state.imbrication,
            });
        }
        let sizes = sizes(trace);
        for (link, bytes) in trace.links().zip(sizes) {
            let name = |id| number(&trace.containers().name(id).to_str_lossy());
            let (start, end) = (micros(link.start), micros(link.end));
            messages.push(Message { from: name(link.from), to: name(link.to), start, end, bytes });
        }
        // Ranks without states are ignored, even if generated messages involve them.
        let all = || naive.ranks.iter().flatten();
        naive.begin = all().map(|state| state.start).min().unwrap_or(0);
        naive.end = all().map(|state| state.end).max().unwrap_or(0);
        messages.retain(|m| !naive.ranks[m.from].is_empty() && !naive.ranks[m.to].is_empty());
        naive.messages(&messages, eager);
        for (value, kind) in COLLECTIVES {
            naive.operations(value, kind);
        }
        naive.waits.sort();
        naive
    }

    /// Returns the state in which a link starts. If states begin at that time, they are taken in
    /// order. Otherwise, an open state is taken.
    fn sending(&self, messages: &[Message], at: usize) -> Option<usize> {
        let message = &messages[at];
        let (rank, time) = (&self.ranks[message.from], message.start);
        let of_rank = |m: &&Message| m.from == message.from && m.start == time;
        let place = messages[..at].iter().filter(of_rank).count();
        let more = messages.iter().filter(of_rank).count();
        let all = || 0..rank.len();
        let begun: Vec<usize> =
            all().filter(|i| sends(&rank[*i].value) && rank[*i].start == time).collect();
        if !begun.is_empty() {
            return begun.get(place.saturating_sub(more.saturating_sub(begun.len()))).copied();
        }
        let open = |i: &usize| rank[*i].start < time && rank[*i].end >= time;
        let new = |i: &usize| rank[*i].start == time;
        let group = |i: &usize| collective(&rank[*i].value);
        let one = all().rev().find(|i| open(i) && sends(&rank[*i].value));
        let one = one.or_else(|| all().rev().find(|i| open(i) && group(i)));
        one.or_else(|| all().find(|i| new(i) && group(i)))
    }

    /// Returns the state in which a link ends. If states end at that time, they are taken in order
    /// of their starts. Otherwise, an open state is taken. A call that waits comes first if its rank
    /// has posted a receive before that no earlier message has completed. `before` are the states in
    /// which the rank's earlier messages end.
    fn receiving(&self, messages: &[Message], at: usize, before: &[usize]) -> Option<usize> {
        let message = &messages[at];
        let (rank, time) = (&self.ranks[message.to], message.end);
        let of_rank = |m: &&Message| m.to == message.to && m.end == time;
        let place = messages[..at].iter().filter(of_rank).count();
        let more = messages.iter().filter(of_rank).count();
        let all = || 0..rank.len();
        let open = |i: &usize| rank[*i].start < time && rank[*i].end >= time;
        let new = |i: &usize| rank[*i].start == time;
        let left = |i: &usize| rank[*i].end == time && receives(&rank[*i].value);
        let mut ended: Vec<usize> = all().rev().find(|i| open(i) && left(i)).into_iter().collect();
        ended.extend(all().filter(|i| new(i) && left(i)));
        let posts = |i: &usize| rank[*i].value == "PMPI_Irecv";
        let waits = |i: &usize| rank[*i].value.starts_with("PMPI_Wait");
        if !ended.is_empty() {
            let one = ended[place.saturating_sub(more.saturating_sub(ended.len()))];
            let completed = before.iter().filter(|i| waits(i) || posts(i)).count();
            let is_free = |i: &usize| {
                waits(i)
                    && (0..*i).filter(posts).count() > completed
                    && (rank[*i].value == "PMPI_Waitall" || !before.contains(i))
            };
            let free = ended.iter().copied().find(|i| waits(&one) && is_free(i));
            return free.or(Some(one));
        }
        let takes = |i: &usize| receives(&rank[*i].value);
        let group = |i: &usize| collective(&rank[*i].value);
        let one = all().rev().find(|i| open(i) && takes(i));
        let one = one.or_else(|| all().rev().find(|i| open(i) && group(i)));
        let one = one.or_else(|| all().find(|i| new(i) && takes(i)));
        let one = one.or_else(|| all().find(|i| new(i) && group(i)));
        let one = one.or_else(|| all().rev().find(|i| open(i) && posts(i)));
        one.or_else(|| all().find(|i| new(i) && posts(i)))
    }

    fn messages(&mut self, messages: &[Message], eager: f64) {
        let mut found: BTreeMap<(usize, usize, usize), (u64, u64, Wait)> = BTreeMap::new();
        // Keeps the latest message of each state. If several are equally late, keeps the first one.
        let mut offer = |wait: Wait, late: u64, order: u64| {
            let key = (wait.waiter, wait.state, wait.kind);
            let better =
                found.get(&key).is_none_or(|(l, o, _)| late > *l || (late == *l && order < *o));
            if wait.from < wait.until && better {
                found.insert(key, (late, order, wait));
            }
        };
        let mut before = vec![Vec::new(); self.ranks.len()];
        for (at, message) in messages.iter().enumerate() {
            let recv = self.receiving(messages, at, &before[message.to]);
            before[message.to].extend(recv);
            let send = self.sending(messages, at);
            let state = |rank: usize, i: usize| &self.ranks[rank][i];
            if let Some(i) = recv.filter(|i| !collective(&state(message.to, *i).value)) {
                let State { start, end, .. } = *state(message.to, i);
                let until = message.start.min(end);
                let (waiter, whom) = (message.to, message.from);
                let wait = Wait {
                    waiter,
                    until,
                    state: i,
                    kind: LATE_SENDER,
                    from: start,
                    whom,
                    release: send,
                };
                offer(wait, message.start, message.end * 1_000_000 + at as u64);
            }
            let (Some(i), Some(recv)) = (send, recv) else { continue };
            let State { start, end, ref value, .. } = *state(message.from, i);
            let rendezvous =
                value == "PMPI_Ssend" || message.bytes.is_some_and(|bytes| bytes >= eager);
            if rendezvous && !collective(value) {
                let enter = state(message.to, recv).start;
                let (waiter, whom, release) = (message.from, message.to, Some(recv));
                let until = enter.min(end);
                let wait = Wait {
                    waiter,
                    until,
                    state: i,
                    kind: LATE_RECEIVER,
                    from: start,
                    whom,
                    release,
                };
                offer(wait, enter, message.start * 1_000_000 + at as u64);
            }
        }
        self.waits.extend(found.into_values().map(|(_, _, wait)| wait));
    }

    fn operations(&mut self, value: &str, kind: usize) {
        let members: Vec<usize> =
            (0..self.ranks.len()).filter(|r| !self.ranks[*r].is_empty()).collect();
        let of = |rank: usize| -> Vec<usize> {
            (0..self.ranks[rank].len()).filter(|i| self.ranks[rank][*i].value == value).collect()
        };
        let lists: Vec<Vec<usize>> = members.iter().map(|rank| of(*rank)).collect();
        let Some(count) = lists.first().map(Vec::len) else { return };
        if lists.iter().any(|list| list.len() != count) {
            return;
        }
        let state = |member: usize, k: usize| lists[member][k];
        let enter = |member: usize, k: usize| self.ranks[members[member]][state(member, k)].start;
        let exit = |member: usize, k: usize| self.ranks[members[member]][state(member, k)].end;
        let all = 0..members.len();
        let latest = |some: Vec<usize>, k: usize| -> Option<usize> {
            some.into_iter().rev().max_by_key(|member| enter(*member, k))
        };
        let count_of = members.len();
        // If `turn` is 1, the root rotates through the members.
        let root_of = |first: usize, turn: usize, k: usize| (first + turn * k) % count_of;
        let residual = |first: usize, turn: usize| -> u64 {
            let one = |k: usize| -> u64 {
                let root = root_of(first, turn, k);
                let member = |m: usize| match value {
                    "PMPI_Bcast" => exit(m, k).abs_diff(enter(m, k).max(enter(root, k))),
                    _ if m != root => exit(m, k) - enter(m, k),
                    _ => exit(m, k).abs_diff(all.clone().map(|m| enter(m, k)).max().unwrap_or(0)),
                };
                all.clone().map(member).sum()
            };
            (0..count).map(one).sum()
        };
        let least = |turn: usize| all.clone().min_by_key(|root| residual(*root, turn));
        let [fixed, first] = [0, 1].map(|turn| least(turn).expect("a member"));
        let is_turning = count > 2 && 5 * residual(first, 1) < 4 * residual(fixed, 0);
        let (first, turn) = if is_turning { (first, 1) } else { (fixed, 0) };
        let mut found = Vec::new();
        for k in 0..count {
            let (last, root) = (latest(all.clone().collect(), k), root_of(first, turn, k));
            if kind == 2 || kind == 3 {
                self.meetings.push(enter(last.expect("a member"), k));
            }
            for member in all.clone() {
                let whom = match value {
                    "PMPI_Allreduce" | "PMPI_Barrier" => last,
                    "PMPI_Bcast" => Some(root),
                    "PMPI_Scan" => latest((0..member).collect(), k),
                    _ if member == root => latest(all.clone().filter(|m| *m != root).collect(), k),
                    _ => None,
                };
                let Some(whom) = whom else { continue };
                let (from, until) = (enter(member, k), enter(whom, k).min(exit(member, k)));
                if from < until {
                    let (release, state) = (Some(state(whom, k)), state(member, k));
                    found.push(Wait {
                        waiter: members[member],
                        until,
                        state,
                        kind,
                        from,
                        whom: members[whom],
                        release,
                    });
                }
            }
        }
        self.waits.extend(found);
    }

    /// For each microsecond, returns the value of the rank's innermost state.
    fn innermost(&self, rank: usize) -> Vec<&str> {
        let states = &self.ranks[rank];
        let value = |micro: u64| {
            let mut latest = states.iter().rev();
            let state = latest.find(|state| state.start <= micro && state.end > micro);
            state.map_or("", |state| &state.value)
        };
        (self.begin..self.end).map(value).collect()
    }

    /// For each microsecond, returns the rank on the path, from the last to the first.
    pub(crate) fn path(&self) -> Vec<usize> {
        let exits = |rank: &usize| self.ranks[*rank].iter().any(|state| state.end == self.end);
        let waited = |rank: &usize| {
            self.waits.iter().filter(|wait| wait.waiter == *rank).map(|wait| wait.until).max()
        };
        let last = (0..self.ranks.len()).filter(exits).min_by_key(waited);
        let (Some(mut rank), mut path, mut release) = (last, Vec::new(), None) else {
            return Vec::new();
        };
        let mut used: Vec<Option<usize>> = vec![None; self.ranks.len()];
        let mut now = self.end;
        while now > self.begin {
            let fits = |at: &usize| {
                let wait = &self.waits[*at];
                let before = wait.until < now
                    || (wait.until == now && release.is_none_or(|state| wait.state < state));
                wait.waiter == rank && before && used[rank].is_none_or(|used| *at < used)
            };
            // The waits are sorted, so the last match is the latest.
            let next = (0..self.waits.len()).rev().find(fits);
            let until = next.map_or(self.begin, |at| self.waits[at].until).max(self.begin);
            path.extend((until..now).map(|_| rank));
            let Some(at) = next else { break };
            used[rank] = Some(at);
            now = until;
            (rank, release) = (self.waits[at].whom, self.waits[at].release);
        }
        path
    }

    pub(crate) fn by_activity(&self, path: &[usize]) -> BTreeMap<(String, usize), u64> {
        let innermost: Vec<_> = (0..self.ranks.len()).map(|rank| self.innermost(rank)).collect();
        let mut times = BTreeMap::new();
        for (rank, micro) in path.iter().rev().zip(0..) {
            let value: &str = innermost[*rank][micro];
            *times.entry((value.to_owned(), *rank)).or_default() += 1;
        }
        times
    }

    /// For each value, returns the microseconds that the path spends in it, and the microseconds
    /// that all ranks spend in it without waiting.
    pub(crate) fn activities(&self, path: &[usize]) -> BTreeMap<String, (u64, i64)> {
        let mut times: BTreeMap<String, (u64, i64)> = BTreeMap::new();
        for ((value, _), micros) in self.by_activity(path) {
            times.entry(value).or_default().0 += micros;
        }
        for rank in (0..self.ranks.len()).filter(|rank| !self.ranks[*rank].is_empty()) {
            let innermost = self.innermost(rank);
            for (value, (_, sum)) in &mut times {
                let all = innermost.iter().filter(|name| *name == value).count();
                let of = |wait: &&Wait| {
                    wait.waiter == rank && self.ranks[rank][wait.state].value == *value
                };
                let waits = self.waits.iter().filter(of);
                let waiting: u64 = waits.map(|wait| wait.until - wait.from).sum();
                *sum += (all as i64 - waiting as i64).max(0);
            }
        }
        times
    }
}

fn sizes(trace: &Trace) -> Vec<Option<f64>> {
    struct Sizes(Vec<Option<f64>>);
    impl paje_sim::Visitor for Sizes {
        type Error = std::convert::Infallible;

        fn links(
            &mut self,
            _: paje_sim::LaneView<'_>,
            links: paje_sim::Links<'_>,
        ) -> Result<(), Self::Error> {
            for i in 0..links.start.len() {
                let text = links.user_defined.of(i).next().map(|(_, text)| text.to_vec());
                let text = text.and_then(|text| String::from_utf8(text).ok());
                self.0.push(text.and_then(|text| text.parse().ok()));
            }
            Ok(())
        }
    }
    let mut sizes = Sizes(Vec::new());
    for lane in trace.lanes() {
        let Ok(()) = lane.visit(&mut sizes);
    }
    sizes.0
}
