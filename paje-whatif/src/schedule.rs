//! Schedules of collectives, which consist of the messages with which MPI libraries carry them out.

use crate::settings::Shape;
use paje_comm::classes::Collective;

/// Messages of an operation, and what each member does with them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Sending and receiving member of each message.
    pub(crate) messages: Vec<(u32, u32)>,
    /// Size of each message as a part of the largest one. Empty if all messages have one size.
    sizes: Vec<f64>,
    /// Phases of each member, in order.
    pub(crate) programs: Vec<Vec<Phase>>,
}

/// Messages that a member begins together and waits for together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phase {
    pub(crate) sends: Vec<u32>,
    pub(crate) receives: Vec<u32>,
}

/// Largest group in which every member may send to every other member.
const LARGEST_DIRECT: u32 = 64;

/// Returns the shapes that fit a collective, the simplest one first.
pub(crate) fn candidates(class: Collective, members: u32) -> Vec<Shape> {
    let mut all = match class {
        Collective::NxN => vec![
            Shape::NxN,
            Shape::ReduceBcast,
            Shape::Flat,
            Shape::ReduceScatter,
            Shape::Doubling,
            Shape::Bruck,
            Shape::Ring,
            Shape::Direct,
            Shape::Pairwise,
        ],
        Collective::Barrier => {
            vec![Shape::NxN, Shape::Flat, Shape::ReduceBcast, Shape::Dissemination]
        }
        Collective::OneToN => vec![Shape::OneToN, Shape::Binomial, Shape::Flat],
        Collective::NToOne => vec![Shape::NToOne, Shape::Flat, Shape::Binomial],
        Collective::Scan => vec![Shape::Scan, Shape::Ring, Shape::Direct],
    };
    all.retain(|shape| match shape {
        Shape::Doubling => members.is_power_of_two(),
        _ => !shape.is_quadratic() || members <= LARGEST_DIRECT,
    });
    all
}

/// Returns how many of the blocks for other members make a step.
fn blocks(members: u32, step: u32) -> u32 {
    (1..members).filter(|distance| distance & step != 0).count() as u32
}

impl Shape {
    /// Returns whether the messages of an operation have several sizes.
    pub(crate) const fn has_sizes(self) -> bool {
        matches!(self, Shape::ReduceScatter | Shape::Bruck)
    }

    /// Returns the size of the largest message as a multiple of the size of a block.
    pub(crate) fn blocks(self, members: u32) -> f64 {
        let first = if self == Shape::Bruck { blocks(members, 1) } else { 1 };
        f64::from(first)
    }
}

impl Schedule {
    /// Returns the cost of a message, given that of the largest message.
    pub(crate) fn cost(&self, message: u32, (latency, work): (f64, f64)) -> (f64, f64) {
        (latency, work * self.sizes.get(message as usize).copied().unwrap_or(1.0))
    }

    /// Returns the schedule of a shape for this number of members.
    pub(crate) fn new(shape: Shape, class: Collective, members: u32, root: u32) -> Self {
        let programs = vec![Vec::new(); members as usize];
        let mut schedule = Schedule { programs, ..Schedule::default() };
        match shape {
            Shape::NxN => {
                schedule.gather(members, root);
                schedule.scatter(members, root);
            }
            Shape::ReduceBcast => {
                schedule.gather(members, root);
                schedule.tree_down(members, root);
            }
            Shape::ReduceScatter => {
                schedule.gather(members, root);
                schedule.sizes.resize(schedule.messages.len(), 1.0);
                schedule.scatter(members, root);
                schedule.sizes.resize(schedule.messages.len(), 1.0 / f64::from(members));
            }
            Shape::OneToN => schedule.scatter(members, root),
            Shape::NToOne => schedule.gather(members, root),
            Shape::Flat => {
                if class != Collective::OneToN {
                    schedule.gather(members, root);
                }
                if class != Collective::NToOne {
                    schedule.scatter(members, root);
                }
            }
            Shape::Binomial if class == Collective::NToOne => schedule.tree_up(members, root),
            Shape::Binomial => schedule.tree_down(members, root),
            Shape::Doubling => {
                let steps = (0..32).map(|bit| 1 << bit).take_while(|step| *step < members);
                steps.for_each(|step| schedule.round(members, |member| member ^ step));
            }
            Shape::Dissemination => {
                let steps = (0..32).map(|bit| 1 << bit).take_while(|step| *step < members);
                steps.for_each(|step| schedule.round(members, |m| (m + step) % members));
            }
            Shape::Bruck => {
                for step in (0..32).map(|bit| 1 << bit).take_while(|step| *step < members) {
                    let size = f64::from(blocks(members, step)) / shape.blocks(members);
                    schedule.round(members, |m| (m + step) % members);
                    schedule.sizes.resize(schedule.messages.len(), size);
                }
            }
            Shape::Pairwise => {
                (1..members).for_each(|step| schedule.round(members, |m| (m + step) % members));
            }
            Shape::Ring if class != Collective::Scan => {
                (1..members).for_each(|_| schedule.round(members, |m| (m + 1) % members));
            }
            Shape::Direct => {
                for program in &mut schedule.programs {
                    program.push(Phase::default());
                }
                for from in 0..members {
                    let others = (1..members).map(|step| (from + step) % members);
                    for to in others.filter(|to| class != Collective::Scan || *to > from) {
                        schedule.together(from, to);
                    }
                }
            }
            Shape::Scan | Shape::Ring => (1..members).for_each(|to| {
                let message = schedule.message(to - 1, to);
                schedule.phase(to).receives.push(message);
                schedule.phase(to - 1).sends.push(message);
            }),
            Shape::Local => {}
        }
        schedule
    }

