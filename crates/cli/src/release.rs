//! `tamis release`: one private file from a table, from which any number of key lists are answered.

mod destination;
mod explain;
mod ingest;
mod request;

use crate::failure::Failure;
use crate::input::Source;
use crate::output::{Format, note, plural};
use crate::progress::Progress;
use crate::records::Contents;
use destination::Destination;
use explain::Explanation;
use ingest::Data;
use rand::CryptoRng;
use request::Request;
use std::path::{Path, PathBuf};
use tamis::projection::{ReleaseFile, Seed, SignFamily};
use tamis::queries::FingerprintKey;

const EXAMPLES: &str = "\
Examples:
  What would the answers be worth? (reads no data)
    tamis release --explain --records 1000000 --support 10000 --unit row \\
        --epsilon 1 --neighbours add-remove
  A table with a customer a row, whose e-mail addresses partners will ask for:
    tamis release customers.csv --key email --unit row --epsilon 1 \\
        --neighbours add-remove --records 1000000 --out customers.tamis
    tamis answer customers.tamis --list audience.txt
  Visits, of which at most 5 of each visitor count:
    tamis release visits.parquet --key place,day --unit visitor \\
        --max-rows 5 --epsilon 1 --neighbours add-remove --records 200000 \\
        --out visits.tamis
  Counted data with a few heavy keys, which are released apart (needs delta):
    tamis release examples/us_baby_names_1880_2017.csv --key name \\
        --count count --unit row --epsilon 1 --delta 1e-10 \\
        --neighbours add-remove --records 350000000 --rows-per-key 800000 \\
        --out names.tamis

What is protected: whoever has the file learns hardly more about one unit of privacy (a person, say) than without that \
unit's rows. Every answer from the file is free, and so is whatever else is computed from it. A second release of the \
same data spends its budget again, and the two add up.

What a unit is, is for you to say. `--unit COL` names the column that tells units apart; of a unit with more than \
--max-rows rows those with the smallest keyed hashes are kept, so that the order of the rows never matters. Units are told \
apart as bytes, as keys are: a person spelt in two ways is two units, so make spellings one before. `--unit row` \
says that each row is a unit of its own; with --count each of the counted records is, not the line that counts them. Where \
one person has several of them, say how many at most with --max-rows: nothing in the data can tell.

What is public: every argument, the file's name among them, and the release. --records is a number to plan by: a rounded \
guess, never the count of private data. The number of rows read and dropped is printed to you alone. The exact number of \
records is in the file only with --publish-records, which is refused where it may depend on whether somebody is there: it is \
for substitute neighbours, where what a record says is protected and not that there is one.

Keys are bytes as they are: no case, space or Unicode form is changed; an empty cell is the empty key. Whole numbers and \
dates in Parquet are the text that a CSV file would hold; floating-point numbers are no keys.

Malformed data: no row is ever skipped. The first malformed row ends the run with exit code 2, names its line and never \
quotes a cell; nothing is written then, and nothing is spent.

--format json or csv prints what was decided and promised to standard output as one object, or as a header and a row.

Exit codes: 0 done; 1 refused on privacy grounds, or because the answers would be worth nothing (--yes); 2 usage or bad \
input; 3 internal error, or a disk that failed: nothing is spent then unless the file is there. A run that is killed may \
leave a file .NAME-….partial beside --out, readable by you alone: it can be a whole release, so delete it unseen, or take its \
budget as spent. The next run for the same file refuses to start while it is there.";

/// Makes one private file from a table, from which any number of key lists are answered.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for examples.")]
pub struct Arguments {
    /// CSV file with a header, Parquet file, or `-` for a CSV text on standard input.
    #[arg(value_name = "FILE|-", required_unless_present = "explain")]
    file: Option<PathBuf>,
    /// The column that queries will ask for, or several, separated by commas (a name with a comma: in double quotes).
    #[arg(long, value_name = "COL[,COL...]", required_unless_present = "explain")]
    key: Option<String>,
    /// The key is packed booleans in hexadecimal, named line by line in this file, the first for the lowest bit.
    #[arg(long, value_name = "COLUMNS_FILE")]
    bits: Option<PathBuf>,
    /// A column that says how many records each row stands for.
    #[arg(long, value_name = "COL")]
    count: Option<String>,
    /// What is protected: the column that tells units of privacy (persons, say) apart, or `row` if each record is a unit.
    /// Cells are compared as bytes: `Ann`, `ann` and `Ann` with a blank are three units, with --max-rows rows each.
    #[arg(long, value_name = "COL|row")]
    unit: String,
    /// At most this many rows of a unit count. Required with `--unit COL`; 1 with `--unit row` if not given.
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    max_rows: Option<String>,

