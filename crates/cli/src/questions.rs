//! Queries as they come from files: key lists, and JSON lines.

use crate::failure::Failure;
use crate::input::{Fields, Source, nearest};
use crate::output::{note, plural, quoted};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use tamis::interactive;
use tamis::noise::{Rational, parse_rational};
use tamis::queries::{Conjunction, Fingerprint, KeyKind, Keys, QueryError, SparseQuery};

/// One query, and where it stands.
pub struct Question {
    pub name: String,
    place: String,
    asked: Asked,
}

enum Asked {
    Listed(SparseQuery),
    Conjunction(Conjunction),
}

impl Question {
    /// A query that was typed: a JSON object as in a file, its `conjunction` alone, or keys with commas between them.
    pub fn typed(text: &str, number: u64, keys: &Keys) -> Result<Self, Failure> {
        let name = format!("query {number}");
        let asked = match serde_json::from_str::<Literals>(text) {
            Ok(literals) => conjunction(&literals, keys).map(Asked::Conjunction),
            Err(_) if text.trim_start().starts_with('{') => return question(text, number, keys),
            Err(_) => typed_keys(text, number, keys).map(Asked::Listed).map_err(|error| (error, wanted(keys))),
        };
        let asked = asked.map_err(|(error, help)| Failure::input(error, help))?;
        Ok(Self { place: name.clone(), name, asked })
    }

    /// Where it stands.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// How many keys it has, about.
    pub fn weight(&self) -> usize {
        match &self.asked {
            Asked::Listed(query) => query.support() + 1,
            // One with more is refused.
            Asked::Conjunction(conjunction) => conjunction.support().min(Conjunction::MAX_SUPPORT as f64) as usize,
        }
    }

    /// Its name, and the query as a session takes it: a conjunction is not listed.
    pub fn adaptive(self, keys: &Keys) -> (String, interactive::Query) {
        let query = match self.asked {
            Asked::Listed(query) => interactive::Query::keys(query),
            Asked::Conjunction(conjunction) => interactive::Query::conjunction(conjunction, *keys.fingerprint_key()),
        };
        (self.name, query)
    }

    /// Its name and the query itself.
    pub fn query(self, keys: &Keys) -> Result<(String, SparseQuery), Failure> {
        let query = match self.asked {
            Asked::Listed(query) => query,
            Asked::Conjunction(conjunction) => conjunction.query(keys.fingerprint_key()).map_err(|error| {
                Failure::input(format_args!("{}: {error}", self.place), "a literal is fixed to true or to false")
            })?,
        };
        Ok((self.name, query))
    }
}

/// Queries in order, or the first failure.
pub type Questions<'a> = Box<dyn Iterator<Item = Result<Question, Failure>> + 'a>;

/// One query a file.
pub fn of_lists<'a>(files: &'a [PathBuf], keys: &'a Keys, quiet: bool) -> Result<Questions<'a>, Failure> {
    let mut seen = HashMap::new();
    for file in files {
        let name = list_name(file);
        if let Some(first) = seen.insert(name.clone(), file) {
            return Err(Failure::input(
                format_args!("--list: {} and {} would both be called {name:?}", first.display(), file.display()),
                "rename one of the files, or answer them one by one",
            ));
        }
    }
    Ok(Box::new(files.iter().map(move |file| list(file, keys, quiet))))
}

/// One query a line, from standard input or a file.
pub fn of_file<'a>(source: &Source, keys: &'a Keys) -> Result<Questions<'a>, Failure> {
    let mut lines = source.lines()?.up_to(LONGEST);
    let mut names = HashMap::new();
    let mut next = move || {
        let number = lines.number() + 1;
        let Some(text) = lines.next()? else { return Ok(None) };
        let question = question(text, number, keys)?;
        if let Some(first) = names.insert(question.name.clone(), number) {
            return Err(Failure::input(
                format_args!("line {number}: the query of line {first} has the same name"),
                "give every query a name of its own",
            ));
        }
        Ok(Some(question))
    };
    Ok(Box::new(std::iter::from_fn(move || next().transpose())))
}

