//! What a release file says of its values: texts under names, and the way back.

use super::{FileError, ReleaseFile, Unit};
use crate::release::Stated;
use crate::{Noise, Plan, ProjectionError, Seed, Shape, Signs};
use std::collections::BTreeMap;
use std::str::FromStr;
use tamis_noise::stability::StabilityThreshold;
use tamis_noise::{Beta, Budget, DiscreteGaussian, DiscreteLaplace, Queries};
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
    let mut said = vec![
        ("format", VERSION.to_owned()),
        ("mechanism", MECHANISM.to_owned()),
        ("privacy", file.privacy()),
        ("epsilon", plan.cost.epsilon().to_string()),
        ("delta", plan.cost.delta().to_string()),
        ("neighbours", plan.neighbours.to_string()),
    ];
    said.extend(of_unit(&file.unit));
    said.push(("rows_per_unit", plan.rows_per_unit.to_string()));
    said.extend(of_sketch(plan, file.release.family().seed()));
    said.extend(plan.heavy.iter().flat_map(|heavy| of_heavy(plan, heavy)));
    said.extend(of_keys(&file.keys));
    said.extend(of_stated(&plan.stated));
    said.extend(file.records.map(|records| ("records", records.to_string())));
    said
}

fn of_unit(unit: &Unit) -> Vec<(&'static str, String)> {
    match unit {
        Unit::Row => vec![("unit", "row".to_owned())],
        Unit::Record => vec![("unit", "record".to_owned())],
        Unit::Column(name) => vec![("unit", "column".to_owned()), ("unit_column", name.clone())],
    }
}

fn of_sketch(plan: &Plan, seed: Seed) -> Vec<(&'static str, String)> {
    let (signs, nonzeros) = match plan.shape.signs() {
        Signs::Dense => ("dense", None),
        Signs::Sparse { nonzeros } => ("sparse", Some(nonzeros)),
    };
    let (noise, size) = match &plan.noise {
        Noise::Laplace(noise) => ("laplace", ("noise_scale", noise.scale().to_string())),
        Noise::Gaussian(noise) => ("gaussian", ("noise_variance", noise.variance().to_string())),
    };
    let mut said = vec![("signs", signs.to_owned()), ("width", plan.shape.width().to_string())];
    said.extend(nonzeros.map(|nonzeros| ("nonzeros", nonzeros.to_string())));
    said.extend([
        ("independence", plan.shape.independence().to_string()),
        ("family", FAMILY.to_owned()),
        ("seed", hexadecimal(&seed.0)),
        ("noise", noise.to_owned()),
        size,
    ]);
    said
}

fn of_heavy(plan: &Plan, heavy: &StabilityThreshold) -> [(&'static str, String); 6] {
    [
        ("sketch_epsilon", plan.sketch_cost.epsilon().to_string()),
        ("sketch_delta", plan.sketch_cost.delta().to_string()),
        ("heavy_epsilon", heavy.cost().epsilon().to_string()),
        ("heavy_delta", heavy.cost().delta().to_string()),
        ("heavy_scale", heavy.scale().to_string()),
        ("heavy_threshold", heavy.threshold().to_string()),
    ]
}

fn of_keys(keys: &Keys) -> Vec<(&'static str, String)> {
    let (kind, bits) = match keys.kind() {
        KeyKind::Text => ("text", None),
        KeyKind::Bits(columns) => ("bits", Some(json(columns.names()))),
    };
    let mut said = vec![("key_columns", json(keys.columns())), ("key_kind", kind.to_owned())];
    said.extend(bits.map(|names| ("key_bits", names)));
    said.push(("fingerprint", FINGERPRINT.to_owned()));
    said.push(("fingerprint_key", hexadecimal(&keys.fingerprint_key().bytes())));
    said
}

fn of_stated(stated: &Stated) -> Vec<(&'static str, String)> {
    let number = |number: f64| number.to_string();
    let said = [
        ("stated_records", stated.records.map(number)),
        ("stated_key_multiplicity", stated.key_multiplicity.map(number)),
        ("stated_support", stated.support.map(number)),
        ("stated_queries", stated.confidence.map(|(queries, _)| queries.get().to_string())),
        ("stated_beta", stated.confidence.map(|(_, beta)| number(beta.get()))),
    ];
    said.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

/// What was said, understood.
pub(super) struct Metadata {
    pub(super) plan: Plan,
    pub(super) seed: Seed,
    pub(super) keys: Keys,
    pub(super) unit: Unit,
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
            plan: plan(&mut said)?.checked()?,
            seed: Seed(said.bytes("seed")?),
            keys: keys(&mut said)?,
            unit: unit(&mut said)?,
            records: said.number_if_any("records")?,
        };
        said.is_empty()?;
        Ok(metadata)
    }
}

