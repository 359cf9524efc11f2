//! Elements and fingerprints: the bytes are fixed for ever, and no two elements share them.

use proptest::prelude::*;
use tamis_queries::{BitsError, Element, Fingerprint, FingerprintKey};

/// An element as a person would describe it, apart from any encoding.
#[derive(Clone, Debug, PartialEq)]
enum Described {
    Number(u64),
    Bytes(Vec<u8>),
    Tuple(Vec<Described>),
    Bits(u128, u32),
}

impl Described {
    fn element(&self) -> Element {
        match self {
            Self::Number(value) => Element::number(*value),
            Self::Bytes(bytes) => Element::bytes(bytes),
            Self::Tuple(parts) => Element::tuple(&parts.iter().map(Self::element).collect::<Vec<_>>()),
            Self::Bits(value, width) => Element::bits(*value, *width).unwrap(),
        }
    }
}

/// Reads one element from the front of `bytes`, and says what is left: written from the table in the docs alone.
fn read(bytes: &[u8]) -> (Described, &[u8]) {
    let length = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap());
    let (tag, rest) = bytes.split_first().unwrap();
    match tag {
        1 => (Described::Number(length(rest)), &rest[8..]),
        2 => {
            let (content, rest) = rest[8..].split_at(length(rest) as usize);
            (Described::Bytes(content.to_vec()), rest)
        }
        3 => {
            let (mut parts, mut left) = (Vec::new(), &rest[8..]);
            for _ in 0..length(rest) {
                let (part, after) = read(left);
                parts.push(part);
                left = after;
            }
            (Described::Tuple(parts), left)
        }
        4 => (Described::Bits(u128::from_le_bytes(rest[1..17].try_into().unwrap()), rest[0].into()), &rest[17..]),
        _ => panic!("no element begins with {tag}"),
    }
}

fn described() -> impl Strategy<Value = Described> {
    let leaf = prop_oneof![
        any::<u64>().prop_map(Described::Number),
        (0u64..4).prop_map(Described::Number),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Described::Bytes),
        // Bytes that look like encodings themselves.
        prop::collection::vec(0u8..5, 0..12).prop_map(Described::Bytes),
        (any::<u128>(), 1u32..=128).prop_map(|(value, width)| Described::Bits(value >> (128 - width), width)),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| prop::collection::vec(inner, 0..5).prop_map(Described::Tuple))
}

proptest! {
    /// An encoding can be read back, whatever follows it: so it is injective, and none is the beginning of another.
    #[test]
    fn an_encoding_can_be_read_back(original in described(), tail in prop::collection::vec(any::<u8>(), 0..9)) {
        let mut bytes = original.element().encode();
        bytes.extend(&tail);
        prop_assert_eq!(read(&bytes), (original, &tail[..]));
    }

    #[test]
    fn elements_are_equal_exactly_if_their_descriptions_are(a in described(), b in described()) {
        prop_assert_eq!(a.element() == b.element(), a == b);
        prop_assert_eq!(a.element().encode() == b.element().encode(), a == b);
    }
}

/// What the reader above would miss: that tuples joined as text, the usual way, are *not* told apart.
#[test]
fn joined_columns_collide_and_tuples_do_not() {
    let text = |text: &str| Element::bytes(text.as_bytes());
    let rows = [["a,b", "c"], ["a", "b,c"]];
    assert_eq!(rows[0].join(","), rows[1].join(","));
    let [first, second] = rows.map(|row| Element::tuple(&row.map(text)));
    assert_ne!(first, second);
}

/// Encoding in hexadecimal, and fingerprint under the key 00 01 … 0f. Computed by a separate program: SipHash-2-4
/// written from the paper's section 2 and checked against its appendix A (the same key, message 00 … 0e:
/// a129ca6149be45e5). A changed line means that released files can no longer be read: never change one, add a new
/// version beside it.
#[test]
fn golden_vectors() {
    let text = |text: &str| Element::bytes(text.as_bytes());
    let bits = |value, width| Element::bits(value, width).unwrap();
    let golden = [
        (Element::number(0), "010000000000000000", 0xc234_08e0_d09b_5e27),
        (Element::number(0x0123_4567_89ab_cdef), "01efcdab8967452301", 0x43bf_936b_f21d_5f78),
        (text(""), "020000000000000000", 0x52fb_a7ed_eea6_3b72),
        (text("ann@example.org"), "020f00000000000000616e6e406578616d706c652e6f7267", 0xc4f1_4415_e40e_8acb),
        (Element::tuple(&[]), "030000000000000000", 0xf6c5_386f_d7fa_4e1b),
        (
            Element::tuple(&[text("ab"), text("c")]),
            "030200000000000000020200000000000000616202010000000000000063",
            0x8c76_eb6d_e9f6_c727,
        ),
        (
            Element::tuple(&[text("a"), text("bc")]),
            "030200000000000000020100000000000000610202000000000000006263",
            0xcd4b_560b_b746_a5ad,
        ),
        (
            Element::tuple(&[Element::number(7), Element::tuple(&[bits(5, 3)])]),
            "030200000000000000010700000000000000030100000000000000040305000000000000000000000000000000",
            0x3200_8792_1cb3_f040,
        ),
        (bits(0xbfff_ffff_fff7, 48), "0430f7ffffffffbf00000000000000000000", 0x794d_756b_f716_727e),
        (bits(u128::MAX, 128), "0480ffffffffffffffffffffffffffffffff", 0x257d_7f3b_3fd8_601f),
    ];
    let key = FingerprintKey::new(std::array::from_fn(|i| i as u8));
    for (element, encoding, fingerprint) in golden {
        let hexadecimal: String = element.encode().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hexadecimal, encoding);
        assert_eq!(key.fingerprint(&element).get(), fingerprint, "{encoding}");
    }
}

#[test]
fn a_key_is_what_it_was_made_from_and_raw_changes_nothing() {
    let bytes = std::array::from_fn(|i| 3 * i as u8);
    assert_eq!(FingerprintKey::new(bytes).bytes(), bytes);
    assert_eq!(Fingerprint::raw(u64::MAX).get(), u64::MAX);
}

#[test]
fn bits_that_do_not_fit_are_refused_without_being_repeated() {
    assert_eq!(Element::bits(0, 0), Err(BitsError::Width(0)));
    assert_eq!(Element::bits(0, 129), Err(BitsError::Width(129)));
    assert!(Element::bits(u128::MAX, 128).is_ok());
    let refusal = Element::bits(0xdead, 15).unwrap_err();
    assert_eq!(refusal.to_string(), "packed bits of width 15 have a bit set at or above position 15");
}

#[test]
fn deep_nesting_costs_no_stack() {
    let mut element = Element::number(1);
    for _ in 0..20_000 {
        element = Element::tuple(&[element]);
    }
    assert_eq!(element.clone(), element);
    assert_eq!(element.encode().len(), 9 + 9 * 20_000);
}

/// The bound is at least the exact probability's first term, and never more than certain.
#[test]
fn collision_bound_counts_pairs() {
    let bound = FingerprintKey::collision_bound;
    assert_eq!(bound(0), 0.0);
    assert_eq!(bound(2), 2f64.powi(-64).next_up());
    assert!(bound(3) >= 3.0 * 2f64.powi(-64));
    assert!((bound(1 << 32) - 0.5).abs() < 1e-9);
    assert_eq!(bound(u64::MAX), 1.0);
}
