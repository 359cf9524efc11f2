//! What the planner says, for people and for machines.

use super::request::{self, Request};
use crate::failure::Failure;
use crate::output::{Format, csv, line, percentage, plural, write};
use serde::Serialize;
use std::fmt;
use tamis::plan::mechanisms::SparseWeights;
use tamis::plan::{Asking, Basis, Comparison, Crossing, Kept, QueryRelease, Question, Row, Verdict, Wanted};

/// Version of the JSON object.
const SCHEMA: &str = "tamis.plan/1";

/// Everything that is said, for every format.
pub struct Report {
    comparison: Comparison,
    assumed: Option<&'static str>,
    crossing: Option<Crossing>,
    /// An error that any answer keeps, in records.
    kept_by_anything: Option<f64>,
    searches: Vec<Search>,
    /// Whether something could be had, were there memory for it.
    lacks_memory: bool,
}

/// What it takes to keep a wanted error, or allows: by the mechanism that is best at it.
#[derive(Serialize)]
struct Search {
    /// What is searched, all else being as stated.
    search: &'static str,
    error: f64,
    /// Whether it is a share of the records.
    share: bool,
    value: Option<f64>,
    /// Whether that is the end of what was tried: beyond it may be more.
    is_end: bool,
    /// What was tried.
    from: f64,
    to: f64,
    mechanism: Option<&'static str>,
    basis: Option<&'static str>,
    #[serde(skip)]
    found: Option<String>,
}

impl Search {
    fn all(comparison: &Comparison, wanted: Wanted) -> Vec<Self> {
        let (question, keeping) = (comparison.question(), comparison.keeping(wanted));
        let whole = |kept: Option<Kept<'static, u64>>| {
            kept.map(|Kept { value, mechanism }| Kept { value: value as f64, mechanism })
        };
        let size = |most: u64| (1.0, most as f64);
        // How many records there are does not make an error in records smaller.
        let of_share = matches!(wanted, Wanted::Share(_));
        let records = ("least_records", whole(keeping.least_records), size(Question::MAX_RECORDS));
        [
            of_share.then_some(records),
            Some(("least_epsilon", keeping.least_epsilon, question.epsilons_tried())),
            Some(("largest_support", whole(keeping.largest_support), size(Question::MAX_SUPPORT))),
            Some(("largest_queries", whole(keeping.largest_queries), size(Question::MAX_QUERIES))),
        ]
        .into_iter()
        .flatten()
        .map(|(search, kept, tried)| Self::of(search, wanted, kept, tried))
        .collect()
    }

    fn of(search: &'static str, wanted: Wanted, kept: Option<Kept<'static, f64>>, (from, to): (f64, f64)) -> Self {
        let (error, share) = match wanted {
            Wanted::Records(error) => (error, false),
            Wanted::Share(error) => (error, true),
        };
        let about = kept.map(|kept| kept.mechanism.about());
        let end = if search.starts_with("least") { from } else { to };
        Self {
            search,
            error,
            share,
            value: kept.map(|kept| kept.value),
            is_end: kept.is_some_and(|kept| kept.value == end),
            from,
            to,
            mechanism: about.map(|about| about.name),
            basis: about.map(|about| basis_name(about.basis)),
            found: about.map(|about| format!("{} ({})", about.title, basis(about.basis))),
        }
    }

    fn line(&self) -> String {
        let (Some(value), Some(found)) = (self.value, &self.found) else { return self.nothing() };
        let limit = match (self.search, self.is_end) {
            ("least_epsilon", true) => format!("any from {value} on (less was not tried)"),
            ("least_epsilon", false) => format!("at least {value}"),
            ("least_records", true) => "any".to_owned(),
            ("least_records", false) => format!("at least {}", number(value)),
            (_, true) => format!("any up to {value}, the most that can be asked"),
            (_, false) => format!("at most {}", number(value)),
        };
        format!("{limit}: {found}")
    }

    fn nothing(&self) -> String {
        match self.search {
            "largest_support" => "none, unless so few that any answer keeps it".to_owned(),
            "largest_queries" => "not even 1".to_owned(),
            _ => format!("none that was tried, up to {}, is enough", self.to),
        }
    }

    fn noun(&self) -> &'static str {
        match self.search {
            "least_records" => "records",
            "least_epsilon" => "epsilon",
            "largest_support" => "keys",
            _ => "queries",
        }
    }
}