    /// Put the exact number of records into the file. Only with --neighbours substitute and --unit row.
    #[arg(long)]
    publish_records: bool,
    /// Privacy loss ε of the release, as a decimal or a fraction.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: String,
    /// Probability δ with which the loss may be larger.
    #[arg(long, value_name = "D", default_value = "0", allow_hyphen_values = true)]
    delta: String,
    /// What neighbouring data sets are: one unit added or removed, or one unit replaced.
    #[arg(long, value_name = "RELATION", value_parser = ["add-remove", "substitute"])]
    neighbours: String,
    /// Where to write the release.
    #[arg(long, value_name = "FILE", required_unless_present = "explain")]
    out: Option<PathBuf>,

    /// About how many records the data has, to plan by: a public guess, never a count of private data.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    records: Option<String>,
    /// Records that share a record's key, averaged over records (Σn²/Σn over keys with n records), to plan by. A public guess,
    /// never computed from private data; 1 if keys are distinct, and if not given.
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    rows_per_key: Option<String>,
    /// About how many keys a list will have, to plan by: a public guess, never taken from private data. 10000 if not given.
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    support: Option<String>,
    /// State the error that this many answers keep together: a number (in `tamis answer` it is a file).
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    queries: Option<String>,
    /// State it with this probability of failure. 0.05 if not given.
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    beta: Option<String>,
    /// Choose the smallest file with at most this error, in records.
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    error: Option<String>,
    /// The file may have this many bytes. 400000 if not given.
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    file_bytes: Option<String>,

    /// Signs: sparse (a key touches few rows) or dense (all of them). Chosen if not given, as is all that follows.
    #[arg(long, value_enum)]
    signs: Option<SignsKind>,
    /// Rows of the release.
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    width: Option<String>,
    /// How many rows a key touches, with sparse signs.
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    nonzeros: Option<String>,
    /// How many keys have independent signs.
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    independence: Option<String>,
    /// Noise: laplace needs no delta, gaussian does.
    #[arg(long, value_enum)]
    noise: Option<NoiseChoice>,
    /// Release keys with many records apart, with their noisy counts: needs delta. auto: if it is predicted to pay.
    #[arg(long, value_enum, default_value_t = HeavyChoice::Auto)]
    heavy: HeavyChoice,

