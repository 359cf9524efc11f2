//! `tamis session create`: reads a table, buys a number of answers and writes the state.

use super::explain::Explanation;
use super::request::{Planned, Request};
use super::stored::{Description, Engine, Table};
use crate::failure::Failure;
use crate::input::Source;
use crate::output::{Format, note, plural};
use crate::progress::Progress;
use crate::records::Contents;
use crate::state::{self, Kind as StateKind, Part};
use rand::CryptoRng;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use tamis::interactive::{Data, Plan, Refusal, Session};
use tamis::queries::FingerprintKey;

const EXAMPLES: &str = "\
Examples:
  What would the answers be worth, in this mode and in the others? (reads no data)
    tamis session create --explain --unit row --max-support 256 \\
        --queries 10000 --epsilon 1 --delta 1e-9 --neighbours substitute \\
        --records 32561 --rows-per-key 1000
  The same, in earnest:
    tamis session create examples/adult_majority48.csv --key bits \\
        --bits examples/adult_majority48_columns.txt --unit row \\
        --max-support 256 --queries 10000 --epsilon 1 --delta 1e-9 \\
        --neighbours substitute --records 32561 --rows-per-key 1000 \\
        --state adult.session
    tamis session ask adult.session \\
        --queries examples/adult_conjunctions.jsonl

Modes: guarded makes a projection release and answers from it; the rest of the budget pays for --updates corrections from the \
data, where it was wrong by more than its threshold. gaussian adds noise to each answer, for at most --queries of them, and \
needs --delta: the least bound where few are asked. sparse-mw learns the data by multiplicative weights (Blum and Roth 2011), \
either with the least bound that holds for all queries, or with --updates and --threshold as you say. paper is the same with \
the papers' constants. --explain compares them.

What is protected: whoever sees the answers learns hardly more about one unit of privacy (a person, say) than without that \
unit's rows, whatever is asked and however it is chosen. The whole budget is spent by creating the session; asking costs \
nothing more. A second session, or a release, of the same data has a budget of its own, and the two add up. With --key bits \
two different records share a fingerprint with a chance of at most d/2^64, if there are d: a δ of that, times the rows of a \
unit, comes on top.

What is public: every argument and the answers. --records is exact under substitution, where it is public; under add-remove it \
is an upper bound that you state, and accuracy rests on it, privacy never. If there are more records than that, the session is \
made all the same, with exit code 0, since whether there are is private: a warning on standard error says so, here and in \
`tamis session show`, to the curator alone. Bounds do not hold then. So state a bound that is beyond doubt. Rows, units, keys \
and malformed data are as in `tamis release`.

The state holds the data that is answered from, and the noisy threshold: it is as secret as the data, and made for its owner \
alone (mode 0600). Of two copies only the newer may be used: an older one that is put back is refused where the newer was used \
before, by a number kept in $XDG_STATE_HOME/tamis or ~/.local/state/tamis, and while one is in use the other has to wait. \
Where that cannot be told there is a warning. Putting back state and number cannot be detected. Keep it on a local disk, and \
where a crash has left a file FILE-journal beside it, move both: the next run puts the state in order. A creation that is killed \
may leave a file .tamis-….partial beside FILE: it holds the data and was never answered from, so delete it.

Exit codes: 0 done; 1 refused on privacy grounds, or because the guarantee is vacuous (--yes); 2 usage or bad input; \
3 internal error, or a disk that failed: nothing is spent then unless the state is there.";