fn searches(f: &mut fmt::Formatter<'_>, searches: &[Search], question: &Question) -> fmt::Result {
    let Some(Search { error, share, .. }) = searches.first() else { return Ok(()) };
    let error = if *share {
        format!("{} % of the records", significant(100.0 * error))
    } else {
        format!("{} records", number(*error))
    };
    let what = format!("all answers within {error}, all else being as stated");
    if searches.iter().all(|search| search.value.is_none()) {
        return writeln!(
            f,
            "\nto keep {what}, no mechanism is enough: with no epsilon, number of records, of keys or of queries that was tried"
        );
    }
    writeln!(f, "\nwhat keeps {what}, by the mechanism that is best at it")?;
    for search in searches {
        writeln!(f, "  {:<9} {}", search.noun(), search.line())?;
    }
    let least = searches.iter().find(|search| search.search == "least_records").map(|search| search.value);
    match (question.records_of_universe(), least) {
        (Some(room), Some(least)) if least.is_none_or(|least| least > room as f64) => {
            writeln!(f, "  the universe has room for {room} records: with more, only what needs no universe was tried")
        }
        _ => Ok(()),
    }
}

/// One mechanism, for machines.
#[derive(Serialize)]
struct Line {
    mechanism: &'static str,
    verdict: &'static str,
    /// Whether its bound holds for queries that come as they do here.
    holds: bool,
    typical: Option<f64>,
    typical_share: Option<f64>,
    within: Option<f64>,
    within_share: Option<f64>,
    basis: &'static str,
    adaptive: bool,
    epsilon: Option<String>,
    delta: Option<String>,
    seconds_before: Option<f64>,
    seconds_each: Option<f64>,
    bytes: Option<f64>,
    reason: Option<String>,
    remedy: Option<String>,
    found_at: &'static str,
}

/// All of it, for machines.
#[derive(Serialize)]
struct Object<'a> {
    schema: &'static str,
    records: u64,
    max_support: u64,
    queries: u64,
    level: f64,
    epsilon: String,
    delta: String,
    neighbours: String,
    unit_rows: u32,
    adaptive: bool,
    universe: Option<u64>,
    rows_per_key: f64,
    distinct_keys: Option<u64>,
    largest_count: u64,
    largest_answer: f64,
    memory: u64,
    assumed: Option<&'static str>,
    winner: Option<&'static str>,
    best_by_command: Option<&'static str>,
    runner_up: Option<&'static str>,
    lasting: Option<&'static str>,
    sparse_mw_from_queries: Option<u64>,
    sparse_mw_from_support: Option<u64>,
    mechanisms: Vec<Line>,
    any_answer_keeps_error: bool,
    searches: &'a [Search],
}

impl Report {
    pub fn of(request: &Request) -> Result<Self, Failure> {
        let comparison = Comparison::of(&request.question).map_err(|error| request::refusal(&error))?;
        let (idle, wanted) = match request.wanted {
            Some(wanted) if wanted.is_kept_by_anything(&request.question) => (Some(wanted), None),
            wanted => (None, wanted),
        };
        let searches = wanted.map_or(Vec::new(), |wanted| Search::all(&comparison, wanted));
        let kept_by_anything = idle.map(|wanted| wanted.in_records(&request.question));
        let adaptive = request.question.asking == Asking::Adaptively;
        // Where they are the best already the table says so.
        let is_best = comparison.lasting().is_some_and(|row| row.mechanism.about() == SparseWeights.about());
        let crossing = if adaptive && !is_best { comparison.sparse_weights_from() } else { None };
        let lacks_memory = comparison.is_empty() && {
            Comparison::of(&request.question.in_any_memory()).is_ok_and(|comparison| !comparison.is_empty())
        };
        Ok(Self { crossing, assumed: request.assumed, kept_by_anything, searches, lacks_memory, comparison })
    }

    /// Why nothing can be had at all, if so.
    pub fn why_empty(&self) -> Option<String> {
        let memory = size(self.comparison.question().memory as f64);
        match (self.comparison.is_empty(), self.lacks_memory) {
            (false, _) => None,
            (true, true) => Some(format!("nothing fits in {memory} of memory")),
            (true, false) => Some("no mechanism is to be had for this".to_owned()),
        }
    }

    /// To standard output.
    pub fn print(&self, format: Format) -> Result<(), Failure> {
        match format {
            Format::Text => write(self.to_string().as_bytes())?,
            Format::Json => line(&self.object())?,
            Format::Csv => {
                write(&csv(|writer| self.lines().iter().try_for_each(|line| writer.serialize(line)))?)?;
            }
        }
        Ok(())
    }

