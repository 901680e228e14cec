//! Messages on their way in a changed run.

/// Facts about messages on their way: by how much later each is sent, and arrives.
#[derive(Debug)]
pub(super) struct InFlight {
    /// By message, what is known of it; kept apart since that is asked for most.
    known: Vec<u8>,
    /// By message, shifts in seconds: of its start, and of its arrival. While it is not sent, of its receiver being ready
    /// instead of the second.
    shifts: Vec<(f64, f64)>,
}

/// The message is sent.
const SENT: u8 = 1;
/// Its receiver is ready.
const POSTED: u8 = 2;
/// It has arrived.
const ARRIVED: u8 = 4;
/// It is cut.
const CUT: u8 = 8;
/// Nothing waits for it, since its recorded times contradict themselves.
const DROPPED: u8 = 16;

impl InFlight {
    pub(super) fn new(messages: usize) -> Self {
        InFlight { known: vec![0; messages], shifts: vec![(0.0, 0.0); messages] }
    }

    /// The message is never on its way.
    pub(super) fn cut(&mut self, message: u32) {
        self.known[message as usize] |= CUT;
    }

    /// Nothing waits for the message any more.
    pub(super) fn drop(&mut self, message: u32) {
        self.known[message as usize] |= DROPPED;
    }

    /// True if nothing has to wait for it any longer.
    pub(super) fn is_ready(&self, message: u32) -> bool {
        self.known[message as usize] & (ARRIVED | CUT | DROPPED) != 0
    }

    pub(super) fn is_sent(&self, message: u32) -> bool {
        self.known[message as usize] & SENT != 0
    }

    /// The shift of its arrival, if something waits for that.
    pub(super) fn arrived(&self, message: u32) -> Option<f64> {
        let known = self.known[message as usize];
        (known & (ARRIVED | CUT | DROPPED) == ARRIVED).then(|| self.shifts[message as usize].1)
    }

    /// The receiver is ready; gives back both shifts if the message was sent before.
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

    /// The message is sent; gives back that shift if nothing is missing, and that of the receiver if that was ready before.
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

    /// By message, the shift of its start; not a number if it is not sent.
    pub(super) fn into_sent(self) -> Vec<f64> {
        let all = self.known.iter().zip(&self.shifts);
        let sent = |(known, shifts): (&u8, &(f64, f64))| {
            if known & SENT == 0 { f64::NAN } else { shifts.0 }
        };
        all.map(sent).collect()
    }
}
