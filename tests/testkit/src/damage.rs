//! Damages traces as crashes, bad disks and faulty writers do.

use crate::Rng;

/// Removes, repeats, moves and mixes lines, and changes bytes.
pub fn damage(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=rng.index(8) {
        if lines.is_empty() {
            break;
        }
        let (at, other) = (rng.index(lines.len()), rng.index(lines.len()));
        match rng.index(7) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            3 | 4 => {
                let words = |line: &[u8]| -> Vec<Vec<u8>> {
                    line.split(|byte| byte.is_ascii_whitespace()).map(<[u8]>::to_vec).collect()
                };
                let (mut mixed, others) = (words(&lines[at]), words(&lines[other]));
                let (from, to) = (rng.index(others.len()), rng.index(mixed.len()));
                mixed[to] = others[from].clone();
                lines[at] = mixed.join(&b' ');
                lines[at].push(b'\n');
            }
            5 => {
                let place = rng.index(lines[at].len());
                lines[at][place] = b"0123456789 #\"%\nxyz-."[rng.index(20)];
            }
            _ => {
                let many = rng.index(6).min(lines.len() - at);
                drop(lines.drain(at..at + many));
            }
        }
    }
    let mut all = lines.concat();
    if rng.index(4) == 0 {
        all.truncate(rng.index(all.len()));
    }
    all
}