    fn message(&mut self, from: u32, to: u32) -> u32 {
        self.messages.push((from, to));
        self.messages.len() as u32 - 1
    }

    /// Begins a phase of a member.
    fn phase(&mut self, member: u32) -> &mut Phase {
        let program = &mut self.programs[member as usize];
        program.push(Phase::default());
        let last = program.len() - 1;
        &mut program[last]
    }

    /// Adds a message to the last phase of both members.
    fn together(&mut self, from: u32, to: u32) {
        let message = self.message(from, to);
        if let Some(phase) = self.programs[from as usize].last_mut() {
            phase.sends.push(message);
        }
        if let Some(phase) = self.programs[to as usize].last_mut() {
            phase.receives.push(message);
        }
    }

    /// Lets each member send to one member and receive from another member.
    fn round(&mut self, members: u32, to: impl Fn(u32) -> u32) {
        self.programs.iter_mut().for_each(|program| program.push(Phase::default()));
        (0..members).for_each(|from| self.together(from, to(from)));
    }

    /// Lets the root receive from all others at once.
    fn gather(&mut self, members: u32, root: u32) {
        self.phase(root);
        for from in (0..members).filter(|member| *member != root) {
            self.phase(from);
            self.together(from, root);
        }
    }

    /// Lets the root send to all others at once.
    fn scatter(&mut self, members: u32, root: u32) {
        self.phase(root);
        for to in (0..members).filter(|member| *member != root) {
            self.phase(to);
            self.together(root, to);
        }
    }

    /// Lets each member receive from its parent in a binomial tree, then send to its children. The
    /// child with the largest distance comes first.
    fn tree_down(&mut self, members: u32, root: u32) {
        let mut edges = vec![Vec::new(); members as usize];
        for member in 1..members {
            edges[(member & (member - 1)) as usize].push(member);
        }
        let actual = |member: u32| (member + root) % members;
        for parent in 0..members {
            for child in edges[parent as usize].iter().rev() {
                let message = self.message(actual(parent), actual(*child));
                self.phase(actual(*child)).receives.push(message);
            }
        }
        // Parents come before their children, so all receives have already been added.
        for (parent, children) in edges.iter().enumerate() {
            for child in children.iter().rev() {
                let (from, to) = (actual(parent as u32), actual(*child));
                let found = self.messages.iter().rposition(|ends| *ends == (from, to));
                if let Some(message) = found {
                    self.phase(from).sends.push(message as u32);
                }
            }
        }
    }

    /// Lets each member receive from its children in a binomial tree, then send to its parent.
    fn tree_up(&mut self, members: u32, root: u32) {
        let mut down = Schedule { programs: vec![Vec::new(); members as usize], ..Self::default() };
        down.tree_down(members, root);
        self.messages = down.messages.into_iter().map(|(from, to)| (to, from)).collect();
        for (program, reversed) in self.programs.iter_mut().zip(down.programs) {
            let turned = |phase: Phase| Phase { sends: phase.receives, receives: phase.sends };
            program.extend(reversed.into_iter().rev().map(turned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: [Collective; 5] = [
        Collective::NxN,
        Collective::Barrier,
        Collective::OneToN,
        Collective::NToOne,
        Collective::Scan,
    ];

    #[test]
    fn every_message_is_sent_and_received_once() {
        for class in CLASSES {
            for members in 2..20 {
                for shape in candidates(class, members) {
                    for root in [0, members - 1] {
                        let schedule = Schedule::new(shape, class, members, root);
                        let mut seen = vec![(0, 0); schedule.messages.len()];
                        for (member, program) in (0..).zip(&schedule.programs) {
                            for phase in program {
                                for it in &phase.sends {
                                    assert_eq!(schedule.messages[*it as usize].0, member);
                                    seen[*it as usize].0 += 1;
                                }
                                for it in &phase.receives {
                                    assert_eq!(schedule.messages[*it as usize].1, member);
                                    seen[*it as usize].1 += 1;
                                }
                            }
                        }
                        assert!(seen.iter().all(|it| *it == (1, 1)), "{shape:?} {members} {root}");
                    }
                }
            }
        }
    }

    #[test]
    fn parents_form_a_binomial_tree() {
        let schedule = Schedule::new(Shape::Binomial, Collective::OneToN, 8, 0);
        let mut parents = vec![None; 8];
        schedule.messages.iter().for_each(|(from, to)| parents[*to as usize] = Some(*from));
        let expected = [None, Some(0), Some(0), Some(2), Some(0), Some(4), Some(4), Some(6)];
        assert_eq!(parents, expected);
    }
}
