//! A session as parts of a state, and back.
//!
//! | part | what | changes with |
//! | ---- | ---- | ------------ |
//! | `description` | how keys are named, what was bought | – |
//! | `data` | the counted keys, 65 536 a piece | – |
//! | `points` | of packed booleans, those behind the keys, 65 536 a piece | – |
//! | `release` | of a guarded session, the release file, 64 MiB a piece | – |
//! | `head` | plan, noisy threshold, number of answers | before an answer is drawn, and after it |
//! | `hypothesis` | the first guess, then what each correction changed, one a part | each answer from the data |
//! | `answer` | query's name and answer, one a part | – |

use super::create::Kind;
use super::request::Request;
use crate::failure::Failure;
use crate::input::Source as Input;
use crate::output::plural;
use crate::progress::Progress;
use crate::records::{Contents, Record, Records, Tally};
use crate::state::{Part, StateFile};
use rand::CryptoRng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tamis::interactive::{
    Answer, Data, Entry, GuardedRelease, Head, Learner, Plan, Query, Refusal, Refused, Session, Source,
    SparsePerceptron, State, StoredPerceptron, StoredWeights,
};
use tamis::noise::Budget;
use tamis::projection::ReleaseFile;
use tamis::queries::{Columns, Fingerprint, FingerprintKey, Histogram, KeyKind, Keys};

/// What does not change, but for the data.
#[derive(Serialize, Deserialize)]
pub struct Description {
    pub kind: Kind,
    pub unit: String,
    key: Vec<String>,
    bits: Option<Vec<String>>,
    fingerprint_key: [u8; 16],
    /// Different keys of the data.
    distinct: u64,
    /// What was offered.
    pub budget: Budget,
    /// What it costs.
    pub cost: Budget,
}

impl Description {
    pub const PART: &str = "description";

    pub fn new(request: &Request, keys: &Keys, table: &Table) -> Self {
        Self {
            kind: request.kind,
            unit: request.records.unit.name().to_owned(),
            key: request.records.key.clone(),
            bits: request.records.bits.as_ref().map(|columns| columns.names().to_vec()),
            fingerprint_key: keys.fingerprint_key().bytes(),
            distinct: table.histogram.distinct() as u64,
            budget: request.setting.budget.clone(),
            cost: request.cost.clone(),
        }
    }

    pub fn read(file: &StateFile) -> Result<Self, Failure> {
        file.json(Self::PART, 0)
    }

    /// How keys are named.
    pub fn keys(&self, file: &StateFile) -> Result<Keys, Failure> {
        let kind = match &self.bits {
            Some(names) => KeyKind::Bits(Columns::new(names.clone()).map_err(|error| file.damaged(error))?),
            None => KeyKind::Text,
        };
        let key = FingerprintKey::new(self.fingerprint_key);
        Keys::new(self.key.iter().map(String::as_str), kind, key).map_err(|error| file.damaged(error))
    }
}

/// The counted keys, and the packed booleans behind them where there are any. Raw data.
pub struct Table {
    histogram: Histogram,
    points: Option<Vec<u128>>,
}

/// Counted keys of a part.
const PIECE: usize = 1 << 16;
/// Bytes of a part of a release file.
const PIECE_OF_RELEASE: usize = 1 << 26;

impl Table {
    const PART: &str = "data";
    const POINTS: &str = "points";

    /// Reads the whole table, or fails at its first malformed row.
    pub fn read(
        records: &Records,
        rows_per_unit: u32,
        keys: &Keys,
        source: &Input,
        progress: &Progress,
    ) -> Result<(Self, Contents), Failure> {
        let mut tally = Tally::new(records, rows_per_unit, keys);
        let mut points = BTreeSet::new();
        let mut contents = records.read(keys, source, progress, |record: &Record| {
            if let (KeyKind::Bits(columns), [cell]) = (keys.kind(), record.cells) {
                points.insert(columns.parse_bits(cell).map_err(|error| error.to_string())?);
            }
            tally.add(record)
        })?;
        let histogram = tally.finish(source, &mut contents)?;
        let points = matches!(keys.kind(), KeyKind::Bits(_)).then(|| points.into_iter().collect());
        Ok((Self { histogram, points }, contents))
    }

    /// As queries are asked of it.
    pub fn into_data(self, keys: &Keys) -> Result<Data, Failure> {
        let (KeyKind::Bits(columns), Some(points)) = (keys.kind(), self.points) else {
            return Ok(Data::keys(self.histogram));
        };
        Data::named_points(self.histogram, columns.width(), keys.fingerprint_key(), points)
            .map_err(|error| Failure::input(error, "this is a fault of tamis, please report it"))
    }