/// Longest line with a query, in bytes: ten million keys.
const LONGEST: usize = 1 << 28;

fn list_name(file: &Path) -> String {
    if Source::of(file) == Source::Stdin {
        return "stdin".to_owned();
    }
    file.file_stem().map_or_else(|| "list".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// The keys of a list, one a line.
fn list(file: &Path, keys: &Keys, quiet: bool) -> Result<Question, Failure> {
    let source = Source::of(file);
    let mut lines = source.lines()?;
    let mut fields = Fields::new();
    let mut fingerprints = Vec::new();
    let mut spelling = Spelling::default();
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next().map_err(|failure| failure.about(&source))? else { break };
        spelling.look_at(line);
        let fingerprint = listed(line, number, keys, &mut fields)
            .map_err(|fault| Failure::input(format_args!("{source}, line {number}: {fault}"), wanted(keys)))?;
        if number == 1 && line == keys.columns().join(",") {
            note(
                quiet,
                &format!(
                    "note: line 1 of {source} is the name of the key: it is taken for a key, a list has no header"
                ),
            );
        }
        fingerprints.push(fingerprint);
    }
    let lines = fingerprints.len();
    if lines == 0 {
        note(quiet, &format!("note: {source} is empty: it lists no key, and the true answer is 0"));
    }
    if keys.columns().len() == 1 {
        spelling.notes(lines).iter().for_each(|text| note(quiet, &format!("note: {source}: {text}")));
    }
    let query = SparseQuery::count(fingerprints);
    let merged = (lines - query.support()) as u64;
    if merged > 0 {
        note(quiet, &format!("{source}: {} listed before, counted once", plural(merged, "key")));
    }
    Ok(Question { name: list_name(file), place: source.to_string(), asked: Asked::Listed(query) })
}

/// What a list has from the program that wrote it, more likely than from the table.
#[derive(Default)]
struct Spelling {
    in_quotes: usize,
    blank_at_an_end: usize,
}

impl Spelling {
    fn look_at(&mut self, line: &str) {
        self.in_quotes += usize::from(line.len() > 1 && line.starts_with('"') && line.ends_with('"'));
        self.blank_at_an_end += usize::from(line.starts_with([' ', '\t']) || line.ends_with([' ', '\t']));
    }

    fn notes(&self, lines: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if lines > 0 && self.in_quotes == lines {
            notes.push("every line is in double quotes, which are taken for part of the key".to_owned());
        }
        if self.blank_at_an_end > 0 {
            let lines = plural(self.blank_at_an_end as u64, "line");
            notes.push(format!("blanks at the start or end of a line are taken for part of the key: {lines}"));
        }
        notes
    }
}

/// A key in a line: of one column, the line as it is.
fn listed(line: &str, number: u64, keys: &Keys, fields: &mut Fields) -> Result<Fingerprint, String> {
    if keys.columns().len() == 1 {
        return keys.fingerprint(&[line]).map_err(|error| error.to_string());
    }
    let cells = fields.split(line, number).map_err(|failure| failure.message())?;
    keys.fingerprint(&cells.iter().collect::<Vec<_>>()).map_err(|error| error.to_string())
}

/// Keys on one line: of several columns, one key alone.
fn typed_keys(text: &str, number: u64, keys: &Keys) -> Result<SparseQuery, String> {
    let mut fields = Fields::new();
    if keys.columns().len() > 1 {
        return Ok(SparseQuery::count([listed(text, number, keys, &mut fields)?]));
    }
    let cells = fields.split(text, number).map_err(|failure| failure.message())?;
    let fingerprints = cells.iter().map(|cell| keys.fingerprint(&[cell.trim()]).map_err(|error| error.to_string()));
    Ok(SparseQuery::count(fingerprints.collect::<Result<Vec<_>, _>>()?))
}

/// What a key is, for who got it wrong.
fn wanted(keys: &Keys) -> String {
    let columns = keys.columns();
    match keys.kind() {
        KeyKind::Bits(names) => {
            format!("keys are {} booleans here, in hexadecimal; ask for conjunctions with --queries", names.width())
        }
        KeyKind::Text if columns.len() == 1 => format!("a key is a {:?} here", columns[0]),
        KeyKind::Text => {
            format!("a key is {} here, with commas between them, as in a CSV file", quoted(columns))
        }
    }
}

/// A line with a query, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    name: String,
    keys: Option<Vec<Cells>>,
    #[serde(borrow)]
    weights: Option<Vec<&'a RawValue>>,
    conjunction: Option<Literals>,
}

