//! A bar on standard error while a table is read: only if that is a terminal, and only without `--quiet`.

use indicatif::{ProgressBar, ProgressBarIter, ProgressDrawTarget, ProgressStyle};
use std::io::Read;

/// How far the reading of a table has come. Without colours.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Shows nothing if `quiet`, or if standard error is no terminal that could redraw a line.
    pub fn new(quiet: bool) -> Self {
        // On standard error it is hidden by itself where there is no such terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        // Cannot fail: the template is a constant.
        let style = ProgressStyle::with_template("reading {bytes} ({bytes_per_sec})").expect("a valid template");
        Self { bar: ProgressBar::with_draw_target(None, target).with_style(style) }
    }

    /// So many bytes will be read.
    pub fn expect(&self, bytes: u64) {
        self.bar.set_length(bytes);
        let template = "reading {wide_bar} {bytes} of {total_bytes} ({bytes_per_sec}), {eta} left";
        // Cannot fail: the template is a constant.
        self.bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
    }

    /// The same reader, whose bytes are counted.
    pub fn counting<R: Read>(&self, reader: R) -> ProgressBarIter<R> {
        self.bar.wrap_read(reader)
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
