//! Lines of text, checked, and the simplest input: one number a line.

use super::{Place, Row, Source, unreadable};
use crate::failure::Failure;
use std::io::{BufRead, Read};

/// Longest line accepted, in bytes, unless more is asked for.
const LONGEST: usize = 1 << 20;

const TEXT_WANTED: &str = "save the data as plain UTF-8 text with LF line ends; unpack it first if it is compressed";

/// The lines of a text, each checked by the rules of the parent module.
pub struct Lines {
    text: Box<dyn BufRead>,
    source: Source,
    bytes: Vec<u8>,
    number: u64,
    blank: Option<u64>,
    longest: usize,
}

impl Lines {
    pub fn new(text: Box<dyn BufRead>, source: Source) -> Self {
        Self { text, source, bytes: Vec::new(), number: 0, blank: None, longest: LONGEST }
    }

    /// The same, with lines up to so many bytes: a whole number of MiB.
    pub fn up_to(self, longest: usize) -> Self {
        Self { longest, ..self }
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Number of the line returned last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end, or `None` after the last. It holds no line end, CR or NUL and is not blank.
    pub fn next(&mut self) -> Result<Option<&str>, Failure> {
        while self.fetch()? {
            if self.bytes.iter().all(|byte| b" \t".contains(byte)) {
                self.blank.get_or_insert(self.number);
            } else if let Some(blank) = self.blank {
                return Err(Failure::input(
                    format_args!("line {blank} is blank, and data follow it"),
                    "remove the line, or write the value that is missing",
                ));
            } else {
                return match std::str::from_utf8(&self.bytes) {
                    Ok(line) => Ok(Some(line)),
                    Err(_) => Err(not_text(self.number)),
                };
            }
        }
        Ok(None)
    }

    /// Reads one line into `bytes`, without its end; false after the last.
    fn fetch(&mut self) -> Result<bool, Failure> {
        self.bytes.clear();
        // Room for the longest line and its end, and no more: a line may never end.
        let mut bounded = (&mut self.text).take(self.longest as u64 + 2);
        let read = bounded.read_until(b'\n', &mut self.bytes);
        if read.map_err(|error| unreadable(&self.source, &error))? == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.bytes.ends_with(b"\n") {
            self.bytes.pop();
            if self.bytes.ends_with(b"\r") {
                self.bytes.pop();
            }
        }
        if self.number == 1 && self.bytes.starts_with("\u{feff}".as_bytes()) {
            self.bytes.drain(.."\u{feff}".len());
        }
        if self.number == 1 && (self.bytes.starts_with(b"\xff\xfe") || self.bytes.starts_with(b"\xfe\xff")) {
            return Err(malformed(1, "starts as UTF-16 does"));
        }
        if self.bytes.contains(&0) {
            return Err(malformed(self.number, "holds a NUL byte"));
        }
        if self.bytes.contains(&b'\r') {
            return Err(malformed(self.number, "holds a carriage return without a line feed"));
        }
        if self.bytes.len() > self.longest {
            return Err(malformed(self.number, &format!("is longer than {} MiB", self.longest >> 20)));
        }
        Ok(true)
    }
}

/// Of a line that is no UTF-8.
pub fn not_text(line: u64) -> Failure {
    malformed(line, "is not valid UTF-8")
}

fn malformed(line: u64, fault: &str) -> Failure {
    Failure::input(format_args!("line {line} {fault}"), TEXT_WANTED)
}

/// Every line as a number, without a header.
pub fn numbers(mut lines: Lines) -> impl Iterator<Item = Result<Row, Failure>> {
    std::iter::from_fn(move || {
        let cell = match lines.next() {
            Ok(line) => line?.to_owned(),
            Err(failure) => return Some(Err(failure)),
        };
        Some(Ok(Row { place: Place::Line(lines.number()), label: None, cell, whole_up_to: None }))
    })
}
