//! What is refused, and how it is said.

use proptest::prelude::*;
use tamis_noise::{Beta, Delta, Epsilon, Hits, Neighbours, Queries, Scale, Sensitivity, StreamKind, Variance};

#[test]
fn every_refusal_names_the_value_and_what_would_be_right() {
    let messages = [
        Epsilon::new(0.0).unwrap_err(),
        Epsilon::new(-0.0).unwrap_err(),
        Epsilon::new(f64::NAN).unwrap_err(),
        Epsilon::new(f64::INFINITY).unwrap_err(),
        Epsilon::new(1e-320).unwrap_err(),
        Epsilon::new(1e308).unwrap_err(),
        "1e-9999".parse::<Epsilon>().unwrap_err(),
        Delta::new(1.0).unwrap_err(),
        Delta::new(-1e-9).unwrap_err(),
        Hits::new(0).unwrap_err(),
        Hits::new(1 << 63).unwrap_err(),
        Queries::new(0).unwrap_err(),
        Sensitivity::new(0).unwrap_err(),
        Beta::new(0.0).unwrap_err(),
        Beta::new(f64::NAN).unwrap_err(),
        Scale::new(f64::INFINITY).unwrap_err(),
        Variance::new(0.0).unwrap_err(),
        "both".parse::<Neighbours>().unwrap_err(),
        "sums".parse::<StreamKind>().unwrap_err(),
    ];
    let lines: Vec<String> = messages.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "epsilon must be a number from 1e-12 to 1000 (at most 77 digits), got 0.0",
            "epsilon must be a number from 1e-12 to 1000 (at most 77 digits), got -0.0",
            "epsilon must be a number from 1e-12 to 1000 (at most 77 digits), got NaN",
            "epsilon must be a number from 1e-12 to 1000 (at most 77 digits), got inf",
            "epsilon must be a number from 1e-12 to 1000 (at most 77 digits), got 1e-320",
            "epsilon must be a number from 1e-12 to 1000 (at most 77 digits), got 1e308",
            "epsilon must be a number from 1e-12 to 1000 (at most 77 digits), got 1e-9999",
            "delta must be 0 or a number from 1e-300 up to, not including, 1, got 1.0",
            "delta must be 0 or a number from 1e-300 up to, not including, 1, got -1e-9",
            "the number of hits must be a whole number from 1 to 1000000, got 0",
            "the number of hits must be a whole number from 1 to 1000000, got 9223372036854775808",
            "the number of queries must be a whole number from 1 to 2^53, got 0",
            "sensitivity must be a whole number of grid units from 1 to 2^40, got 0",
            "the failure probability must be between 1e-300 and 1, ends excluded, got 0.0",
            "the failure probability must be between 1e-300 and 1, ends excluded, got NaN",
            "the noise scale must be from 1/1000 to 2^40 grid units, got inf",
            "the noise variance must be from 1e-6 to 2^80 squared grid units, got 0.0",
            "neighbours must be add-remove or substitute, got both",
            "the kind of stream must be counts or values, got sums",
        ]
    );
}

/// The longest parameter that is accepted, and everything derived from it, is read back as it was.
#[test]
fn long_parameters_read_back() {
    use tamis_noise::sparse_vector::{Plan, Setting};
    let setting = |epsilon: &str, hits| Setting {
        hits: Hits::new(hits).unwrap(),
        budget: tamis_noise::Budget::pure(epsilon.parse().unwrap()),
        sensitivity: Sensitivity::new(1000).unwrap(),
        neighbours: Neighbours::Substitute,
        kind: StreamKind::Values,
    };
    let (queries, beta) = (Queries::new(9).unwrap(), Beta::new(0.05).unwrap());
    let long = format!("0.{}", "1234567890".repeat(7));
    assert!(format!("0.{}", "1234567890".repeat(8)).parse::<Epsilon>().is_err());
    for hits in [1, 7, 999_983] {
        let plan = Plan::tight(&setting(&long, hits), queries, beta).or_else(|_| Plan::sparse(&setting("1/3", hits)));
        let plan = plan.unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);
    }
    let delta = format!("1/3{}", "0".repeat(299));
    assert_eq!(delta.parse::<Delta>().unwrap().to_string().parse(), delta.parse::<Delta>());
}

#[test]
fn ends_of_ranges_are_served() {
    for text in ["1e-12", "1000"] {
        assert!(text.parse::<Epsilon>().is_ok());
    }
    for text in ["0.001", "1099511627776"] {
        assert!(text.parse::<Scale>().is_ok());
    }
    assert!(Scale::new(0.000999).is_err() && "1099511627777".parse::<Scale>().is_err());
}

proptest! {
    /// No text makes a parameter panic, and what is accepted reads back the same.
    #[test]
    fn any_text_is_answered(text in "\\PC{0,40}") {
        if let Ok(epsilon) = text.parse::<Epsilon>() {
            prop_assert_eq!(epsilon.to_string().parse::<Epsilon>().unwrap(), epsilon);
        }
    }

    #[test]
    fn any_number_is_answered(bits: u64) {
        let value = f64::from_bits(bits);
        if let Ok(epsilon) = Epsilon::new(value) {
            prop_assert!(epsilon.to_f64_down() <= value && value <= epsilon.to_f64_up());
        }
        let _ = (Delta::new(value), Scale::new(value), Variance::new(value), Beta::new(value));
    }
}
