//! Messages in flight during re-timing.

#[derive(Debug)]
pub(super) struct InFlight {
    /// Flags of each message. They are separate from the shifts for locality.
    known: Vec<u8>,
    /// Shifts of the start and of the arrival of each message, in seconds. Before the message is
    /// sent, the second one is the shift of the time when the receiver is ready.
    shifts: Vec<(f64, f64)>,
}

const SENT: u8 = 1;
const POSTED: u8 = 2;
const ARRIVED: u8 = 4;
const CUT: u8 = 8;
/// Nothing waits for the message, because its recorded times contradict themselves.
const DROPPED: u8 = 16;

impl InFlight {
    pub(super) fn new(messages: usize) -> Self {
        InFlight { known: vec![0; messages], shifts: vec![(0.0, 0.0); messages] }
    }

    pub(super) fn cut(&mut self, message: u32) {
        self.known[message as usize] |= CUT;
    }

    pub(super) fn drop(&mut self, message: u32) {
        self.known[message as usize] |= DROPPED;
    }

    /// Returns whether no container has to wait for the message any longer.
    pub(super) fn is_ready(&self, message: u32) -> bool {
        self.known[message as usize] & (ARRIVED | CUT | DROPPED) != 0
    }

    pub(super) fn is_sent(&self, message: u32) -> bool {
        self.known[message as usize] & SENT != 0
    }

    /// Returns the shift of its arrival, if anything waits for it.
    pub(super) fn arrived(&self, message: u32) -> Option<f64> {
        let known = self.known[message as usize];
        (known & (ARRIVED | CUT | DROPPED) == ARRIVED).then(|| self.shifts[message as usize].1)
    }

    /// Records that the receiver is ready. If the message has already been sent, returns both
    /// shifts.
    pub(super) fn post(&mut self, message: u32, shift: f64) -> Option<(f64, f64)> {
        let known = &mut self.known[message as usize];
        let shifts = &mut self.shifts[message as usize];
        *known |= POSTED;
        if *known & SENT == 0 {
            shifts.1 = shift;
            return None;
        }
        let is_late = *known & (ARRIVED | CUT) == 0;
        is_late.then_some((shifts.0, shift))
    }

    /// Records that the message was sent. If the transfer can start, returns the shifts of sender
    /// and receiver.
    pub(super) fn send(
        &mut self,
        message: u32,
        shift: f64,
        waits_for_post: bool,
    ) -> Option<(f64, Option<f64>)> {
        let known = &mut self.known[message as usize];
        let shifts = &mut self.shifts[message as usize];
        *known |= SENT;
        shifts.0 = shift;
        let posted = (*known & POSTED != 0).then_some(shifts.1);
        let is_known = posted.is_some() || !waits_for_post;
        (is_known && *known & (ARRIVED | CUT) == 0).then_some((shift, posted))
    }

    pub(super) fn arrive(&mut self, message: u32, shift: f64) {
        self.known[message as usize] |= ARRIVED;
        self.shifts[message as usize].1 = shift;
    }

    pub(super) fn into_sent(self) -> Vec<f64> {
        let all = self.known.iter().zip(&self.shifts);
        let sent = |(known, shifts): (&u8, &(f64, f64))| {
            if known & SENT == 0 { f64::NAN } else { shifts.0 }
        };
        all.map(sent).collect()
    }
}
