//! Stands in for the file of this name in `tamis-noise`: the portable copy, whatever the machine has.

/// Defines a function as it is written.
macro_rules! for_the_widest_vectors {
    ($($function:tt)*) => {
        #[inline]
        $($function)*
    };
}
pub(crate) use for_the_widest_vectors;
