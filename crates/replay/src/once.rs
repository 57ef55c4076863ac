//! A value that is made once: by the first thread that needs it, while the others wait.

use std::sync::{Mutex, OnceLock, PoisonError};

/// As [`OnceLock`], but making the value may fail. Then the next thread tries again.
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
    /// A value that is made already.
    pub(crate) fn of(value: T) -> Self {
        Self { value: OnceLock::from(value), making: Mutex::default() }
    }

    /// The value, if it was made.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value. The first call makes it.
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
