//! Budgets: exact sums, nothing after exhaustion, and a refusal that changes nothing.

use proptest::prelude::*;
use tamis_noise::{Budget, Delta, Epsilon, Ledger, Rational};

fn pure(epsilon: &str) -> Budget {
    Budget::pure(epsilon.parse().unwrap())
}

#[test]
fn ten_tenths_fit_and_nothing_after() {
    let mut ledger = Ledger::new(pure("1"));
    for _ in 0..10 {
        ledger.charge(&Budget::pure(Epsilon::new(0.1).unwrap())).unwrap();
    }
    assert_eq!(ledger.left().0, Rational::ZERO);
    assert!(ledger.charge(&pure("1e-12")).is_err());
}

#[test]
fn delta_is_counted_as_epsilon_is() {
    let mut ledger = Ledger::new(Budget::approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap()));
    let third = Budget::approximate("0.1".parse().unwrap(), "1/3000000000".parse().unwrap());
    for _ in 0..3 {
        ledger.charge(&third).unwrap();
    }
    let refusal = ledger.charge(&Budget::approximate("0.1".parse().unwrap(), Delta::new(1e-300).unwrap())).unwrap_err();
    assert_eq!(refusal.left, ("0.7".parse::<Epsilon>().unwrap().as_rational().clone(), Rational::ZERO));
    ledger.charge(&pure("0.7")).unwrap();
}

proptest! {
    /// Whatever is charged, accepted charges add up exactly, never beyond the total, and a refused one leaves no trace.
    #[test]
    fn the_books_balance(charges in prop::collection::vec((1u32..50, 1u32..50, 0u32..3), 1..40)) {
        let total = Budget::approximate("3".parse().unwrap(), "1/10".parse().unwrap());
        let mut ledger = Ledger::new(total);
        let mut sum = (Rational::ZERO, Rational::ZERO);
        for (numerator, denominator, delta) in charges {
            let epsilon = Rational::from_parts(numerator.into(), denominator.into());
            let delta = Rational::from_parts(delta.into(), 37u8.into());
            let request = Budget::approximate(
                Epsilon::from_rational(epsilon.clone()).unwrap(),
                Delta::from_rational(delta.clone()).unwrap(),
            );
            let before = ledger.spent();
            match ledger.charge(&request) {
                Ok(()) => sum = (sum.0 + epsilon, sum.1 + delta),
                Err(refusal) => {
                    prop_assert_eq!(ledger.spent(), before);
                    prop_assert!(epsilon > refusal.left.0 || delta > refusal.left.1);
                }
            }
            prop_assert_eq!(ledger.spent(), sum.clone());
            prop_assert!(sum.0 <= Rational::from(3) && ledger.left().1 >= Rational::ZERO);
        }
    }
}