fn question(text: &str, number: u64, keys: &Keys) -> Result<Question, Failure> {
    let place = format!("line {number}");
    let fault = |fault: &dyn fmt::Display, help: &str| Failure::input(format_args!("{place}: {fault}"), help);
    // An array would do for the library.
    if !text.trim_start().starts_with('{') {
        return Err(fault(&"a query is a JSON object", SHAPE));
    }
    let written: Written = serde_json::from_str(text)
        .map_err(|error| Failure::input(format_args!("{place}, {}", unread(&error)), SHAPE))?;
    if written.name.is_empty() {
        return Err(fault(&"the query has an empty name", "answers are told apart by the names of queries"));
    }
    let asked = match (written.keys, written.weights, written.conjunction) {
        (Some(cells), weights, None) => {
            let fingerprints = fingerprints(&cells, keys).map_err(|error| fault(&error, &wanted(keys)))?;
            Asked::Listed(weighted(fingerprints, weights.as_deref()).map_err(|error| fault(&error, WEIGHTS))?)
        }
        (None, None, Some(literals)) => {
            Asked::Conjunction(conjunction(&literals, keys).map_err(|(error, help)| fault(&error, &help))?)
        }
        (None, Some(_), _) => return Err(fault(&"weights without keys", SHAPE)),
        _ => return Err(fault(&"a query has either \"keys\" or a \"conjunction\"", SHAPE)),
    };
    Ok(Question { name: written.name, place, asked })
}

/// Where a line is no query, and what was wanted there. What was found is not repeated: it may be a key.
fn unread(error: &serde_json::Error) -> String {
    let (column, text) = (error.column(), error.to_string());
    // The line is known better by the caller: here every text is line 1.
    let text = text.rsplit_once(" at line 1").map_or(text.as_str(), |(text, _)| text);
    let wanted =
        text.rsplit_once(", expected ").map_or_else(|| text.to_owned(), |(_, wanted)| format!("expected {wanted}"));
    format!("column {column}: {wanted}")
}

const SHAPE: &str = "a query is {\"name\": \"…\", \"keys\": [\"…\", …]}, perhaps with \"weights\": [1, 0.5, …], or \
                     {\"name\": \"…\", \"conjunction\": {\"literal\": true, …}}, on one line";

const WEIGHTS: &str = "give each key one weight from 0 to 1, as a number or as text such as \"1/3\"";

fn fingerprints(cells: &[Cells], keys: &Keys) -> Result<Vec<Fingerprint>, String> {
    let fingerprint = |(at, cells): (usize, &Cells)| {
        let cells: Vec<&str> = cells.0.iter().map(String::as_str).collect();
        keys.fingerprint(&cells).map_err(|error| format!("key {}: {error}", at + 1))
    };
    cells.iter().enumerate().map(fingerprint).collect()
}

fn weighted(fingerprints: Vec<Fingerprint>, weights: Option<&[&RawValue]>) -> Result<SparseQuery, String> {
    let Some(weights) = weights else { return Ok(SparseQuery::count(fingerprints)) };
    if weights.len() != fingerprints.len() {
        return Err(format!("the number of keys is {}, that of weights {}", fingerprints.len(), weights.len()));
    }
    let weight =
        |(at, raw): (usize, &&RawValue)| weight(raw).ok_or_else(|| format!("weight {} is not a number", at + 1));
    let weights = weights.iter().enumerate().map(weight).collect::<Result<Vec<_>, _>>()?;
    SparseQuery::weighted(fingerprints.into_iter().zip(weights)).map_err(|error| match error {
        QueryError::Weight { position, .. } => format!("weight {} is not from 0 to 1", position + 1),
        QueryError::Conflict { first, second } => {
            format!("keys {} and {} are the same and have different weights", first.0 + 1, second.0 + 1)
        }
        other => other.to_string(),
    })
}