    /// Print the plan and what its answers are worth, and read no data.
    #[arg(long)]
    explain: bool,
    /// Go on even if the answers are predicted to be worth nothing.
    #[arg(long)]
    yes: bool,
    /// Replace the file if it exists and is a release.
    #[arg(long)]
    force: bool,
    /// What to print to standard output: the plan as text (with --explain alone), JSON or CSV.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print nothing but errors, warnings about privacy and what was asked for by --format.
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SignsKind {
    Sparse,
    Dense,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum NoiseChoice {
    Laplace,
    Gaussian,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum HeavyChoice {
    Auto,
    On,
    Off,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let request = Request::check(&arguments)?;
    let explanation = Explanation::of(&request);
    let (Some(file), Some(out), false) = (&arguments.file, &arguments.out, arguments.explain) else {
        return explanation.print(arguments.format);
    };
    let source = Source::of(file);
    let inputs: Vec<&Path> = [source.path()].into_iter().chain(arguments.bits.as_deref()).collect();
    let destination = Destination::check(out, arguments.force, &inputs)?;
    request.records.check_table(&source)?;
    match explanation.warning() {
        Some(warning) if arguments.quiet => note(false, &format!("warning: {warning}")),
        _ => note(arguments.quiet, explanation.to_string().trim_end()),
    }
    useful(&request, arguments.yes)?;
    // Seeded by the operating system, and cryptographic: there is no flag for a seed.
    let (release, contents) = make(&request, &source, &Progress::new(arguments.quiet), &mut rand::rng())?;
    let bytes = destination.write(&release)?;
    if !arguments.quiet {
        account(&request, &contents, out, bytes);
    }
    match arguments.format {
        Format::Text => Ok(()),
        format => explanation.written(out).print(format).map_err(|failure| failure.having_spent(SPENT)),
    }
}

/// Where the plan cannot be printed.
const SPENT: &str = "look for a full disk; the release is written, and its budget is spent";

/// Refuses to spend a budget on answers that say nothing.
fn useful(request: &Request, insist: bool) -> Result<(), Failure> {
    let plan = &request.plan;
    let (Some(false), Some(error), Some(range)) = (plan.is_useful(), plan.predicted_error(), plan.answer_range())
    else {
        return Ok(());
    };
    if insist {
        return Ok(());
    }
    Err(Failure::refused(
        format_args!(
            "the predicted error of a list of {} is {error:.0} records, and it cannot hold more than {range:.0}",
            plural(plan.stated_support() as u64, "key")
        ),
        "ask for longer lists (--support), allow a larger --epsilon or --file-bytes, release heavy keys apart (--delta, \
         --heavy on), or go on with --yes",
    ))
}

/// Reads the table and makes the release. Private data meets noise here and nowhere else; fingerprint key and signs are drawn
/// before it is read.
fn make<R: CryptoRng + ?Sized>(
    request: &Request,
    source: &Source,
    progress: &Progress,
    rng: &mut R,
) -> Result<(ReleaseFile, Contents), Failure> {
    let mut fingerprint_key = [0; 16];
    rng.fill_bytes(&mut fingerprint_key);
    let keys = request.records.keys(FingerprintKey::new(fingerprint_key))?;
    let family = SignFamily::new(request.plan.shape(), Seed::draw(rng));
    let read = ingest::read(request, &keys, &family, source, progress);
    progress.finish();
    let (data, contents) = read?;
    let release = match data {
        Data::Sketch(sketch) => request.plan.release_sketch(sketch, rng),
        Data::Histogram(histogram) => request.plan.release_with(&family, &histogram, rng),
    };
    let release = release.map_err(|error| request::refusal(&error))?;
    let records = request.publish_records.then_some(contents.records);
    Ok((ReleaseFile { release, keys, unit: request.records.released_unit(), records }, contents))
}

/// Tells the curator what was spent, and on what.
fn account(request: &Request, contents: &Contents, out: &Path, bytes: u64) {
    let out = out.display();
    note(false, &format!("wrote     {out}, {bytes} bytes: this file may be published"));
    let (cost, neighbours) = (request.plan.cost(), request.plan.neighbours());
    note(
        false,
        &format!(
            "spent     {cost}, under {neighbours} neighbours: add it to whatever else is, was or will be released of the same \
             data"
        ),
    );
    let dropped = match request.records.unit.bounded() {
        true => {
            let percentage = 100.0 * contents.dropped as f64 / contents.rows as f64;
            format!(
                ", {} of them ({percentage:.0} %) dropped by --max-rows, by which answers will be too low",
                contents.dropped
            )
        }
        false => String::new(),
    };
    let rows = plural(contents.rows, "row");
    match request.publish_records && request.records.count.is_none() {
        true => note(false, &format!("public    {rows} read, which the file says as you asked (--publish-records)")),
        false => note(false, &format!("private   {rows} read{dropped}: as private as the data, for you alone")),
    }
    if let Some(surprise) = surprise(request.plan.stated_records(), contents.records) {
        note(false, &format!("private   {surprise}; for you alone"));
    }
    let asked = if request.records.bits.is_some() { "--queries QUERIES.jsonl" } else { "--list KEYS.txt" };
    note(false, &format!("next      tamis answer {out} {asked}"));
}

/// What to say of a guess that was far off.
fn surprise(stated: Option<f64>, records: u64) -> Option<String> {
    let stated = stated?;
    let (more, fewer) = (records as f64 / stated, stated / records.max(1) as f64);
    if more >= 4.0 {
        return Some(format!("{more:.0} times as many records as --records says: errors are larger than planned"));
    }
    (fewer >= 4.0).then(|| format!("{fewer:.0} times fewer records than --records says: lists hold less than planned"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    use std::io::Write;
    use std::sync::Arc;
    use tamis::projection::Unit;
    use tempfile::NamedTempFile;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }

    const COMMON: &str = "release FILE --out OUT --epsilon 1 --neighbours add-remove --width 1024";

    /// A release of a file with a generator for tests, and its bytes.
    fn release_with(file: &NamedTempFile, more: &str, seed: u64) -> (ReleaseFile, Contents, Vec<u8>) {
        let words = COMMON.split(' ').chain(more.split(' '));
        let arguments = Command::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).arguments;
        let request = Request::check(&arguments).unwrap();
        let (source, mut rng) = (Source::of(file.path()), StdRng::seed_from_u64(seed));
        let (release, contents) = make(&request, &source, &Progress::new(true), &mut rng).unwrap();
        let mut bytes = Vec::new();
        release.write(&mut bytes).unwrap();
        (release, contents, bytes)
    }

    fn bytes_of(file: &NamedTempFile, more: &str) -> Vec<u8> {
        release_with(file, more, 1).2
    }

    fn csv(header: &str, rows: &[String]) -> NamedTempFile {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        writeln!(file, "{header}").unwrap();
        rows.iter().for_each(|row| writeln!(file, "{row}").unwrap());
        file
    }

    /// Visits: 40 people, 7 of them with many rows, some of which are equal.
    fn visits() -> Vec<String> {
        let user = |row: u32| if row.is_multiple_of(2) { row / 2 % 40 } else { row % 7 };
        (0..500).map(|row| format!("user{},place{},{}", user(row), row % 7, row % 3)).collect()
    }

    /// The three ways in which rows are counted: streamed, by key, by unit.
    const WAYS: [&str; 3] = [
        "--key place --unit row",
        "--key place,user --unit row --delta 1e-6 --heavy on",
        "--key place --unit user --max-rows 4",
    ];

    #[test]
    fn order_of_rows_and_number_of_threads_do_not_matter() {
        let rows = visits();
        let reversed: Vec<String> = rows.iter().rev().cloned().collect();
        let (forward, backward) = (csv("user,place,n", &rows), csv("user,place,n", &reversed));
        for way in WAYS {
            let expected = bytes_of(&forward, way);
            assert_eq!(bytes_of(&backward, way), expected, "{way}");
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| bytes_of(&backward, way)), expected, "{way}, {threads} threads");
            }
            assert_ne!(release_with(&forward, way, 2).2, expected, "{way}");
        }
    }

