//! What all trials of a row share, made by whichever comes first.

use std::sync::OnceLock;
use tamis_harness::TrialError;

/// Something that is made when it is first needed, once for all threads; or the reason why it cannot be.
///
/// ```
/// use tamis_experiments::made::Made;
/// let (number, word) = (Made::default(), Made::<u32>::default());
/// assert_eq!(number.get(|| Ok("7".parse()?)).unwrap(), &7);
/// assert_eq!(number.get(|| Ok(8)).unwrap(), &7);
/// assert!(word.get(|| Ok("seven".parse()?)).is_err());
/// ```
#[derive(Debug)]
pub struct Made<T>(OnceLock<Result<T, String>>);

impl<T> Default for Made<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Made<T> {
    /// It, made by this function if nobody has.
    ///
    /// # Errors
    /// If it could not be made, then or now.
    pub fn get(&self, make: impl FnOnce() -> Result<T, TrialError>) -> Result<&T, TrialError> {
        let made = self.0.get_or_init(|| make().map_err(|error| error.to_string()));
        Ok(made.as_ref().map_err(Clone::clone)?)
    }
}
