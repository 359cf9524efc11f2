//! A run that may be kept in a state, and go on later under the same noisy threshold.

use super::report::Alert;
use super::request::Request;
use crate::failure::Failure;
use crate::output::{Format, aligned, fact_rows, line, note, object, printable, write};
use crate::state::{self, Kind, Part, StateFile};
use rand::CryptoRng;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};
use tamis::noise::sparse_vector::{Plan, Snapshot, SparseVector, Variant, Verdict};
use tamis::queries::Grid;

/// A run: its gate, how far it has come, and where that is kept.
pub struct Run {
    pub gate: SparseVector,
    /// Rows.
    pub answered: u64,
    /// Alerts that were charged and lost with a process that ended.
    lost: u32,
    kept: Kept,
    /// Whether the state says that the next alert is used up.
    is_charged: bool,
    /// How many rows were answered, and when, as it was kept last.
    last: (u64, Instant),
}

/// Where a run is kept.
enum Kept {
    Nowhere,
    In(StateFile),
    /// It was kept for the last time, or could not be: no row may be answered any more.
    NoMore,
}

/// What names the values of a run: not what its plan says already.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Watched {
    column: Option<String>,
    label: Option<String>,
    grid_bits: u32,
}

impl Watched {
    fn of(request: &Request) -> Self {
        let columns = &request.columns;
        Self { column: columns.value.clone(), label: columns.label.clone(), grid_bits: request.grid.bits() }
    }
}

/// What every alert changes. While rows are read, the state holds it as it would be after one alert more, which nobody saw.
#[derive(Serialize, Deserialize)]
struct Position {
    answered: u64,
    #[serde(default)]
    lost: u32,
    gate: Snapshot,
}

/// An alert as it is kept.
#[derive(Serialize, Deserialize)]
struct KeptAlert {
    row: u64,
    label: Option<String>,
    /// In grid units.
    value: Option<i64>,
}

const WATCHED: &str = "watched";
const POSITION: &str = "position";
const ALERT: &str = "alert";

/// How long ⊥ may be forgotten: they are public, and asking again under the same noisy threshold is one more query.
const FORGETTABLE: Duration = Duration::from_secs(1);

impl Run {
    /// The run that is kept there, if there is one. It must be of the same plan.
    pub fn find(path: Option<&Path>, plan: &Plan, request: &Request, quiet: bool) -> Result<Option<Self>, Failure> {
        let Some(path) = path else { return Ok(None) };
        if path.symlink_metadata().is_err() {
            state::check_place(path)?;
            return Ok(None);
        }
        let file = StateFile::open(path, quiet)?;
        file.expect(Kind::Monitor)?;
        let watched: Watched = file.json(WATCHED, 0)?;
        let run = Self::read(file)?.0;
        if run.gate.plan() != plan || run.gate.threshold() != request.threshold || watched != Watched::of(request) {
            return Err(Failure::input(
                format_args!(
                    "{} keeps a run that was begun with another {}",
                    path.display(),
                    run.differences(&watched, plan, request).join(", ")
                ),
                "give the same arguments as then (`tamis inspect` shows them), or another --state and a budget of its own",
            ));
        }
        if run.gate.is_halted() {
            return Err(Failure::refused(
                format_args!("all {} alerts of {} are used", run.gate.plan().setting().hits.get(), path.display()),
                "`tamis inspect` shows them; more need another --state and a budget of its own",
            ));
        }
        Ok(Some(run))
    }

