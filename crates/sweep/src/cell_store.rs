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

fn ids<'a>(cells: &[&'a Cell]) -> Vec<&'a str> {
    cells.iter().map(|cell| cell.id.as_str()).collect()
}

impl CellStore {
    /// Opens the results at a place. A folder is made with the first result.
    ///
    /// # Errors
    /// [`Error::Request`] if the address does not name an object store that can be used.
    pub fn open(at: &Location) -> Result<Self, Error> {
        Ok(Self { place: at.open()? })
    }

    /// The path or address of the results, for messages.
    pub(crate) fn shown(&self) -> String {
        self.place.shown(CELLS)
    }

    /// The cells that are not done, or whose file was damaged, each with its index in `cells`.
    ///
    /// # Errors
    /// [`Error::Store`] or [`Error::Work`] if the place cannot be read.
    pub fn missing<'a>(&self, cells: &[&'a Cell]) -> Result<Vec<(usize, &'a Cell)>, Error> {
        let mut missing = Vec::new();
        self.read_each(&ids(cells), |place, result| {
            if !matches!(result, Some(Ok(_))) {
                missing.extend(cells.get(place).map(|cell| (place, *cell)));
            }
            Ok(())
        })?;
        Ok(missing)
    }

    /// Reads the file of each cell: `None` if it does not exist, or why it cannot be used.
    fn read_each(
        &self,
        ids: &[&str],
        mut see: impl FnMut(usize, Option<Result<CellResult, String>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (some, from) in ids.chunks(AT_ONCE).zip((0..).step_by(AT_ONCE)) {
            let names: Vec<String> = some.iter().map(|id| name(id)).collect();
            for ((id, bytes), place) in some.iter().zip(self.place.read_all(&names)?).zip(from..) {
                see(place, bytes.map(|bytes| CellResult::decode(id, bytes)))?;
            }
        }
        Ok(())
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
        let mut results = Vec::with_capacity(cells.len());
        let ids = ids(cells);
        self.read_each(&ids, |place, result| {
            results.push(result.transpose().map_err(|problem| Error::Damaged {
                path: ids.get(place).map_or_else(String::new, |id| self.place.shown(&name(id))),
                problem,
                remedy: "run the sweep again; it makes only what is missing or damaged".to_owned(),
            })?);
            Ok(())
        })?;
        Ok(results)
    }

    /// How many of the cells with these ids are whole, and the path or address of those that are damaged, with the problem.
    ///
    /// # Errors
    /// As [`CellStore::missing`].
    pub fn verify(&self, ids: &[&str]) -> Result<(u64, Vec<(String, String)>), Error> {
        let (mut whole, mut damaged) = (0, Vec::new());
        self.read_each(ids, |place, result| {
            match result {
                Some(Ok(_)) => whole += 1,
                Some(Err(problem)) => {
                    damaged.extend(ids.get(place).map(|id| (self.place.shown(&name(id)), problem)));
                }
                None => {}
            }
            Ok(())
        })?;
        Ok((whole, damaged))
    }

    /// Removes the half-written files of killed processes. Call it only while no other process works on the sweep.
    ///
    /// # Errors
    /// [`Error::Store`] if the folder cannot be listed.
    pub fn sweep_up(&self) -> Result<(), Error> {
        self.place.sweep_up(CELLS)
    }
}
