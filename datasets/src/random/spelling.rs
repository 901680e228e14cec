//! Spelling of lines: white space, quotes, comments, line ends. None of it changes the meaning.

use crate::rng::Rng;

/// The handwriting of one trace, and the bytes written so far.
#[derive(Debug)]
pub(super) struct Paper {
    pub(super) bytes: Vec<u8>,
    /// Lines written so far.
    lines: u64,
    /// Chance, in percent, that a field without need is quoted.
    quotes: u64,
    /// Chance, in percent, of each decoration of a line.
    decoration: u64,
    /// Chance, in percent, of a blank or comment line before a line.
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

    /// Writes one line of fields and returns its 1-based number.
    pub(super) fn line(&mut self, fields: &[String], rng: &mut Rng) -> u64 {
        let words: Vec<String> = fields.iter().map(|field| self.quoted(field, rng)).collect();
        self.raw(&words.join("\u{0}"), rng)
    }

    /// Writes one line of a definition: `%`, glued or apart, then its words.
    pub(super) fn header(&mut self, words: &[&str], rng: &mut Rng) -> u64 {
        let glue = rng.pick(&["", "", "", "\u{0}", "\u{0}\u{0}"]);
        let mut all: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        for (index, word) in all.iter_mut().enumerate() {
            // Quotes are text in what is glued to the sign, and in bare words.
            if (index > 0 || !glue.is_empty()) && !word.contains('"') && self.quotes > 0 {
                *word = self.quoted(word, rng);
            }
        }
        self.raw(&format!("%{glue}{}", all.join("\u{0}")), rng)
    }

    /// Writes one line as it stands, NULs replaced by white space, decorated.
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

    /// A line that means nothing.
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

    /// Sometimes takes the last line end away.
    pub(super) fn finish(mut self, rng: &mut Rng) -> Vec<u8> {
        if rng.percent(15) && self.bytes.ends_with(b"\n") {
            self.bytes.pop();
        }
        self.bytes
    }

    fn quoted(&self, field: &str, rng: &mut Rng) -> String {
        // A comma needs no quotes, but a colour of several numbers has blanks.
        let needed = field.bytes().any(|byte| matches!(byte, b' ' | b'\t' | b'#'));
        if needed || rng.percent(self.quotes) { format!("\"{field}\"") } else { field.to_owned() }
    }
}