    fn lines(&self) -> Vec<Line> {
        let records = self.comparison.question().records as f64;
        let line = |row: &Row| {
            let about = row.mechanism.about();
            Line {
                mechanism: about.name,
                verdict: match row.verdict {
                    Verdict::Applicable => "applicable",
                    Verdict::Vacuous => "vacuous",
                    Verdict::NotApplicable => "not-applicable",
                },
                holds: row.within.is_some() && self.comparison.holds(row),
                typical: row.typical,
                typical_share: row.typical.map(|error| error / records),
                within: row.within,
                within_share: row.within.map(|error| error / records),
                basis: basis_name(about.basis),
                adaptive: about.is_adaptive,
                epsilon: row.cost.as_ref().map(|cost| cost.epsilon().to_string()),
                delta: row.cost.as_ref().map(|cost| cost.delta().to_string()),
                seconds_before: row.effort.map(|effort| effort.once),
                seconds_each: row.effort.map(|effort| effort.each),
                bytes: row.effort.map(|effort| effort.bytes),
                reason: row.reason.clone(),
                remedy: row.remedy.clone(),
                found_at: about.found_at,
            }
        };
        self.comparison.ranked().into_iter().map(line).collect()
    }

    fn object(&self) -> Object<'_> {
        let (comparison, question) = (&self.comparison, self.comparison.question());
        let name = |row: &Row| row.mechanism.about().name;
        Object {
            schema: SCHEMA,
            records: question.records,
            max_support: question.support,
            queries: question.queries.get(),
            level: 1.0 - question.beta.get(),
            epsilon: question.budget.epsilon().to_string(),
            delta: question.budget.delta().to_string(),
            neighbours: question.neighbours.to_string(),
            unit_rows: question.rows_per_unit,
            adaptive: question.asking == Asking::Adaptively,
            universe: question.universe,
            rows_per_key: question.key_multiplicity,
            distinct_keys: question.distinct_keys,
            largest_count: question.largest_count,
            largest_answer: question.largest_answer(),
            memory: question.memory,
            assumed: self.assumed,
            winner: comparison.winner().map(name),
            best_by_command: comparison.best_command().map(name),
            runner_up: comparison.runner_up().map(name),
            lasting: comparison.lasting().map(name),
            sparse_mw_from_queries: self.crossing.map(|crossing| crossing.queries),
            sparse_mw_from_support: self.crossing.map(|crossing| crossing.support),
            mechanisms: self.lines(),
            any_answer_keeps_error: self.kept_by_anything.is_some(),
            searches: &self.searches,
        }
    }

    fn best(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let question = self.comparison.question();
        let Some(winner) = self.comparison.winner() else {
            if let Some(why) = self.why_empty() {
                return writeln!(f, "best      nothing: {why}");
            }
            let (most, largest) = (" the most that one can be", exact(question.largest_answer()));
            if self.comparison.ranked().iter().any(|row| row.verdict == Verdict::Applicable) {
                writeln!(
                    f,
                    "best      nothing that holds for questions that depend on answers: closer than {largest},{most},"
                )?;
                return writeln!(
                    f,
                    "          are only mechanisms for questions that are fixed beforehand: adaptive no, below"
                );
            }
            writeln!(f, "best      nothing: no mechanism keeps all answers closer than {largest},{most}")?;
            return writeln!(f, "          what it would take is said with each below");
        };
        let (about, level) = (winner.mechanism.about(), percentage(1.0 - question.beta.get()));
        let place = if about.is_command() { "by" } else { "only in the Rust library:" };
        writeln!(f, "best      {}, {place} `{}`", about.title, about.found_at)?;
        writeln!(f, "          {}", about.strength)?;
        if let Some(typical) = winner.typical {
            writeln!(f, "          an answer is typically off by {}", self.error(typical))?;
        }
        let within = self.error(up(winner.within.unwrap_or_default()));
        let all = match question.queries.get() {
            1 => "it stays".to_owned(),
            queries => format!("all {queries} answers stay"),
        };
        let basis = match about.basis {
            Basis::Theorem => "proven",
            Basis::UntilCorrected => "proven while its corrections last",
            Basis::Prediction => "predicted from exact variances, not proven",
        };
        writeln!(f, "          {all} within {within}, with probability {level}: {basis}")?;
        if let Some(next) = self.comparison.runner_up() {
            writeln!(f, "next      {}: {}", next.mechanism.about().title, summary(next))?;
        }
        if !about.is_command() {
            self.command(f)?;
        }
        let lasting = self.comparison.lasting().filter(|lasting| lasting.mechanism.about() != about);
        match (question.asking, lasting) {
            (Asking::Adaptively, Some(lasting)) => {
                let title = lasting.mechanism.about().title;
                writeln!(f, "proven    to the end, whatever is asked: {title}, {}", summary(lasting))
            }
            _ => Ok(()),
        }
    }

    /// What is to be had without the library.
    fn command(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(row) = self.comparison.best_command() else {
            return writeln!(f, "command   none answers this: it takes the library");
        };
        let about = row.mechanism.about();
        if self.comparison.runner_up().is_some_and(|next| next.mechanism.about() == about) {
            return writeln!(f, "command   the next, by `{}`", about.found_at);
        }
        writeln!(f, "command   the best that is one: {}, by `{}`: {}", about.title, about.found_at, summary(row))
    }

    /// In records and as a share of them.
    fn error(&self, error: f64) -> String {
        let records = self.comparison.question().records as f64;
        format!("± {} records ({} % of them)", number(error), significant(100.0 * error / records))
    }

    fn question(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let question = self.comparison.question();
        let Question { budget, neighbours, rows_per_unit, .. } = question;
        let queries = match question.queries.get() {
            1 => "1 query".to_owned(),
            queries => format!("{queries} queries"),
        };
        let how = match question.asking {
            Asking::Beforehand => "fixed beforehand",
            Asking::Adaptively => "each of which may depend on the answers before",
        };
        let (support, records) = (plural(question.support, "key"), plural(question.records, "record"));
        writeln!(f, "asked     {queries} of up to {support}, {how}, of {records}")?;
        if let Some(assumed) = self.assumed {
            writeln!(f, "assumed   {assumed}")?;
        }
        let rows = plural((*rows_per_unit).into(), "record");
        writeln!(f, "privacy   {budget}, under {neighbours} neighbours, for units of at most {rows}")
    }

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranked = self.comparison.ranked();
        let of = |verdict| ranked.iter().filter(move |row| row.verdict == verdict);
        let had: Vec<&&Row> = of(Verdict::Applicable).chain(of(Verdict::Vacuous)).collect();
        if had.is_empty() {
            return not_to_be_had(f, ranked);
        }
        writeln!(
            f,
            "\n{:<38} {:>10} {:>11} {:<10} {:<8} {:>7} {:>7} {:>7}",
            "", "typically", "all within", "", "adaptive", "before", "answer", "memory"
        )?;
        for row in had {
            writeln!(f, "{}", table_row(row).trim_end())?;
        }
        legend(f, &ranked)?;
        let largest = exact(self.comparison.question().largest_answer());
        for (at, row) in of(Verdict::Vacuous).enumerate() {
            if at == 0 {
                writeln!(
                    f,
                    "\nvacuous: no answer is beyond {largest}, so that such a bound says nothing. To be useful it needs"
                )?;
            }
            writeln!(f, "  {:<38} {}", row.mechanism.about().title, row.remedy.as_deref().unwrap_or_default())?;
        }
        not_to_be_had(f, of(Verdict::NotApplicable).copied().collect())
    }

    fn notes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (asked, memory) = (self.comparison.question(), "if there is memory for them");
        let practice = "In practice they err less than their bound says.";
        if self.crossing == Some(Crossing { queries: asked.queries.get(), support: asked.support }) {
            writeln!(
                f,
                "\nsparse multiplicative weights would have the least bound proven to the end, {memory}. {practice}"
            )?;
        } else if let Some(Crossing { queries, support }) = self.crossing {
            writeln!(
                f,
                "\nsparse multiplicative weights are for more: theirs is the least bound proven to the end from {} queries on, of {} keys\n\
                 or more, {memory}. {practice}",
                number(queries as f64),
                number(support as f64)
            )?;
        }
        if let Some(error) = self.kept_by_anything {
            let largest = exact(self.comparison.question().largest_answer());
            let error = exact(error);
            writeln!(
                f,
                "\nany answer keeps an error of {error} records: none is beyond {largest}. See what a smaller --error takes"
            )?;
        }
        searches(f, &self.searches, self.comparison.question())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.best(f)?;
        self.question(f)?;
        self.table(f)?;
        self.notes(f)
    }
}

