//! What a release file says of its values: texts under names, and the way back.

use super::{FileError, ReleaseFile};
use crate::{Noise, Plan, PlanRecord, Seed, Shape, Signs};
use std::collections::BTreeMap;
use std::str::FromStr;
use tamis_noise::{Budget, DiscreteGaussian, DiscreteLaplace};
use tamis_queries::{Columns, FingerprintKey, KeyKind, Keys};

/// Of every name.
pub(super) const PREFIX: &str = "tamis.";
/// Of the format.
const VERSION: &str = "1";
const MECHANISM: &str = "projection";
/// Of the [families](crate::family).
const FAMILY: &str = "1";
const FINGERPRINT: &str = "SipHash-2-4";

/// All that is to be said.
pub(super) fn of(file: &ReleaseFile) -> Vec<(&'static str, String)> {
    let plan = file.release.plan();
    let PlanRecord { cost, neighbours, rows_per_unit, shape, noise, stated_squared_norm, stated_support } =
        plan.record();
    let (signs, nonzeros) = match shape.signs() {
        Signs::Dense => ("dense", None),
        Signs::Sparse { nonzeros } => ("sparse", Some(nonzeros.to_string())),
    };
    let (kind, scale, variance) = match noise {
        Noise::Laplace(noise) => ("laplace", Some(noise.scale().to_string()), None),
        Noise::Gaussian(noise) => ("gaussian", None, Some(noise.variance().to_string())),
    };
    let (key_kind, bits) = match file.keys.kind() {
        KeyKind::Text => ("text", None),
        KeyKind::Bits(columns) => ("bits", Some(json(columns.names()))),
    };
    let said = [
        ("format", Some(VERSION.to_owned())),
        ("mechanism", Some(MECHANISM.to_owned())),
        ("privacy", Some(plan.privacy())),
        ("epsilon", Some(cost.epsilon().to_string())),
        ("delta", Some(cost.delta().to_string())),
        ("neighbours", Some(neighbours.to_string())),
        ("unit", Some(file.unit.clone())),
        ("rows_per_unit", Some(rows_per_unit.to_string())),
        ("signs", Some(signs.to_owned())),
        ("width", Some(shape.width().to_string())),
        ("nonzeros", nonzeros),
        ("independence", Some(shape.independence().to_string())),
        ("family", Some(FAMILY.to_owned())),
        ("seed", Some(hexadecimal(&file.release.family().seed().0))),
        ("noise", Some(kind.to_owned())),
        ("noise_scale", scale),
        ("noise_variance", variance),
        ("key_columns", Some(json(file.keys.columns()))),
        ("key_kind", Some(key_kind.to_owned())),
        ("key_bits", bits),
        ("fingerprint", Some(FINGERPRINT.to_owned())),
        ("fingerprint_key", Some(hexadecimal(&file.keys.fingerprint_key().bytes()))),
        ("stated_squared_norm", stated_squared_norm.map(|norm| norm.to_string())),
        ("stated_support", stated_support.map(|support| support.to_string())),
        ("records", file.records.map(|records| records.to_string())),
    ];
    said.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

/// What was said, understood.
pub(super) struct Metadata {
    pub(super) plan: Plan,
    pub(super) seed: Seed,
    pub(super) keys: Keys,
    pub(super) unit: String,
    pub(super) records: Option<u64>,
}

impl Metadata {
    pub(super) fn read<'file>(said: impl Iterator<Item = (&'file str, &'file str)>) -> Result<Self, FileError> {
        let mut said = Said::collect(said)?;
        said.expect("mechanism", MECHANISM)?;
        said.expect("family", FAMILY)?;
        said.expect("fingerprint", FINGERPRINT)?;
        // For people, and for whoever looks for a fault.
        said.text("privacy")?;
        said.text("written_by")?;
        let metadata = Self {
            plan: Plan::restore(plan(&mut said)?)?,
            seed: Seed(said.bytes("seed")?),
            keys: keys(&mut said)?,
            unit: said.text("unit")?.to_owned(),
            records: said.number_if_any("records")?,
        };
        said.is_empty()?;
        Ok(metadata)
    }
}

