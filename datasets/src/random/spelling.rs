//! Adds random white space, quotes, comments and line ends, which do not change the meaning of
//! lines.

use crate::rng::Rng;

#[derive(Debug)]
pub(super) struct Paper {
    pub(super) bytes: Vec<u8>,
    lines: u64,
    /// Probability, in percent, of unnecessary quotes around a word.
    quotes: u64,
    /// Probability, in percent, of each kind of decoration of a line.
    decoration: u64,
    /// Probability, in percent, of a blank or comment line before a line.
    interludes: u64,
    separators: &'static [&'static str],
    crlf: u64,
}

impl Paper {
    pub(super) fn random(rng: &mut Rng) -> Self {
        Self {
            bytes: Vec::new(),
            lines: 0,
            quotes: rng.pick(&[0, 0, 20, 50, 100]),
            decoration: rng.pick(&[0, 0, 5, 30]),
            interludes: rng.pick(&[0, 0, 3, 20]),
            separators: rng.pick(&[
                &[" "] as &[&str],
                &["\t"],
                &[" ", "  ", "\t", " \t ", "     "],
                &[" ", "\x0b", "\x0c"],
            ]),
            crlf: rng.pick(&[0, 0, 0, 0, 100, 10]),
        }
    }

    /// Writes a line of fields and returns its number, counted from 1.
    pub(super) fn line(&mut self, fields: &[String], rng: &mut Rng) -> u64 {
        let words: Vec<String> = fields.iter().map(|field| self.quoted(field, rng)).collect();
        self.raw(&words.join("\u{0}"), rng)
    }

    /// Writes a line of a definition: `%`, perhaps blanks, and the words.
    pub(super) fn header(&mut self, words: &[&str], rng: &mut Rng) -> u64 {
        let glue = rng.pick(&["", "", "", "\u{0}", "\u{0}\u{0}"]);
        let mut all: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        for (index, word) in all.iter_mut().enumerate() {
            // In unquoted words and directly after the percent sign, a quote is an ordinary
            // character.
            if (index > 0 || !glue.is_empty()) && !word.contains('"') && self.quotes > 0 {
                *word = self.quoted(word, rng);
            }
        }
        self.raw(&format!("%{glue}{}", all.join("\u{0}")), rng)
    }

    /// Writes a decorated line, in which white space replaces NULs.
    fn raw(&mut self, text: &str, rng: &mut Rng) -> u64 {
        while rng.percent(self.interludes) {
            self.interlude(rng);
        }
        if rng.percent(self.decoration) {
            self.blank(rng);
        }
        for byte in text.bytes() {
            if byte == 0 {
                self.blank(rng);
            } else {
                self.bytes.push(byte);
            }
        }
        if rng.percent(self.decoration) {
            self.blank(rng);
        }
        if rng.percent(self.decoration) {
            let comment = rng.pick(&[
                " # a comment",
                "\t#",
                " #12 3 \"",
                "#glued to the field before it, 13 2",
            ]);
            self.bytes.extend_from_slice(comment.as_bytes());
        }
        self.end(rng);
        self.lines
    }

    fn interlude(&mut self, rng: &mut Rng) {
        let text = rng.pick(&[
            "",
            "",
            "#",
            "# comment \"with a quote",
            "   ",
            "\t\t",
            "  # 12 3 4",
            "#%EventDef PajeSetState 1",
        ]);
        self.bytes.extend_from_slice(text.as_bytes());
        self.end(rng);
    }

    fn end(&mut self, rng: &mut Rng) {
        if rng.percent(self.crlf) {
            self.bytes.push(b'\r');
        }
        self.bytes.push(b'\n');
        self.lines += 1;
    }

    fn blank(&mut self, rng: &mut Rng) {
        self.bytes.extend_from_slice(rng.pick(self.separators).as_bytes());
    }

    pub(super) fn finish(mut self, rng: &mut Rng) -> Vec<u8> {
        if rng.percent(15) && self.bytes.ends_with(b"\n") {
            self.bytes.pop();
        }
        self.bytes
    }

    fn quoted(&self, field: &str, rng: &mut Rng) -> String {
        // A colour of several numbers contains blanks.
        let needed = field.bytes().any(|byte| matches!(byte, b' ' | b'\t' | b'#'));
        if needed || rng.percent(self.quotes) { format!("\"{field}\"") } else { field.to_owned() }
    }
}
