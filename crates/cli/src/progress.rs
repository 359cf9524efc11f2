//! A bar on standard error while a table is read: only if that is a terminal, and only without `--quiet`.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, BufRead, IsTerminal, Read};

/// How far the reading of a table has come. Without colours.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Shows nothing if `quiet`, or if standard error is no terminal that could redraw a line.
    pub fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let bar = if quiet || dumb || !io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            // Cannot fail: the template is a constant.
            let style = ProgressStyle::with_template("reading {bytes} ({bytes_per_sec})").expect("a valid template");
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        };
        Self { bar }
    }

    /// So many bytes will be read.
    pub fn expect(&self, bytes: u64) {
        self.bar.set_length(bytes);
        let template = "reading {wide_bar} {bytes} of {total_bytes} ({bytes_per_sec}), {eta} left";
        // Cannot fail: the template is a constant.
        self.bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
    }

    /// The same reader, whose bytes are counted.
    pub fn counting<R>(&self, reader: R) -> Counting<R> {
        Counting { reader, bar: self.bar.clone() }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A reader that tells a bar how far it is.
pub struct Counting<R> {
    reader: R,
    bar: ProgressBar,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counting<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, read: usize) {
        self.bar.inc(read as u64);
        self.reader.consume(read);
    }
}
