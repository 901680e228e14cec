//! Lines that do what others of their steps did, as most do: nothing else is asked of them.

use super::lanes::{NO_LINE, Opener};
use super::links::Begun;
use super::{Look, What};
use crate::rows::StateRow;
use crate::texts::hash;

impl Look<'_> {
    /// Goes on with lines that are as usual, from one on; the number of the first that is not, or of all.
    pub(super) fn run(&mut self, from: u32) -> u32 {
        let Look { text, trail, deeds, lanes, clock, ends, begun, by_key, .. } = self;
        let (lanes, keys) = (&mut lanes.all[..], &trail.keys[..]);
        let mut recorder = self.recorder.as_deref_mut();
        let Some((in_second, exact)) = clock.exact() else { return from };
        let mut last = clock.last();
        let (mut line, mut latest, mut key) = (from, None, self.key as usize);
        for noted in &trail.lines[from as usize..] {
            let Some(deed) = deeds.get(noted.step()) else { break };
            let units = noted.units;
            if noted.is_marked() && Look::is_odd(*noted, deed.what) || units as u64 >= exact {
                break;
            }
            let time = units as f64 / in_second;
            let mut opener = Opener::Unneeded;
            match deed.what {
                What::Unknown => break,
                What::Nothing => {}
                What::Start | What::End => {
                    while keys.get(key).is_some_and(|key| key.line < line) {
                        key += 1;
                    }
                    let Some(noted) = keys.get(key) else { break };
                    let known = &ends[deed.cell as usize];
                    if noted.line != line || text[noted.value()] != *known.value || *by_key {
                        break;
                    }
                    if deed.what == What::Start {
                        if noted.link as usize != begun.len() {
                            break;
                        }
                        let (lane, end, bare) = (deed.lane, known.end, known.bare);
                        let key = key as u32;
                        let is_sample = false;
                        begun.push(Begun { lane, end, bare, time, line, key, is_sample });
                        opener = Opener::Lacking;
                    } else {
                        let Some(start) = begun.get_mut(noted.link as usize) else { break };
                        let is_same = start.lane == deed.lane && start.bare == known.bare;
                        if !is_same || start.line == NO_LINE || start.is_sample {
                            break;
                        }
                        if let Some(recorder) = &mut recorder {
                            let ends = ((start.end, start.time), (known.end, time));
                            recorder.link(ends, deed.lane, hash(&text[noted.place()]));
                        }
                        opener = Opener::Line(std::mem::replace(&mut start.line, NO_LINE));
                    }
                    let lane = &mut lanes[deed.lane as usize];
                    if time > lane.last {
                        lane.last = time;
                    }
                }
                what => {
                    let lane = &mut lanes[deed.lane as usize];
                    if time < lane.last {
                        break;
                    }
                    match what {
                        What::Push => lane.push(time, deed.cell, line),
                        What::Pop => {
                            let Some(open) = lane.open.pop() else { break };
                            if let Some(recorder) = &mut recorder {
                                let outer = lane.open.last().map_or(lane.around, |open| open.cell);
                                let (cell, start) = (open.cell, open.start);
                                recorder.state(StateRow { cell, around: outer, start, end: time });
                            }
                            opener = Opener::Line(open.line);
                        }
                        What::Set | What::Reset => {
                            lane.reset(time, line, recorder.as_deref_mut());
                            if what == What::Set {
                                lane.push(time, deed.cell, line);
                            }
                        }
                        What::SetVariable => lane.set(line),
                        What::AddToVariable => opener = lane.add(line),
                        _ => {}
                    }
                    lane.last = time;
                }
            }
            if units >= last {
                last = units;
                latest = Some((line, opener));
            } else {
                clock.go_on(last);
                if clock.is_last_still(units) {
                    latest = Some((line, opener));
                }
            }
            line += 1;
        }
        self.key = key as u32;
        clock.go_on(last);
        if let Some((line, opener)) = latest {
            (self.latest, self.latest_opener) = (Some(line), opener);
        }
        line
    }
}
