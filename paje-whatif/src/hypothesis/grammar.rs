//! Parses hypotheses in a file. The language is that of SILAS (Hermanns, *Trace-based performance
//! simulation of large-scale applications*, Table 4.1):
//!
//! ```text
//! # Comments extend to the end of the line.
//! MODEL "Reenact"
//!   OPTION "idle overhead" 5e-06
//! BALANCE REGION "foo" OPTION "mode" "global instance"
//! SCALE REGION "bar" 0.5
//! CUT REGION "baz"
//! CUT MESSAGE SIZE == 0
//! ```
//!
//! Commas between hypotheses and between options are optional, as in the example of the thesis.

use super::{Balance, Hypothesis, Mode, Scale, States};

#[derive(Clone, Debug)]
struct Token {
    text: String,
    is_string: bool,
    line: usize,
    column: usize,
}

/// Parses a file. Returns the hypotheses, and the ignored options, which are specific to SILAS.
///
/// # Errors
/// Fails with the line, the column, and what was expected.
pub fn parse_file(text: &str) -> Result<(Vec<Hypothesis>, Vec<String>), String> {
    let mut parser =
        Parser { tokens: tokens(text)?, at: 0, last_line: text.lines().count().max(1) };
    let mut ignored = Vec::new();
    if parser.is_next("MODEL") {
        parser.at += 1;
        ignored.push(format!("MODEL {}", parser.string("the model's name")?));
        ignored.extend(parser.options()?.into_iter().map(|(key, _)| format!("OPTION {key}")));
    }
    let mut hypotheses = Vec::new();
    parser.at += usize::from(parser.is_next(","));
    while parser.at < parser.tokens.len() {
        hypotheses.push(parser.hypothesis(&mut ignored)?);
        if parser.is_next(",") {
            parser.at += 1;
        }
    }
    Ok((hypotheses, ignored))
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line.char_indices().zip(1..).peekable();
        while let Some(((at, letter), column)) = rest.next() {
            let line_number = number + 1;
            let mut token = |text: &str, is_string| {
                let text = text.to_owned();
                tokens.push(Token { text, is_string, line: line_number, column });
            };
            match letter {
                '#' => break,
                ',' => token(",", false),
                '"' => {
                    let from = at + 1;
                    let end = line[from..].find('"').map(|length| from + length);
                    let Some(end) = end else {
                        return Err(format!("{line_number}:{column}: this string is not closed"));
                    };
                    token(&line[from..end], true);
                    while rest.next_if(|((place, _), _)| *place <= end).is_some() {}
                }
                _ if letter.is_whitespace() => {}
                _ => {
                    let is_sign = |letter: char| "=!<>".contains(letter);
                    let ends = |other: char| {
                        other.is_whitespace()
                            || "#,\"".contains(other)
                            || is_sign(other) != is_sign(letter)
                    };
                    let end = line[at..].find(ends).map_or(line.len(), |length| at + length);
                    token(&line[at..end], false);
                    while rest.next_if(|((place, _), _)| *place < end).is_some() {}
                }
            }
        }
    }
    Ok(tokens)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    last_line: usize,
}