/// Reads a table, buys a number of answers, and writes the state that gives them.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for examples.")]
pub struct Arguments {
    /// CSV file with a header, Parquet file, or `-` for a CSV text on standard input.
    #[arg(value_name = "DATA|-", required_unless_present = "explain")]
    data: Option<PathBuf>,
    /// The column that queries will ask for, or several, separated by commas (a name with a comma: in double quotes).
    #[arg(long, value_name = "COL[,COL...]", required_unless_present = "explain")]
    pub key: Option<String>,
    /// The key is packed booleans in hexadecimal, named line by line in this file, the first for the lowest bit.
    #[arg(long, value_name = "COLUMNS_FILE")]
    pub bits: Option<PathBuf>,
    /// A column that says how many records each row stands for.
    #[arg(long, value_name = "COL")]
    pub count: Option<String>,
    /// What is protected: the column that tells units of privacy (persons, say) apart, or `row` if each record is a
    /// unit.
    #[arg(long, value_name = "COL|row")]
    pub unit: String,
    /// At most this many rows of a unit count. Required with `--unit COL`; 1 with `--unit row` if not given.
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub max_rows: Option<String>,

    /// The most keys that a query may have; for a conjunction with f literals left free, 2^f.
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    pub max_support: String,
    /// For how many different queries the guarantee is to hold.
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub queries: String,
    /// Privacy loss ε of the whole session, as a decimal or a fraction.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub epsilon: String,
    /// Probability δ with which the loss may be larger.
    #[arg(long, value_name = "D", default_value = "0", allow_hyphen_values = true)]
    pub delta: String,
    /// What neighbouring data sets are: one unit added or removed, or one unit replaced.
    #[arg(long, value_name = "RELATION", value_parser = ["add-remove", "substitute"])]
    pub neighbours: String,
    /// How many records there are: exactly, under substitution; under add-remove at most, by your word.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub records: String,

    /// How the queries are answered.
    #[arg(long, value_enum, default_value_t = Kind::Guarded)]
    pub mode: Kind,
    /// How many corrections from the data there are. guarded: 10 if not given. sparse-mw: with --threshold.
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub updates: Option<String>,
    /// With sparse-mw and --updates: how far off an answer must be to be corrected, in records.
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub threshold: Option<String>,
    /// Probability with which the guarantee may fail. Privacy does not depend on it.
    #[arg(long, value_name = "B", default_value = "0.05", allow_hyphen_values = true)]
    pub beta: String,
    /// How many records have the same key, on the average over records, to plan a guarded session by. 1 if not given.
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub rows_per_key: Option<String>,
    /// The most records that one key has, by your word: sparse-mw promises more with it. --records if not given.
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    pub largest_count: Option<String>,

    /// Where to write the state.
    #[arg(long, value_name = "FILE", required_unless_present = "explain")]
    state: Option<PathBuf>,
    /// Print the plan and those of the other modes, and read no data.
    #[arg(long)]
    explain: bool,
    /// Go on even if the guarantee says nothing.
    #[arg(long)]
    yes: bool,
    /// What to print to standard output: the plan as text (with --explain alone), JSON or CSV.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print nothing but errors, warnings about privacy and what was asked for by --format.
    #[arg(long)]
    quiet: bool,
}

/// How queries are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Guarded,
    Gaussian,
    SparseMw,
    Paper,
}

impl Kind {
    /// As in the argument.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guarded => "guarded",
            Self::Gaussian => "gaussian",
            Self::SparseMw => "sparse-mw",
            Self::Paper => "paper",
        }
    }
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let request = Request::check(&arguments)?;
    let explanation = Explanation::of(&request, arguments.explain);
    let (Some(data), Some(path), false) = (&arguments.data, &arguments.state, arguments.explain) else {
        return explanation.print(arguments.format);
    };
    let source = Source::of(data);
    state::check_place(path)?;
    request.records.check_table(&source)?;
    match explanation.warning() {
        Some(warning) if arguments.quiet => note(false, &format!("warning: {warning}")),
        _ => note(arguments.quiet, explanation.to_string().trim_end()),
    }
    useful(&request, arguments.yes)?;
    // Seeded by the operating system, and cryptographic: there is no flag for a seed.
    let contents = make(&request, &source, path, arguments.quiet, &mut rand::rng())?;
    if contents.records > request.setting.records {
        warn_of_more_records();
    }
    if !arguments.quiet {
        account(&request, &contents, path);
    }
    match arguments.format {
        Format::Text => Ok(()),
        format => explanation.written(path).print(format).map_err(|failure| failure.having_spent(SPENT)),
    }
}

