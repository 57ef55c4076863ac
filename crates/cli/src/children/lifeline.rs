//! The other end of a pipe: a task of Dask ends with its worker.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;

/// Calls `end` when standard input ends, if it is a pipe. Anything else says nothing about the process that started this one: a
/// wrapper around resched may have put /dev/null there.
pub(crate) fn end_with_stdin(end: impl FnOnce() + Send + 'static) {
    let is_pipe = io::stdin().as_fd().try_clone_to_owned().and_then(|stdin| File::from(stdin).metadata());
    if is_pipe.is_ok_and(|found| found.file_type().is_fifo() || found.file_type().is_socket()) {
        std::thread::spawn(move || {
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            end();
        });
    }
}