    /// The same generator draws the same signs and the same noise: what differs is the record.
    #[test]
    fn one_record_more_moves_the_sums_of_its_key_by_one() {
        let mut rows = visits();
        let before = release_with(&csv("user,place,n", &rows), "--key place --unit row --nonzeros 4", 1).0;
        rows.insert(77, "user1,elsewhere,1".to_owned());
        let after = release_with(&csv("user,place,n", &rows), "--key place --unit row --nonzeros 4", 1).0;
        let key = after.keys.fingerprint(&["elsewhere"]).unwrap();
        let column = after.release.family().column(key);
        let mut moved = before.release.values().to_vec();
        column.iter().for_each(|&(row, sign)| moved[row] += sign);
        assert_eq!(column.len(), 4);
        assert_eq!(after.release.values(), moved);
    }

    /// Counted rows are the rows they count, in every order and in pieces.
    #[test]
    fn counted_rows_are_the_rows_they_count() {
        let one_by_one: Vec<String> = ["a", "b", "a", "a", "b", "c"].map(str::to_owned).into();
        let one_by_one = csv("place", &one_by_one);
        let counted = csv("n,place", &["2,a", " 2.0 ,b", "0,d", "1e0,a", "+1,c"].map(str::to_owned));
        for way in ["--key place --unit row", "--key place --unit row --delta 1e-6 --heavy on"] {
            let counted = release_with(&counted, &format!("{way} --count n"), 1).0;
            let one_by_one = release_with(&one_by_one, way, 1).0;
            assert_eq!(counted.release.values(), one_by_one.release.values(), "{way}");
            assert_eq!(counted.release.heavy(), one_by_one.release.heavy(), "{way}");
            assert_eq!((counted.unit, one_by_one.unit), (Unit::Record, Unit::Row));
        }
        let contents = release_with(&counted, "--key place --count n --unit row", 1).1;
        assert_eq!(contents, Contents { rows: 5, records: 6, dropped: 0 });
    }