    /// Counted keys by fingerprint, then points.
    pub fn parts(&self) -> Vec<Part> {
        let counts = self.histogram.entries().chunks(PIECE).enumerate().map(|(at, piece)| {
            let bytes = piece.iter().flat_map(|(key, count)| [key.get().to_le_bytes(), count.to_le_bytes()]);
            Part::bytes(Self::PART, at as u64, bytes.flatten().collect())
        });
        let points = self.points.iter().flat_map(|points| points.chunks(PIECE)).enumerate().map(|(at, piece)| {
            Part::bytes(Self::POINTS, at as u64, piece.iter().flat_map(|point| point.to_le_bytes()).collect())
        });
        counts.chain(points).collect()
    }

    /// What was kept.
    pub fn of_parts(file: &StateFile, description: &Description, keys: &Keys) -> Result<Self, Failure> {
        let mut builder = Histogram::builder();
        for piece in file.all(Self::PART)? {
            for [key, count] in piece.as_chunks::<8>().0.as_chunks::<2>().0 {
                let (key, count) = (u64::from_le_bytes(*key), i64::from_le_bytes(*count));
                builder
                    .add(Fingerprint::raw(key), count)
                    .map_err(|_| file.damaged("a part is not what it should be"))?;
            }
        }
        let histogram = builder.build();
        if histogram.distinct() as u64 != description.distinct {
            return Err(file.damaged("a part is missing"));
        }
        let mut points = Vec::new();
        for piece in file.all(Self::POINTS)? {
            points.extend(piece.as_chunks::<16>().0.iter().map(|point| u128::from_le_bytes(*point)));
        }
        let points = matches!(keys.kind(), KeyKind::Bits(_)).then_some(points);
        Ok(Self { histogram, points })
    }
}

/// An answer as it is kept.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    pub name: String,
    pub entry: Entry,
}

impl Kept {
    const PART: &str = "answer";

    /// All of them, in order.
    pub fn all(file: &StateFile) -> Result<Vec<Self>, Failure> {
        file.all_json(Self::PART)
    }
}