/// What marks mean, as far as the table has them.
fn legend(f: &mut fmt::Formatter<'_>, rows: &[&Row]) -> fmt::Result {
    let is_corrected =
        |row: &&Row| row.verdict == Verdict::Applicable && row.mechanism.about().basis == Basis::UntilCorrected;
    let is_unpredicted = |row: &&Row| row.within.is_some() && row.typical.is_none();
    let marks = [
        (true, "before: time until the first answer; answer: time for each."),
        (rows.iter().any(is_corrected), "proven*: while corrections from the data last."),
        (rows.iter().any(is_unpredicted), "?: not predicted, less than the bound in practice."),
    ];
    let shown: Vec<&str> = marks.into_iter().filter_map(|(is_there, mark)| is_there.then_some(mark)).collect();
    shown.into_iter().try_for_each(|mark| writeln!(f, "{mark}"))
}

/// Those that are missing, by what they are missing for.
fn not_to_be_had(f: &mut fmt::Formatter<'_>, mut rows: Vec<&Row>) -> fmt::Result {
    let why = |row: &Row| (row.reason.clone().unwrap_or_default(), row.remedy.clone().unwrap_or_default());
    rows.sort_by_key(|row| why(row));
    for together in rows.chunk_by(|one, other| why(one) == why(other)) {
        let titles: Vec<&str> = together.iter().map(|row| row.mechanism.about().title).collect();
        let (reason, remedy) = why(together[0]);
        writeln!(f, "\nnot to be had: {}\n  {reason}; it takes {remedy}", titles.join("; "))?;
    }
    Ok(())
}

