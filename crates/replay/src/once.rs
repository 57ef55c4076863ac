//! A value that the first thread that needs it makes, while the others wait.

use std::sync::{Mutex, OnceLock, PoisonError};

/// As [`OnceLock`], but making the value may fail; the next thread tries again then.
#[derive(Debug)]
pub(crate) struct Once<T> {
    value: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), making: Mutex::new(()) }
    }
}

impl<T> Once<T> {
    /// The value, if it was made.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value; made now if this is the first call.
    pub(crate) fn get_or_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let value = make()?;
        Ok(self.value.get_or_init(|| value))
    }
}
