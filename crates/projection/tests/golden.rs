//! The families for ever: a release is useless if these change. The values were computed by another program, in another
//! language, from the definition in the documentation of `family`.

use tamis_projection::{Seed, SignFamily};
use tamis_queries::Fingerprint;

const KEYS: [u64; 4] = [0, 1, 0xdead_beef, u64::MAX];

fn seed() -> Seed {
    Seed(std::array::from_fn(|i| i as u8))
}

/// Bit j of word k is 1 where row 64k + j has the sign −1.
fn words(family: &SignFamily, key: u64) -> Vec<u64> {
    let mut words = vec![0; family.width() / 64];
    for (row, sign) in family.column(Fingerprint::raw(key)) {
        words[row / 64] |= u64::from(sign == -1) << (row % 64);
    }
    words
}

#[test]
fn dense_families() {
    let golden: [(u32, [[u64; 2]; 4]); 4] = [
        (
            2,
            [
                [0xad5bc4f756c93df9, 0x2449789077fd9095],
                [0xcf58ab214b3658ce, 0x09f41f1f4dfa9cbd],
                [0xbdb419459c1ededc, 0x2a2b2b8f39e4c1b7],
                [0x0142f0dc5067adbf, 0x808bfe1c743ff9f7],
            ],
        ),
        (
            4,
            [
                [0xd7d3bc1cd77e5e6a, 0x1b67211cc1f3723e],
                [0xbc24ccd5877ba7e0, 0xd5e551c004e4bc0b],
                [0xe3eb6c63b8ef0fd6, 0xf953ba782bb764d9],
                [0x0cc368cfe4b72ee9, 0xa9ab48e633c16668],
            ],
        ),
        (
            5,
            [
                [0xc3401b1f6c772518, 0x9ca02e8655d49396],
                [0xdb589aca486c36ac, 0x460f8d3b98b46761],
                [0x6ee3f909ff2cf326, 0xf5b3a83a0d367e64],
                [0x5f286fe7689b74dd, 0xd8e0b1c6578276ed],
            ],
        ),
        (
            17,
            [
                [0x0ec05d7ea811a240, 0xbcc4ae890e285179],
                [0xfde32e2c1af0bd5f, 0x15801b6a86b915c4],
                [0x6551ca441f9b940e, 0x603f3807dee7ca0c],
                [0x8db543084fcae4d6, 0x7ff8e3b552aaf89b],
            ],
        ),
    ];
    for (independence, columns) in golden {
        let family = SignFamily::dense(128, independence, seed()).unwrap();
        for (key, column) in KEYS.into_iter().zip(columns) {
            assert_eq!(words(&family, key), column, "r = {independence}, key {key}");
        }
    }
}

fn check_sparse(width: u64, nonzeros: u32, independence: u32, columns: &[&[(usize, i64)]]) {
    let family = SignFamily::sparse(width, nonzeros, independence, seed()).unwrap();
    for (key, column) in KEYS.into_iter().zip(columns) {
        assert_eq!(family.column(Fingerprint::raw(key)), *column, "T = {width}, s = {nonzeros}, key {key}");
    }
}

#[test]
fn sparse_families() {
    check_sparse(1 << 20, 1, 4, &[&[(1023336, -1)], &[(716114, -1)], &[(920341, -1)], &[(993281, 1)]]);
    check_sparse(
        192,
        3,
        5,
        &[
            &[(57, 1), (90, -1), (183, 1)],
            &[(11, -1), (117, -1), (172, 1)],
            &[(9, -1), (120, -1), (184, -1)],
            &[(0, -1), (111, -1), (182, -1)],
        ],
    );
    #[rustfmt::skip]
    check_sparse(1 << 20, 8, 4, &[
        &[(105832, -1), (154559, 1), (383768, 1), (459829, 1), (554429, -1), (684319, -1), (911346, -1), (995572, 1)],
        &[(60754, -1), (146846, 1), (335789, 1), (409159, 1), (564482, 1), (672444, -1), (883021, -1), (1038306, -1)],
        &[(2837, -1), (211887, -1), (266313, 1), (510053, 1), (600906, -1), (663030, -1), (868217, 1), (986513, 1)],
        &[(75777, -1), (214571, 1), (305006, 1), (493571, -1), (565822, -1), (740522, -1), (905100, -1), (1015130, -1)],
    ]);
}
