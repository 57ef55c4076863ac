//! The results of finished cells: one file each, named by the id of the cell.

use crate::Error;
use crate::cell::Cell;
use crate::location::{Location, Place};
use crate::results::CellResult;

/// The folder of the results, inside the folder of the sweep.
pub const CELLS: &str = "cells";
/// The number of results to read at once.
const AT_ONCE: usize = 1_000;

/// The place of the results.
#[derive(Debug)]
pub struct CellStore {
    place: Place,
}

/// The file of the cell with that id, in the place of the sweep.
fn name(id: &str) -> String {
    format!("{CELLS}/{id}.parquet")
}

impl CellStore {
    /// Opens the results at a place. A folder is made with the first result.
    ///
    /// # Errors
    /// [`Error::Request`] if the address does not name an object store that can be used.
    pub fn open(at: &Location) -> Result<Self, Error> {
        Ok(Self { place: at.open()? })
    }

    /// The cells that are not done, each with its index in `cells`.
    ///
    /// # Errors
    /// [`Error::Work`] if an object store does not answer.
    pub fn missing<'a>(&self, cells: &[&'a Cell]) -> Result<Vec<(usize, &'a Cell)>, Error> {
        let names: Vec<String> = cells.iter().map(|cell| name(&cell.id)).collect();
        let all = cells.iter().copied().enumerate().zip(self.place.has_all(&names)?);
        Ok(all.filter_map(|(cell, is_done)| (!is_done).then_some(cell)).collect())
    }

    /// Stores the file of a cell.
    ///
    /// # Errors
    /// [`Error::Store`] or [`Error::Work`] if it cannot be written.
    pub(crate) fn put(&self, id: &str, file: Vec<u8>) -> Result<(), Error> {
        self.place.write(&name(id), file)
    }

    /// The results of cells, in the order of `cells`; `None` for a cell that is not done.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a file is; [`Error::Store`] or [`Error::Work`] if it cannot be read.
    pub fn get_all(&self, cells: &[&Cell]) -> Result<Vec<Option<CellResult>>, Error> {
        let names: Vec<String> = cells.iter().map(|cell| name(&cell.id)).collect();
        let mut results = Vec::with_capacity(cells.len());
        for names in names.chunks(AT_ONCE) {
            for (name, bytes) in names.iter().zip(self.place.read_all(names)?) {
                let damaged = |problem| Error::Damaged {
                    path: self.place.shown(name),
                    problem,
                    remedy: "remove it, and run the sweep again".to_owned(),
                };
                results.push(bytes.map(CellResult::decode).transpose().map_err(damaged)?);
            }
        }
        Ok(results)
    }

    /// Removes the half-written files of killed processes. Call it only while no other process works on the sweep.
    ///
    /// # Errors
    /// [`Error::Store`] if the folder cannot be listed.
    pub fn sweep_up(&self) -> Result<(), Error> {
        self.place.sweep_up(CELLS)
    }
}