impl Parser {
    fn is_next(&self, word: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|token| !token.is_string && token.text == word)
    }

    fn wrong(&self, expected: &str) -> String {
        match self.tokens.get(self.at) {
            Some(token) => {
                let (line, column) = (token.line, token.column);
                format!("{line}:{column}: expected {expected}, not `{}`", token.text)
            }
            None => format!("{}:1: expected {expected}, but the file ends", self.last_line),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        if !self.is_next(word) {
            return Err(self.wrong(word));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self, what: &str) -> Result<String, String> {
        let token = self.tokens.get(self.at).filter(|token| token.is_string);
        let text = token.map(|token| token.text.clone());
        let text = text.ok_or_else(|| self.wrong(&format!("{what} in quotes")))?;
        self.at += 1;
        Ok(text)
    }

    fn number(&mut self, least: f64) -> Result<f64, String> {
        let token = self.tokens.get(self.at).filter(|token| !token.is_string);
        let number = token.and_then(|token| token.text.parse::<f64>().ok());
        let number = number.filter(|number| number.is_finite() && *number >= least);
        let number = number.ok_or_else(|| self.wrong(&format!("a number of {least} or more")))?;
        self.at += 1;
        Ok(number)
    }

    fn options(&mut self) -> Result<Vec<(String, String)>, String> {
        let mut options = Vec::new();
        loop {
            let is_comma = self.is_next(",");
            let next = self.tokens.get(self.at + usize::from(is_comma));
            if !next.is_some_and(|token| !token.is_string && token.text == "OPTION") {
                return Ok(options);
            }
            self.at += usize::from(is_comma) + 1;
            let key = self.string("the option's name")?;
            let value = self.tokens.get(self.at).filter(|token| {
                token.is_string
                    || matches!(token.text.as_str(), "TRUE" | "FALSE")
                    || token.text.parse::<f64>().is_ok()
            });
            let value = value.map(|token| token.text.clone());
            let value = value.ok_or_else(|| self.wrong("a string, a number, TRUE or FALSE"))?;
            self.at += 1;
            options.push((key, value));
        }
    }

    fn region(&mut self) -> Result<States, String> {
        self.word("REGION")?;
        let at = self.at;
        let name = self.string("the region's name")?;
        let state = name.parse();
        let state = state.map_err(|error| {
            let (line, column) = (self.tokens[at].line, self.tokens[at].column);
            format!("{line}:{column}: {error}")
        })?;
        Ok(States { state, container: None })
    }

    fn hypothesis(&mut self, ignored: &mut Vec<String>) -> Result<Hypothesis, String> {
        if self.is_next("BALANCE") {
            self.at += 1;
            let states = self.region()?;
            let mut mode = Mode::GlobalInstance;
            let at = self.at;
            for (key, value) in self.options()? {
                if key == "mode" {
                    mode = Mode::parse(&value).map_err(|error| {
                        format!("{}:{}: {error}", self.tokens[at].line, self.tokens[at].column)
                    })?;
                } else {
                    ignored.push(format!("OPTION {key}"));
                }
            }
            return Ok(Hypothesis::Balance(Balance { states, mode }));
        }
        if self.is_next("SCALE") {
            self.at += 1;
            let states = self.region()?;
            let factor = self.number(0.0)?;
            return Ok(Hypothesis::Scale(Scale { states, factor, min_gap: 0.0 }));
        }
        if !self.is_next("CUT") {
            return Err(self.wrong("BALANCE, SCALE or CUT"));
        }
        self.at += 1;
        let hypothesis = if self.is_next("MESSAGE") {
            self.at += 1;
            Hypothesis::CutMessages(self.message()?)
        } else {
            Hypothesis::Cut(self.region()?)
        };
        ignored.extend(self.options()?.into_iter().map(|(key, _)| format!("OPTION {key}")));
        Ok(hypothesis)
    }

    fn message(&mut self) -> Result<super::Condition, String> {
        let field = ["SIZE", "TAG"].into_iter().find(|field| self.is_next(field));
        let field = field.ok_or_else(|| self.wrong("SIZE or TAG"))?;
        self.at += 1;
        let signs = ["==", "!=", "<=", ">=", "<", ">"];
        let sign = signs.into_iter().find(|sign| self.is_next(sign));
        let sign = sign.ok_or_else(|| self.wrong("one of ==, !=, <, <=, >, >="))?;
        self.at += 1;
        let number = self.number(0.0)?;
        format!("{field} {sign} {number}").parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_thesis_is_parsed() {
        let text = "# Example configuration for SILAS\nMODEL \"Reenact\"\n  OPTION \"idle overhead\" 5e-06\n\
                    BALANCE REGION \"foo\"\nSCALE REGION \"bar\" 0.5\nCUT MESSAGE SIZE == 0\n";
        let (hypotheses, ignored) = parse_file(text).expect("the grammar");
        assert_eq!(ignored, ["MODEL Reenact", "OPTION idle overhead"]);
        let [Hypothesis::Balance(balance), Hypothesis::Scale(scale), Hypothesis::CutMessages(_)] =
            &hypotheses[..]
        else {
            panic!("{hypotheses:?}")
        };
        assert_eq!((balance.mode, balance.states.state.as_str()), (Mode::GlobalInstance, "foo"));
        assert_eq!((scale.factor, scale.states.state.as_str()), (0.5, "bar"));
    }

    #[test]
    fn commas_are_optional_and_modes_are_known() {
        let text = "MODEL \"m\" OPTION \"a\" TRUE, OPTION \"b\" \"c\", BALANCE REGION \"x\" OPTION \"mode\" \"global\" ,\n\
                    CUT REGION \"y\"";
        let (hypotheses, ignored) = parse_file(text).expect("the grammar");
        assert_eq!((hypotheses.len(), ignored.len()), (2, 3));
    }

    #[test]
    fn errors_have_line_and_column() {
        let wrong = |text: &str| parse_file(text).expect_err("wrong");
        assert_eq!(
            wrong("SCALE REGION \"x\" -1"),
            "1:18: expected a number of 0 or more, not `-1`"
        );
        assert_eq!(wrong("\nSCALE \"x\" 1"), "2:7: expected REGION, not `x`");
        assert_eq!(wrong("CUT MESSAGE FROM == 1"), "1:13: expected SIZE or TAG, not `FROM`");
        assert_eq!(wrong("DROP"), "1:1: expected BALANCE, SCALE or CUT, not `DROP`");
        assert_eq!(wrong("CUT REGION \"x"), "1:12: this string is not closed");
        assert!(wrong("BALANCE REGION \"x\" OPTION \"mode\" \"locale\"").contains("process-local"));
    }

    #[test]
    fn long_lines_take_linear_time() {
        let options = "OPTION \"é\" 1,".repeat(1_000_000);
        let error = parse_file(&format!("MODEL \"m\" {options} DROP")).expect_err("wrong");
        assert!(error.starts_with("1:13000012: expected BALANCE"), "{error}");
    }
}