/// A number as it is written, or the same as text: exactly.
fn weight(raw: &RawValue) -> Option<Rational> {
    let text = raw.get();
    parse_rational(text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text))
}

fn conjunction(literals: &Literals, keys: &Keys) -> Result<Conjunction, (String, String)> {
    let KeyKind::Bits(columns) = keys.kind() else {
        return Err(("a conjunction is about packed booleans, and keys are text here".to_owned(), wanted(keys)));
    };
    let fixed = literals.0.iter().map(|(name, value)| (name.as_str(), *value));
    columns.conjunction(fixed).map_err(|error| {
        let unknown = literals.0.iter().find(|(name, _)| !columns.names().contains(name));
        let near = unknown.and_then(|(name, _)| nearest(columns.names(), name));
        let help = near.map_or_else(
            || "`tamis inspect` lists the literals".to_owned(),
            |near| format!("did you mean {near:?}? `tamis inspect` lists the literals"),
        );
        (error.to_string(), help)
    })
}

/// The cells of a key: a string, or an array of strings.
struct Cells(Vec<String>);

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Key;
        impl<'de> Visitor<'de> for Key {
            type Value = Cells;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a key as a string, or as an array of strings")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Cells, E> {
                Ok(Cells(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<Cells, A::Error> {
                let mut key = Vec::new();
                while let Some(cell) = cells.next_element()? {
                    key.push(cell);
                }
                Ok(Cells(key))
            }
        }
        deserializer.deserialize_any(Key)
    }
}

/// The literals of a conjunction in order: one that is named twice is not lost.
struct Literals(Vec<(String, bool)>);

impl<'de> Deserialize<'de> for Literals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Literals;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object of literals, each true or false")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Literals, A::Error> {
                let mut literals = Vec::new();
                while let Some(literal) = map.next_entry()? {
                    literals.push(literal);
                }
                Ok(Literals(literals))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis::queries::{Columns, FingerprintKey};

    fn keys(columns: &[&str], kind: KeyKind) -> Keys {
        Keys::new(columns.iter().copied(), kind, FingerprintKey::new([3; 16])).unwrap()
    }

    fn typed(text: &str, keys: &Keys) -> SparseQuery {
        let question = Question::typed(text, 7, keys).unwrap_or_else(|failure| panic!("{}", failure.message()));
        question.query(keys).unwrap().1
    }

    /// What is typed is what a file would hold.
    #[test]
    fn what_is_typed_is_a_query() {
        let names = keys(&["name"], KeyKind::Text);
        let list = typed(r#"{"name": "q", "keys": ["ann", "bob, jr."]}"#, &names);
        assert_eq!(typed("ann ,\"bob, jr.\"", &names).entries(), list.entries());
        let places = keys(&["name", "place"], KeyKind::Text);
        let pair = typed(r#"{"name": "q", "keys": [["ann", "x"]]}"#, &places);
        assert_eq!(typed("ann,x", &places).entries(), pair.entries());
        let bits = keys(&["packed"], KeyKind::Bits(Columns::new(["a", "b", "c"]).unwrap()));
        let conjunction = typed(r#"{"name": "q", "conjunction": {"a": true, "c": false}}"#, &bits);
        assert_eq!(typed(r#"{"a": true, "c": false}"#, &bits).entries(), conjunction.entries());
        for (text, keys) in [("ann", &places), ("{", &names), (r#"{"d": true}"#, &bits), ("8", &bits), ("\"", &names)] {
            assert!(Question::typed(text, 7, keys).is_err(), "{text}");
        }
    }
}