fn plan(said: &mut Said) -> Result<Plan, FileError> {
    let cost = said.budget("epsilon", "delta")?;
    let neighbours = said.parse("neighbours", "add-remove or substitute")?;
    let rows_per_unit = said.number("rows_per_unit")?;
    let (sketch_cost, heavy) = if said.has("heavy_epsilon") {
        let heavy = said.budget("heavy_epsilon", "heavy_delta")?;
        let scale = said.parse("heavy_scale", "a noise scale")?;
        let threshold = said.number("heavy_threshold")?;
        let heavy = StabilityThreshold::restore(&heavy, neighbours, rows_per_unit, &scale, threshold);
        (said.budget("sketch_epsilon", "sketch_delta")?, Some(heavy.map_err(ProjectionError::from)?))
    } else {
        (cost.clone(), None)
    };
    Ok(Plan {
        cost,
        neighbours,
        rows_per_unit,
        shape: shape(said)?,
        noise: noise(said)?,
        sketch_cost,
        heavy,
        stated: stated(said)?,
        explanation: String::new(),
    })
}

fn unit(said: &mut Said) -> Result<Unit, FileError> {
    Ok(match said.one_of("unit", ["row", "record", "column"])? {
        "row" => Unit::Row,
        "record" => Unit::Record,
        _ => Unit::Column(said.text("unit_column")?.to_owned()),
    })
}

fn shape(said: &mut Said) -> Result<Shape, FileError> {
    let (width, independence) = (said.number("width")?, said.number("independence")?);
    Ok(match said.one_of("signs", ["sparse", "dense"])? {
        "sparse" => Shape::sparse(width, said.number("nonzeros")?, independence)?,
        _ => Shape::dense(width, independence)?,
    })
}

fn noise(said: &mut Said) -> Result<Noise, FileError> {
    Ok(match said.one_of("noise", ["laplace", "gaussian"])? {
        "laplace" => Noise::Laplace(DiscreteLaplace::new(said.parse("noise_scale", "a noise scale")?)),
        _ => Noise::Gaussian(DiscreteGaussian::new(said.parse("noise_variance", "a variance")?)),
    })
}