/// Where the plan cannot be printed.
const SPENT: &str = "look for a full disk; the state is written, and its budget is spent";

/// Refuses to spend a budget on a guarantee that says nothing.
fn useful(request: &Request, insist: bool) -> Result<(), Failure> {
    let plan = request.planned.plan();
    if insist || !plan.is_vacuous() {
        return Ok(());
    }
    Err(Failure::refused(
        format_args!(
            "the guarantee is vacuous: ± {:.0} records, and there are no more than {}",
            plan.guarantee_in_records(),
            request.setting.records
        ),
        "compare the modes with --explain, ask fewer or shorter queries, allow a larger --epsilon, or go on with --yes",
    ))
}

/// Reads the table, begins the session and writes its state. Private data meets noise here and nowhere else; the
/// fingerprint key is drawn before it is read.
fn make<R: CryptoRng + ?Sized>(
    request: &Request,
    source: &Source,
    path: &Path,
    quiet: bool,
    rng: &mut R,
) -> Result<Contents, Failure> {
    let keys = request.records.keys(FingerprintKey::new(random(rng)))?;
    let progress = Progress::new(quiet);
    let read = Table::read(&request.records, request.setting.rows_per_unit, &keys, source, &progress);
    progress.finish();
    let (table, contents) = read?;
    let mut parts = vec![Part::json(Description::PART, 0, &Description::new(request, &keys, &table))?];
    parts.extend(table.parts());
    let data = table.into_data(&keys)?;
    let engine = begin(request, &data, rng).map_err(|refusal| unsuitable(&refusal))?;
    parts.extend(engine.first_parts(&keys, &request.records)?);
    state::create(path, StateKind::Session, u128::from_le_bytes(random(rng)), &parts)?;
    Ok(contents)
}

fn random<R: CryptoRng + ?Sized>(rng: &mut R) -> [u8; 16] {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    bytes
}

fn begin<'data, R: CryptoRng + ?Sized>(
    request: &Request,
    data: &'data Data,
    rng: &mut R,
) -> Result<Engine<'data>, Refusal> {
    Ok(match &request.planned {
        Planned::Plain(plan) => Engine::Plain(Box::new(Session::new(Plan::clone(plan), data, rng)?)),
        Planned::Guarded(plan) => Engine::Guarded(Box::new(Session::guarded(plan, data, rng)?)),
    })
}

/// Data that the plan is not for, by what is public of it.
fn unsuitable(refusal: &Refusal) -> Failure {
    match refusal {
        Refusal::Records { .. } => {
            Failure::input(refusal, "give that number as --records; if it is private, give --neighbours add-remove")
        }
        _ => Failure::refused(refusal, "`tamis session create --explain` says what can be had"),
    }
}

/// Tells the curator, however quiet, that --records was too low. Only under add-remove, where it depends on private data: no
/// exit code and no line of standard output does.
pub fn warn_of_more_records() {
    note(
        false,
        "warning: there are more records than --records says (this is private: for the curator alone). Privacy holds, but bounds \
         and intervals of this session do not: do not use it, and begin another with a bound that is beyond doubt without a look \
         at the data",
    );
}

/// Tells the curator what was spent, and on what.
fn account(request: &Request, contents: &Contents, path: &Path) {
    let shown = path.display();
    note(false, &format!("wrote     {shown}: as secret as the data"));
    let cost = &request.cost;
    note(false, &format!("spent     {cost}: add it to whatever else is, was or will be released of the same data"));
    let dropped = match request.records.unit.bounded() {
        true => format!(", {} of them dropped by --max-rows", contents.dropped),
        false => String::new(),
    };
    let rows = plural(contents.rows, "row");
    note(false, &format!("private   {rows} read{dropped}: as private as the data, for you alone"));
    note(false, &format!("next      tamis session ask {shown}"));
}
