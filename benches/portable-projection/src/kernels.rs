//! Stands in for the file of this name in `tamis-projection`: the portable level, whatever the machine has.

use crate::gf64;
use crate::tally::{self, Digits, Lines};
use crate::words::{self, Elements, Line};
use std::ops::Range;

#[derive(Clone, Copy)]
pub(crate) struct Instructions;

impl Instructions {
    pub(crate) fn of_this_machine() -> Self {
        Self
    }

    pub(crate) fn powers(self, even: bool, keys: &[u64], halves: &mut [Line]) {
        words::powers(even, keys, halves, gf64::product);
    }

    pub(crate) fn words(self, side: &Elements, eights: Range<usize>, others: &Elements, lines: &mut [Line]) {
        words::words(side, eights, others, lines, gf64::product);
    }

    pub(crate) fn add(self, lines: &Lines, digits: &Digits, planes: &mut [Line]) {
        tally::add(lines, digits, planes, tally::full_add);
    }

    pub(crate) fn finish(self, planes: &[Line], total: i64, counters: &mut [i64]) {
        tally::finish(planes, total, counters);
    }
}