    /// The arguments that are not those of the run. All of them are public.
    fn differences(&self, watched: &Watched, plan: &Plan, request: &Request) -> Vec<&'static str> {
        let (kept, now) = (self.gate.plan(), Watched::of(request));
        let (old, new) = (kept.setting(), plan.setting());
        // Units of two grids, in those of the finest there is: 30 bits.
        let finest = |units: i128, bits: u32| units << (30 - bits);
        let differ = |old: i128, new: i128| finest(old, watched.grid_bits) != finest(new, now.grid_bits);
        let is_book = |plan: &Plan| matches!(plan.variant(), Variant::BookSparse | Variant::BookNumericSparse);
        let differs = [
            ("--column", watched.column != now.column),
            ("--label", watched.label != now.label),
            ("--threshold", differ(self.gate.threshold().into(), request.threshold.into())),
            ("--alerts", old.hits != new.hits),
            ("--epsilon", old.budget.epsilon() != new.budget.epsilon()),
            // Where another mechanism was better, it may have needed no δ.
            ("--delta", kept.variant() == plan.variant() && old.budget.delta() != new.budget.delta()),
            ("--sensitivity", differ(old.sensitivity.get().into(), new.sensitivity.get().into())),
            ("--neighbours", old.neighbours != new.neighbours),
            ("--kind", old.kind != new.kind),
            ("--grid", watched.grid_bits != now.grid_bits),
            ("--variant", is_book(kept) != is_book(plan)),
            ("--numeric", kept.report() != plan.report()),
        ];
        let names: Vec<_> = differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
        match names.is_empty() {
            // What the noise was divided by, and the plan does not hold.
            true if kept.variant() == plan.variant() => vec!["--queries or --beta"],
            true => vec!["--delta, --queries or --beta"],
            false => names,
        }
    }

    /// Begins a run. From here on its whole budget is spent.
    pub fn begin<R: CryptoRng + ?Sized>(
        path: Option<&Path>,
        plan: &Plan,
        request: &Request,
        quiet: bool,
        rng: &mut R,
    ) -> Result<Self, Failure> {
        let gate = SparseVector::new(plan.clone(), request.threshold, rng);
        let mut run =
            Self { gate, answered: 0, lost: 0, kept: Kept::Nowhere, is_charged: false, last: (0, Instant::now()) };
        if let Some(path) = path {
            let mut id = [0; 16];
            rng.fill_bytes(&mut id);
            let parts = [Part::json(WATCHED, 0, &Watched::of(request))?, run.position()?];
            state::create(path, Kind::Monitor, u128::from_le_bytes(id), &parts)?;
            note(quiet, &format!("keeping this run in {}: as secret as the data", path.display()));
            // Another process may have been faster to use it: what counts is what is there.
            let kept = Self::find(Some(path), plan, request, quiet)?;
            run = kept.ok_or_else(|| Failure::machine("the state is gone", "run it again, in a folder of your own"))?;
        }
        Ok(run)
    }

    fn read(file: StateFile) -> Result<(Self, Vec<KeptAlert>), Failure> {
        let Position { answered, lost, gate } = file.json(POSITION, 0)?;
        let gate = SparseVector::restore(gate).map_err(|error| file.damaged(error))?;
        let alerts: Vec<KeptAlert> = file.all_json(ALERT)?;
        if alerts.len() as u64 + u64::from(lost) != u64::from(used(&gate)) {
            return Err(file.damaged("its alerts and its noisy threshold are of different moments"));
        }
        let last = (answered, Instant::now());
        Ok((Self { gate, answered, lost, kept: Kept::In(file), is_charged: false, last }, alerts))
    }

    fn position(&self) -> Result<Part, Failure> {
        Part::json(POSITION, 0, &Position { answered: self.answered, lost: self.lost, gate: self.gate.snapshot() })
    }

    fn charged_position<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> Result<Part, Failure> {
        let gate = self.gate.charged_snapshot(rng);
        Part::json(POSITION, 0, &Position { answered: self.answered, lost: self.lost + 1, gate })
    }

    pub fn is_kept(&self) -> bool {
        matches!(self.kept, Kept::In(_))
    }

    /// Answers a row. Of a run that is kept, only what is charged.
    pub fn answer<R: CryptoRng + ?Sized>(&mut self, value: i64, rng: &mut R) -> Result<Verdict, Failure> {
        match self.kept {
            Kept::Nowhere => {}
            Kept::In(_) if self.is_charged => {}
            Kept::In(_) | Kept::NoMore => return Err(over()),
        }
        // Cannot fail: the loop ends as soon as the gate halts, and a run that has halted is not begun.
        let verdict = self.gate.answer(value, rng).expect("a gate that has not halted");
        self.answered += 1;
        Ok(verdict)
    }

    /// Charges an alert before there is one: if it could not be kept, that would tell that there was.
    pub fn charge<R: CryptoRng + ?Sized>(&mut self, rng: &mut R) -> Result<(), Failure> {
        if matches!(self.kept, Kept::Nowhere) {
            return Ok(());
        }
        let position = self.charged_position(rng)?;
        self.commit(vec![position], true)
    }

    /// Keeps an alert that has just been counted, and charges the next.
    pub fn keep_alert<R: CryptoRng + ?Sized>(&mut self, alert: &Alert, rng: &mut R) -> Result<(), Failure> {
        if matches!(self.kept, Kept::Nowhere) {
            return Ok(());
        }
        let number = used(&self.gate) - self.lost - 1;
        let kept = KeptAlert { row: self.answered, label: alert.label.clone(), value: alert.value };
        let is_next = !self.gate.is_halted();
        let position = if is_next { self.charged_position(rng)? } else { self.position()? };
        self.commit(vec![Part::json(ALERT, number.into(), &kept)?, position], is_next)
    }

    /// Keeps how far it has come, unless that was done a moment ago.
    pub fn keep_now_and_then<R: CryptoRng + ?Sized>(&mut self, rng: &mut R) -> Result<(), Failure> {
        if self.is_kept() && self.last.1.elapsed() >= FORGETTABLE { self.charge(rng) } else { Ok(()) }
    }

    /// Keeps how far it has come, gives back what was charged and closes the state: no more rows are answered.
    pub fn end(&mut self) -> Result<(), Failure> {
        let kept = if self.is_charged {
            self.position().and_then(|position| self.commit(vec![position], false))
        } else {
            Ok(())
        };
        if !matches!(self.kept, Kept::Nowhere) {
            self.kept = Kept::NoMore;
        }
        kept
    }

    fn commit(&mut self, parts: Vec<Part>, is_charged: bool) -> Result<(), Failure> {
        // What could not be kept once is not made up for later: an alert may have been lost.
        let Kept::In(mut file) = std::mem::replace(&mut self.kept, Kept::NoMore) else { return Err(over()) };
        self.is_charged = false;
        file.commit(&parts)?;
        (self.kept, self.is_charged, self.last) = (Kept::In(file), is_charged, (self.answered, Instant::now()));
        Ok(())
    }
}