/// What one mechanism keeps to, in a few words.
fn summary(row: &Row) -> String {
    let typical = row.typical.map_or(String::new(), |typical| format!("typically ± {}, ", number(typical)));
    format!(
        "{typical}all within ± {} ({})",
        number(up(row.within.unwrap_or_default())),
        basis(row.mechanism.about().basis)
    )
}

/// For machines.
fn basis_name(basis: Basis) -> &'static str {
    match basis {
        Basis::Theorem => "theorem",
        Basis::UntilCorrected => "until-corrected",
        Basis::Prediction => "prediction",
    }
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Theorem => "proven",
        Basis::UntilCorrected => "proven*",
        Basis::Prediction => "predicted",
    }
}

fn table_row(row: &Row) -> String {
    let error = |error: Option<f64>| error.map_or("?".to_owned(), |error| format!("± {}", number(error)));
    let within = if row.verdict == Verdict::Vacuous { "vacuous" } else { basis(row.mechanism.about().basis) };
    let adaptive = if row.mechanism.about().is_adaptive { "yes" } else { "no" };
    let (before, answer, memory) = row
        .effort
        .map_or_else(Default::default, |effort| (duration(effort.once), duration(effort.each), size(effort.bytes)));
    format!(
        "{:<38} {:>10} {:>11} {within:<10} {adaptive:<8} {before:>7} {answer:>7} {memory:>7}",
        row.mechanism.about().title,
        error(row.typical),
        error(row.within.map(up)),
    )
}

/// A bound in the digits of [`number`], which must not be less.
fn up(bound: f64) -> f64 {
    let digits = if bound >= 100.0 { 3 } else { 2 };
    let unit = 10f64.powi(bound.max(1e-9).log10().floor() as i32 + 1 - digits);
    // What was rounded when it was divided is no digit.
    (bound / unit - 1e-9).ceil() * unit
}

/// Three digits where they are all.
pub fn exact(value: f64) -> String {
    let short = number(value);
    if short.parse() == Ok(value) { short } else { value.to_string() }
}

/// A size in three digits, and as a power of ten where it has many.
pub fn number(value: f64) -> String {
    match value {
        _ if value >= 1e7 => {
            let text = format!("{value:.2e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ if value >= 1000.0 => {
            let unit = 10f64.powf(value.log10().floor() - 2.0);
            format!("{:.0}", (value / unit).round() * unit)
        }
        _ if value >= 100.0 => format!("{value:.0}"),
        _ => significant(value),
    }
}

/// Two digits of what is small.
fn significant(value: f64) -> String {
    if value <= 0.0 {
        return "0".to_owned();
    }
    let digits = (1.0 - value.log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// To an order of magnitude.
fn duration(seconds: f64) -> String {
    let units = [
        (86_400.0 * 365.0, "y"),
        (86_400.0, "d"),
        (3_600.0, "h"),
        (60.0, "min"),
        (1.0, "s"),
        (1e-3, "ms"),
        (1e-6, "µs"),
    ];
    in_units(seconds, &units, "0 s")
}

fn size(bytes: f64) -> String {
    in_units(bytes, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")], "0 B")
}

fn in_units(value: f64, units: &[(f64, &str)], none: &str) -> String {
    // One digit, so that it does not look exact.
    let magnitude = 10f64.powf(value.max(1e-300).log10().floor());
    let value = (value / magnitude).round() * magnitude;
    let unit = units.iter().find(|(unit, _)| value >= *unit * (1.0 - 1e-9));
    unit.map_or_else(|| none.to_owned(), |(unit, name)| format!("{:.0} {name}", value / unit))
}