fn plan(said: &mut Said) -> Result<PlanRecord, FileError> {
    let (width, independence) = (said.number("width")?, said.number("independence")?);
    let shape = match said.one_of("signs", ["sparse", "dense"])? {
        "sparse" => Shape::sparse(width, said.number("nonzeros")?, independence)?,
        _ => Shape::dense(width, independence)?,
    };
    let noise = match said.one_of("noise", ["laplace", "gaussian"])? {
        "laplace" => Noise::Laplace(DiscreteLaplace::new(said.parse("noise_scale", "a noise scale")?)),
        _ => Noise::Gaussian(DiscreteGaussian::new(said.parse("noise_variance", "a variance")?)),
    };
    Ok(PlanRecord {
        cost: Budget::approximate(said.parse("epsilon", "an ε")?, said.parse("delta", "a δ")?),
        neighbours: said.parse("neighbours", "add-remove or substitute")?,
        rows_per_unit: said.number("rows_per_unit")?,
        shape,
        noise,
        stated_squared_norm: said.number_if_any("stated_squared_norm")?,
        stated_support: said.number_if_any("stated_support")?,
    })
}

fn keys(said: &mut Said) -> Result<Keys, FileError> {
    let kind = match said.one_of("key_kind", ["text", "bits"])? {
        "text" => KeyKind::Text,
        _ => {
            let names = said.texts("key_bits")?;
            KeyKind::Bits(Columns::new(names)?)
        }
    };
    let columns = said.texts("key_columns")?;
    let key = FingerprintKey::new(said.bytes("fingerprint_key")?);
    Ok(Keys::new(columns, kind, key)?)
}

/// What is not understood yet.
struct Said<'file>(BTreeMap<&'file str, &'file str>);

impl<'file> Said<'file> {
    /// The version comes first: a newer one may say anything.
    fn collect(entries: impl Iterator<Item = (&'file str, &'file str)>) -> Result<Self, FileError> {
        let entries: Vec<_> = entries.collect();
        match entries.iter().find(|(name, _)| name.strip_prefix(PREFIX) == Some("format")) {
            None => return Err(FileError::Missing(full("format"))),
            Some((_, VERSION)) => {}
            Some((_, version)) => return Err(FileError::Format(short(version))),
        }
        let mut said = BTreeMap::new();
        for (full_name, text) in entries {
            let name = full_name.strip_prefix(PREFIX).ok_or_else(|| FileError::Unknown(short(full_name)))?;
            if said.insert(name, text).is_some() {
                return Err(FileError::Twice(short(full_name)));
            }
        }
        said.remove("format");
        Ok(Self(said))
    }

    fn text(&mut self, name: &str) -> Result<&'file str, FileError> {
        self.0.remove(name).ok_or_else(|| FileError::Missing(full(name)))
    }

    fn parse<T: FromStr>(&mut self, name: &str, wanted: &str) -> Result<T, FileError> {
        let text = self.text(name)?;
        text.parse().map_err(|_| entry(name, text, wanted))
    }

    fn number<T: FromStr>(&mut self, name: &str) -> Result<T, FileError> {
        self.parse(name, "a number in its range")
    }

    fn number_if_any<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, FileError> {
        if self.0.contains_key(name) { self.number(name).map(Some) } else { Ok(None) }
    }

    fn one_of(&mut self, name: &str, wanted: [&'static str; 2]) -> Result<&'static str, FileError> {
        let text = self.text(name)?;
        wanted.into_iter().find(|word| *word == text).ok_or_else(|| entry(name, text, &wanted.join(" or ")))
    }

    fn expect(&mut self, name: &str, wanted: &str) -> Result<(), FileError> {
        let text = self.text(name)?;
        if text == wanted { Ok(()) } else { Err(entry(name, text, wanted)) }
    }

    fn texts(&mut self, name: &str) -> Result<Vec<String>, FileError> {
        let text = self.text(name)?;
        serde_json::from_str(text).map_err(|_| entry(name, text, "a JSON array of texts"))
    }

    fn bytes<const N: usize>(&mut self, name: &str) -> Result<[u8; N], FileError> {
        let text = self.text(name)?;
        from_hexadecimal(text).ok_or_else(|| entry(name, text, &format!("{} hexadecimal digits", 2 * N)))
    }

    fn is_empty(&self) -> Result<(), FileError> {
        self.0.keys().next().map_or(Ok(()), |name| Err(FileError::Unknown(short(&full(name)))))
    }
}

fn full(name: &str) -> String {
    format!("{PREFIX}{name}")
}

fn entry(name: &str, text: &str, wanted: &str) -> FileError {
    FileError::Entry { name: full(name), text: short(text), wanted: wanted.to_owned() }
}

/// An error is to be read by people.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

fn json(texts: &[String]) -> String {
    // Cannot fail: texts are JSON.
    serde_json::to_string(texts).expect("texts")
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hexadecimal<const N: usize>(text: &str) -> Option<[u8; N]> {
    // Without the second test a sign would pass, and a text cut within a character.
    if text.len() != 2 * N || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}