/// Somebody has ended the run meanwhile.
fn over() -> Failure {
    Failure::machine("the run has ended, or could not be kept", "run it again: it goes on behind what was shown")
}

/// How many ⊤ there were.
fn used(gate: &SparseVector) -> u32 {
    gate.plan().setting().hits.get() - gate.hits_left()
}

/// Version of the JSON object.
const SCHEMA: &str = "tamis.monitor.state/1";

#[derive(Serialize)]
struct Shown {
    schema: &'static str,
    facts: serde_json::Map<String, serde_json::Value>,
    alerts: Vec<ShownAlert>,
}

#[derive(Serialize)]
struct ShownAlert {
    row: u64,
    label: Option<String>,
    value: Option<f64>,
}

/// Prints the run of a state: all of it has been published, or is public.
pub fn describe(file: StateFile, format: Format) -> Result<(), Failure> {
    let (shown, commits) = (file.path().display().to_string(), file.commits());
    let watched: Watched = file.json(WATCHED, 0)?;
    let grid = Grid::new(watched.grid_bits).map_err(|error| file.damaged(error))?;
    let (run, alerts) = Run::read(file)?;
    let facts = facts(&run, &watched, grid, commits);
    let alert =
        |KeptAlert { row, label, value }| ShownAlert { row, label, value: value.map(|value| grid.value(value)) };
    let alerts: Vec<ShownAlert> = alerts.into_iter().map(alert).collect();
    match format {
        Format::Text => {
            let mut text = format!("{shown}: a run of `tamis monitor`, its checksums hold\n\n{}", aligned(&facts));
            if !alerts.is_empty() {
                text += "\nalerts\n";
            }
            for ShownAlert { row, label, value } in &alerts {
                let label = label.as_deref().map_or_else(String::new, |label| format!(", {}", printable(label)));
                let value = value.map_or_else(String::new, |value| format!(": about {value}"));
                text += &format!("  row {row}{label}{value}\n");
            }
            write(text.as_bytes())?;
        }
        Format::Json => line(&Shown { schema: SCHEMA, facts: object(facts), alerts })?,
        Format::Csv => fact_rows(&facts)?,
    }
    Ok(())
}

fn left(run: &Run) -> String {
    let lost = match run.lost {
        0 => String::new(),
        lost => format!(" ({lost} lost with a run that was cut off, perhaps after they were drawn)"),
    };
    format!("{} of {}{lost}", run.gate.hits_left(), run.gate.plan().setting().hits.get())
}

fn facts(run: &Run, watched: &Watched, grid: Grid, commits: u64) -> Vec<(&'static str, String)> {
    let plan = run.gate.plan();
    let setting = plan.setting();
    let sensitivity = i64::try_from(setting.sensitivity.get()).unwrap_or(i64::MAX);
    let mut facts = vec![
        ("spent", format!("{}, when it began", setting.budget)),
        ("neighbours", setting.neighbours.to_string()),
        ("kind", setting.kind.to_string()),
        ("sensitivity", grid.value(sensitivity).to_string()),
        ("mechanism", plan.variant().to_string()),
        ("threshold", grid.value(run.gate.threshold()).to_string()),
        ("grid bits", grid.bits().to_string()),
        ("answered", run.answered.to_string()),
        ("alerts left", left(run)),
        ("commits", commits.to_string()),
    ];
    facts.extend(watched.column.clone().map(|column| ("column", column)));
    facts.extend(watched.label.clone().map(|label| ("label", label)));
    facts
}