fn stated(said: &mut Said) -> Result<Stated, FileError> {
    let confidence = if said.has("stated_queries") {
        let (queries, beta) = (said.number("stated_queries")?, said.number("stated_beta")?);
        Some((Queries::new(queries).map_err(ProjectionError::from)?, Beta::new(beta).map_err(ProjectionError::from)?))
    } else {
        None
    };
    Ok(Stated {
        records: said.number_if_any("stated_records")?,
        key_multiplicity: said.number_if_any("stated_key_multiplicity")?,
        support: said.number_if_any("stated_support")?,
        confidence,
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

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn number_if_any<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, FileError> {
        if self.has(name) { self.number(name).map(Some) } else { Ok(None) }
    }

    fn budget(&mut self, epsilon: &str, delta: &str) -> Result<Budget, FileError> {
        let epsilon = self.parse(epsilon, "a number from 1e-12 to 1000")?;
        Ok(Budget::approximate(epsilon, self.parse(delta, "0 or a number from 1e-300 to 1")?))
    }

    fn one_of<const N: usize>(&mut self, name: &str, wanted: [&'static str; N]) -> Result<&'static str, FileError> {
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

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use crate::{HeavyKeys, NoiseKind};

    type Entries = Vec<(String, String)>;

    fn said(file: &ReleaseFile) -> Entries {
        let said = of(file).into_iter().chain([("written_by", "a test".to_owned())]);
        said.map(|(name, text)| (full(name), text)).collect()
    }

    fn read(entries: &Entries) -> Result<Metadata, FileError> {
        Metadata::read(entries.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }

    /// The reason to refuse what is said otherwise under one name.
    fn refusal(file: &ReleaseFile, name: &str, text: &str) -> String {
        let mut entries = said(file);
        entries.iter_mut().find(|entry| entry.0 == full(name)).unwrap_or_else(|| panic!("{name}")).1 = text.to_owned();
        match read(&entries) {
            Ok(_) => panic!("{name} {text:?} was accepted"),
            Err(error) => error.to_string(),
        }
    }

    fn laplace() -> ReleaseFile {
        example(HeavyKeys::Off, 1, |builder| builder)
    }

    fn gaussian() -> ReleaseFile {
        example(HeavyKeys::Off, 2, |builder| builder.noise(NoiseKind::Gaussian))
    }

    fn heavy() -> ReleaseFile {
        example(HeavyKeys::On, 1, |builder| builder)
    }

    #[test]
    fn every_name_is_needed_once() {
        for file in [laplace(), gaussian(), heavy()] {
            let entries = said(&file);
            assert!(read(&entries).is_ok());
            for position in 0..entries.len() {
                let mut fewer = entries.clone();
                let (name, text) = fewer.remove(position);
                assert_eq!(read(&fewer).is_ok(), name.starts_with("tamis.stated_"), "without {name}");
                let mut more = entries.clone();
                more.push((name.clone(), text));
                assert!(matches!(read(&more), Err(FileError::Twice(twice)) if twice == name));
            }
            for unknown in ["tamis.extra", "tamis.", "pandas", "epsilon", ""] {
                let mut more = entries.clone();
                more.push((unknown.to_owned(), "1".to_owned()));
                assert!(matches!(read(&more), Err(FileError::Unknown(name)) if name == unknown));
            }
        }
        assert!(matches!(read(&Vec::new()), Err(FileError::Missing(name)) if name == "tamis.format"));
    }

    /// Whatever else it says.
    #[test]
    fn a_newer_format_is_named() {
        let entries = vec![("tamis.format".to_owned(), "2".to_owned()), ("tamis.new".to_owned(), String::new())];
        let error = read(&entries).map(|_| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the release has format \"2\", and this version of tamis reads format 1: use a newer version"
        );
    }

    #[test]
    fn impossible_texts_are_refused() {
        let file = laplace();
        for (name, text) in [
            ("mechanism", "histogram"),
            ("family", "2"),
            ("fingerprint", "MD5"),
            ("epsilon", "0"),
            ("epsilon", "inf"),
            ("delta", "-1e-9"),
            ("delta", "1"),
            ("neighbours", "any"),
            ("unit", "person"),
            ("unit", "column"), // then its name is missing
            ("rows_per_unit", "0"),
            ("rows_per_unit", "-1"),
            ("rows_per_unit", "4294967297"),
            ("signs", "none"),
            ("signs", "dense"), // then nonzeros is unknown
            ("width", "0"),
            ("width", "63"),
            ("width", "9223372036854775808"),
            ("width", "18446744073709551616"),
            ("nonzeros", "0"),
            ("independence", "3"),
            ("independence", "257"),
            ("seed", ""),
            ("seed", "0505"),
            ("seed", &"+5".repeat(32)),
            ("seed", &"é".repeat(32)),
            ("noise", "none"),
            ("noise", "gaussian"),
            ("noise_scale", "0"),
            ("noise_scale", "1e400"),
            ("key_columns", "name"),
            ("key_columns", "[]"),
            ("key_columns", "[1]"),
            (r"key_columns", r#"["a","a"]"#),
            ("key_kind", "bits"),
            ("fingerprint_key", "07"),
        ] {
            refusal(&file, name, text);
        }
        assert_eq!(
            refusal(&file, "width", "9223372036854775808"),
            "the width with sparse signs must be the nonzeros times a power of two, up to 2^26, got width \
             9223372036854775808 with 1 nonzeros"
        );
        assert_eq!(
            refusal(&file, "noise", "none"),
            r#"the release says "none" under tamis.noise, which should be laplace or gaussian"#
        );
        assert!(refusal(&file, "seed", &"x".repeat(1_000_000)).len() < 200);
    }

    /// More noise is no fault, less is.
    #[test]
    fn a_promise_that_the_noise_does_not_keep_is_refused() {
        for (name, text) in
            [("epsilon", "0.999"), ("noise_scale", "0.999"), ("neighbours", "substitute"), ("rows_per_unit", "2")]
        {
            assert!(refusal(&laplace(), name, text).contains(" is not enough for "), "{name}");
        }
        let plan = gaussian().release.plan().clone();
        let Noise::Gaussian(noise) = plan.noise() else { panic!("{}", plan.noise()) };
        let less = (0.999 * noise.variance().to_f64_up()).to_string();
        for (name, text) in [
            ("epsilon", "0.99"),
            ("delta", "9e-10"),
            ("noise_variance", &less),
            ("neighbours", "substitute"),
            ("rows_per_unit", "2"),
            ("nonzeros", "4"),
        ] {
            assert!(refusal(&gaussian(), name, text).contains(" is not enough for "), "{name}");
        }
        for (name, text) in [
            ("epsilon", "0.99"),
            ("delta", "9e-10"),
            ("sketch_epsilon", "0.51"),
            ("sketch_epsilon", "0.49"),
            ("sketch_delta", "1e-10"),
            ("heavy_epsilon", "0.51"),
            ("heavy_delta", "2e-10"),
            ("heavy_threshold", "20"),
            ("heavy_scale", "1.9"),
        ] {
            refusal(&heavy(), name, text);
        }
        assert_eq!(
            refusal(&heavy(), "epsilon", "0.99"),
            "sketch and heavy keys spend more than the release promises: budget exhausted: requested ε = 0.5, δ = 0.000000001; \
             spent ε = 0.5, δ = 0; left ε = 0.49, δ = 0.000000001"
        );
        for (file, name, text) in [
            (laplace(), "noise_scale", "1.1"),
            (laplace(), "epsilon", "1.1"),
            (gaussian(), "noise_variance", "1000"),
            (heavy(), "heavy_threshold", "2000"),
        ] {
            let mut entries = said(&file);
            entries.iter_mut().find(|entry| entry.0 == full(name)).unwrap().1 = text.to_owned();
            assert!(read(&entries).is_ok(), "{name}");
        }
    }
}
