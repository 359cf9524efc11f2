//! How far a run is: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The fewest seconds between two lines.
const SPEAK_EVERY: Duration = Duration::from_secs(30);

/// What is done of a number of units.
pub(crate) struct Pace {
    bar: ProgressBar,
    started: Instant,
    /// When something was last said, if lines are.
    spoken: Option<Mutex<Instant>>,
}

impl Pace {
    /// Of the experiment `name`, on standard error, or nowhere if `quiet`.
    pub(crate) fn new(name: &'static str, units: u64, quiet: bool) -> Self {
        let started = Instant::now();
        if quiet {
            return Self { bar: ProgressBar::hidden(), started, spoken: None };
        }
        // Cannot fail: the template is a constant.
        let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent} % of the trials, {eta} left")
            .expect("a valid template");
        // Drawn only on a terminal.
        let bar = ProgressBar::new(units).with_style(style).with_prefix(name);
        Self { bar, started, spoken: (!std::io::stderr().is_terminal()).then(|| Mutex::new(started)) }
    }

    /// So many more are done.
    pub(crate) fn advance(&self, units: u64) {
        self.bar.inc(units);
        // Whoever finds the lock taken has nothing to add.
        let Some(mut last) = self.spoken.as_ref().and_then(|spoken| spoken.try_lock().ok()) else { return };
        if last.elapsed() >= SPEAK_EVERY {
            *last = Instant::now();
            let share = self.bar.position() as f64 / self.bar.length().unwrap_or(0).max(1) as f64;
            let (gone, left) = (self.started.elapsed().as_secs_f64(), 1.0 / share - 1.0);
            eprintln!(
                "{}: {:.0} % of the trials after {gone:.0} s, {:.0} s left",
                self.bar.prefix(),
                100.0 * share,
                gone * left
            );
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(self) {
        self.bar.finish_and_clear();
    }
}