/// A session of either kind.
pub enum Engine<'data> {
    Plain(Box<Session<'data>>),
    Guarded(Box<Session<'data, GuardedRelease>>),
}

const HEAD: &str = "head";
const HYPOTHESIS: &str = "hypothesis";
const RELEASE: &str = "release";

impl<'data> Engine<'data> {
    /// Goes on where the state stopped.
    pub fn resume(
        file: &StateFile,
        description: &Description,
        transcript: Vec<Entry>,
        data: &'data Data,
    ) -> Result<Self, Failure> {
        let head: Head = file.json(HEAD, 0)?;
        if description.kind != Kind::Guarded {
            let pieces = file.all_json(HYPOTHESIS)?;
            let plain = || {
                let weights = StoredWeights::latest(pieces)?;
                Session::restore(State { head, weights, transcript }, data)
            };
            return plain().map(Box::new).map(Self::Plain).map_err(|refusal| file.damaged(refusal));
        }
        let release = file.all(RELEASE)?.concat();
        let release = ReleaseFile::read(&release[..]).map_err(|error| file.damaged(error))?.release;
        let pieces = file.all_json(HYPOTHESIS)?;
        let learned = pieces.len() as u64;
        let guarded = || {
            let residual = SparsePerceptron::restore(&StoredPerceptron::latest(pieces)?)?;
            let hypothesis = GuardedRelease::with_residual(release, head.plan().setting().records, residual)?;
            Session::resume(head, hypothesis, transcript, data)
        };
        let session = guarded().map_err(|refusal| file.damaged(refusal))?;
        if session.plan().learner() != Learner::GuardedRelease {
            return Err(file.damaged("its plan is of another mode"));
        }
        let engine = Self::Guarded(Box::new(session));
        if learned != 1 + engine.corrections() {
            return Err(file.damaged("hypothesis and noisy threshold are of different moments"));
        }
        Ok(engine)
    }

    /// All that a session that has just begun must keep.
    pub fn first_parts(&self, keys: &Keys, records: &Records) -> Result<Vec<Part>, Failure> {
        let mut parts = vec![self.head()?, self.first_guess()?];
        if let Self::Guarded(session) = self {
            let release = session.hypothesis().release().clone();
            let unit = records.released_unit();
            let mut bytes = Vec::new();
            let written = ReleaseFile { release, keys: keys.clone(), unit, records: None }.write(&mut bytes);
            written.map_err(|error| Failure::input(error, "give a larger --epsilon, or fewer heavy keys"))?;
            let pieces = bytes.chunks(PIECE_OF_RELEASE).enumerate();
            parts.extend(pieces.map(|(at, piece)| Part::bytes(RELEASE, at as u64, piece.to_vec())));
        }
        Ok(parts)
    }

    /// What every answer changes.
    pub fn head(&self) -> Result<Part, Failure> {
        let head = match self {
            Self::Plain(session) => session.head(),
            Self::Guarded(session) => session.head(),
        };
        Part::json(HEAD, 0, &head)
    }

    /// The same as if a correction, or so many answers, had been used up already.
    pub fn charged_head<R: CryptoRng + ?Sized>(&self, answers: u64, rng: &mut R) -> Result<Part, Failure> {
        let head = match self {
            Self::Plain(session) => session.charged_head(answers, rng),
            Self::Guarded(session) => session.charged_head(answers, rng),
        };
        Part::json(HEAD, 0, &head)
    }

    /// The hypothesis before it learns.
    fn first_guess(&self) -> Result<Part, Failure> {
        match self {
            Self::Plain(session) => Part::json(HYPOTHESIS, 0, &session.hypothesis().store()),
            Self::Guarded(session) => Part::json(HYPOTHESIS, 0, &session.hypothesis().residual().store()),
        }
    }

    /// What an answer from the data has just changed.
    pub fn learned(&self, query: &Query) -> Result<Part, Failure> {
        let correction = self.corrections();
        match self {
            Self::Plain(session) => Part::json(HYPOTHESIS, correction, &session.hypothesis().store_keys_of(query)),
            Self::Guarded(session) => {
                Part::json(HYPOTHESIS, correction, &session.hypothesis().residual().store_keys_of(query))
            }
        }
    }

    /// How many were made; none in a Gaussian session.
    pub fn corrections(&self) -> u64 {
        self.plan().updates().map_or(0, |updates| u64::from(updates.get()) - self.left() - self.lost())
    }

    /// Corrections, or answers, that were charged and lost with a process that ended.
    pub fn lost(&self) -> u64 {
        match self {
            Self::Plain(session) => session.lost(),
            Self::Guarded(session) => session.lost(),
        }
    }

    /// The last answer, under the name that it was asked for.
    pub fn last(&self, name: &str) -> Result<Part, Failure> {
        let transcript = self.transcript();
        // Cannot fail: called after an answer that is not repeated.
        let entry = *transcript.last().expect("an answer");
        Part::json(Kept::PART, transcript.len() as u64 - 1, &Kept { name: name.to_owned(), entry })
    }

    pub fn answer<R: CryptoRng + ?Sized>(&mut self, query: &Query, rng: &mut R) -> Result<Answer, Refusal> {
        match self {
            Self::Plain(session) => session.answer(query, rng),
            Self::Guarded(session) => session.answer(query, rng),
        }
    }

    /// The answer to the same query, if it was asked before.
    pub fn recall(&self, query: &Query) -> Option<Answer> {
        match self {
            Self::Plain(session) => session.recall(query),
            Self::Guarded(session) => session.recall(query),
        }
    }

    /// Whether new answers are guesses of which nothing is promised.
    pub fn is_blind(&self) -> bool {
        match self {
            Self::Plain(session) => session.is_blind(),
            Self::Guarded(session) => session.is_blind(),
        }
    }

    /// That of a release's answer, or of the noise in one from the data; of weights nothing is known.
    ///
    /// # Errors
    /// If the query is not for such a session.
    pub fn standard_error(&self, query: &Query, answer: &Answer) -> Result<Option<f64>, Refused> {
        match (self, answer.source) {
            (Self::Guarded(session), Source::Data) => Ok(Some(session.noise_standard_deviation())),
            (Self::Guarded(session), _) => session.hypothesis().standard_error(query).map(Some),
            (Self::Plain(session), Source::Data) => Ok(Some(session.noise_standard_deviation())),
            (Self::Plain(_), _) => Ok(None),
        }
    }

    pub fn plan(&self) -> &Plan {
        match self {
            Self::Plain(session) => session.plan(),
            Self::Guarded(session) => session.plan(),
        }
    }

    /// Comparisons that were perhaps made by a process that ended, and count for the bound.
    pub fn forgotten(&self) -> u64 {
        match self {
            Self::Plain(session) => session.forgotten(),
            Self::Guarded(session) => session.forgotten(),
        }
    }

    /// Corrections left; of a Gaussian session, answers.
    pub fn left(&self) -> u64 {
        match self {
            Self::Plain(session) => session.left(),
            Self::Guarded(session) => session.left(),
        }
    }

    /// The same, and of how many.
    pub fn left_of_all(&self) -> String {
        let plan = self.plan();
        let all = match plan.updates() {
            Some(updates) => plural(updates.get().into(), "correction"),
            None => plural(plan.setting().queries.get(), "answer"),
        };
        let lost = match self.lost() {
            0 => String::new(),
            lost => format!(" ({lost} lost with a run that was cut off, perhaps after they were drawn)"),
        };
        format!("{} of {all}{lost}", self.left())
    }

    pub fn transcript(&self) -> &[Entry] {
        match self {
            Self::Plain(session) => session.transcript(),
            Self::Guarded(session) => session.transcript(),
        }
    }
}