    #[test]
    fn rows_beyond_the_bound_are_dropped() {
        let file = csv("user,place,n", &visits());
        let contents = release_with(&file, "--key place --unit user --max-rows 4", 1).1;
        assert_eq!((contents.rows, contents.records + contents.dropped), (500, 500));
        assert!(contents.dropped > 300, "{contents:?}");
        // A bound that nobody reaches changes the noise and nothing else: 500 rows are all there.
        assert_eq!(release_with(&file, "--key place --unit user --max-rows 500", 1).1.dropped, 0);
    }

    /// And only where it is asked for.
    #[test]
    fn the_number_of_records_is_published_only_where_it_is_public() {
        let file = csv("user,place,n", &visits());
        let published = |more: &str| {
            let words = COMMON.replace("add-remove", "substitute");
            let words = words.split(' ').chain(more.split(' '));
            let request = Request::check(&Command::try_parse_from(words).unwrap().arguments)?;
            let mut rng = StdRng::seed_from_u64(1);
            Ok::<_, Failure>(make(&request, &Source::of(file.path()), &Progress::new(true), &mut rng)?.0.records)
        };
        assert_eq!(published("--key place --unit row").unwrap(), None);
        assert_eq!(published("--key place --unit row --publish-records").unwrap(), Some(500));
        assert_eq!(published("--key place --unit row --count n --publish-records").unwrap(), Some(499));
        for refused in ["--unit user --max-rows 1", "--unit row --max-rows 2", "--unit user --max-rows 2"] {
            let refused = published(&format!("--key place {refused} --publish-records"));
            assert!(matches!(refused, Err(Failure::Refused(_))), "{refused:?}");
        }
        let added = COMMON.split(' ').chain("--key place --unit row --publish-records".split(' '));
        let added = Request::check(&Command::try_parse_from(added).unwrap().arguments);
        assert!(matches!(added, Err(Failure::Refused(_))), "{added:?}");
    }

    #[test]
    fn parquet_and_csv_hold_the_same_keys() {
        let rows = visits();
        let cells: Vec<Vec<&str>> = rows.iter().map(|row| row.split(',').collect()).collect();
        let schema = "message table { required int64 n; required binary user (UTF8); optional binary place (UTF8); }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let file = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(file.reopen().unwrap(), schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let numbers: Vec<i64> = cells.iter().map(|row| row[2].parse().unwrap()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
        for (at, levels) in [(0, None), (1, Some(vec![1; cells.len()]))] {
            let texts: Vec<ByteArray> = cells.iter().map(|row| ByteArray::from(row[at])).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&texts, levels.as_deref(), None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        let text = csv("user,place,n", &rows);
        // Several columns in any order, whole numbers as keys, one column twice, counts.
        for way in WAYS.into_iter().chain([
            "--key n,place --unit user --max-rows 3",
            "--key user --unit user --max-rows 3",
            "--key place --count n --unit row",
        ]) {
            assert_eq!(bytes_of(&file, way), bytes_of(&text, way), "{way}");
        }
    }

    #[test]
    fn guesses_that_were_far_off_are_told() {
        assert_eq!(surprise(None, 7), None);
        assert_eq!((surprise(Some(100.0), 399), surprise(Some(100.0), 26)), (None, None));
        assert!(surprise(Some(100.0), 20_000).unwrap().starts_with("200 times as many records as --records says"));
        assert!(surprise(Some(100.0), 25).unwrap().starts_with("4 times fewer records"));
        assert!(surprise(Some(100.0), 0).unwrap().starts_with("100 times fewer records"));
    }

    /// Fewer rows than a batch, exactly as many, and one more.
    #[test]
    fn batches_do_not_matter() {
        for rows in [ingest::BATCH - 1, ingest::BATCH, ingest::BATCH + 1] {
            let rows: Vec<String> = (0..rows).map(|row| format!("{}", row % 1000)).collect();
            let file = csv("key", &rows);
            let streamed = release_with(&file, "--key key --unit row", 1).0;
            let mut whole = tamis::queries::Histogram::builder();
            for row in &rows {
                whole.add(streamed.keys.fingerprint(&[row]).unwrap(), 1).unwrap();
            }
            let sketch = tamis::projection::Sketch::of(streamed.release.family(), &whole.build()).unwrap();
            // The noise of scale 1 is nowhere beyond 60, but for a probability of 1024·e⁻⁶⁰.
            let pairs = sketch.counters().iter().zip(streamed.release.values());
            assert!(pairs.into_iter().all(|(sum, value)| sum.abs_diff(*value) <= 60));
        }
    }
}
