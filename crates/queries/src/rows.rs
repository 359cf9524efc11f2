//! L: how many rows a unit of privacy has at most in a table.

/// What is known of it.
///
/// A bound that is known is never forgotten: of a table made of parts, some bounded and some not, the bounds still add up, as what
/// L is *at least* to be taken for. So whatever a table is merged with, it is not released for fewer rows a unit than it was
/// bounded to.
///
/// ```
/// use tamis_queries::RowsPerUnit;
/// let parts = RowsPerUnit::bounded(2).and(RowsPerUnit::bounded(1));
/// assert_eq!((parts.bound(), parts.within(2), parts.within(3)), (Some(3), false, true));
/// let more = parts.and(RowsPerUnit::UNKNOWN);
/// assert_eq!((more.bound(), more.within(2), more.within(3)), (None, false, true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsPerUnit {
    // The bounds of all parts together; those of parts without one are not in it.
    known: u32,
    complete: bool,
}

impl RowsPerUnit {
    /// Of a table of nothing.
    pub const NONE: Self = Self { known: 0, complete: true };
    /// Of rows that came without a bound: it is the caller's word then.
    pub const UNKNOWN: Self = Self { known: 0, complete: false };

    /// At most so many.
    pub const fn bounded(rows: u32) -> Self {
        Self { known: rows, complete: true }
    }

    /// Of the rows of both tables: a unit may have rows in each.
    pub const fn and(self, other: Self) -> Self {
        Self { known: self.known.saturating_add(other.known), complete: self.complete && other.complete }
    }

    /// L, if all parts were bounded.
    pub const fn bound(self) -> Option<u32> {
        if self.complete { Some(self.known) } else { None }
    }

    /// The bounds of the parts that have one, added up.
    pub const fn known(self) -> u32 {
        self.known
    }

    /// Whether nothing that is known speaks against at most `rows` rows a unit.
    pub const fn within(self, rows: u32) -> bool {
        self.known <= rows
    }
}

/// That of no rows.
impl Default for RowsPerUnit {
    fn default() -> Self {
        Self::NONE
    }
}
