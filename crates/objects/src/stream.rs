//! An object as a stream of bytes.
//!
//! It is fetched in ranges, each in memory and the next one while the first is read. A range whose connection breaks goes on where it
//! broke. Each answer must be of the object that was listed, so bytes of two versions are never mixed.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use futures_util::TryStreamExt;
use object_store::aws::AmazonS3;
use object_store::{GetOptions, ObjectMeta, ObjectStore};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::{Error, LARGEST_RANGE, MOST_BREAKS};

/// The bytes of the first range, which often suffices to see what an object is. Each one after it is twice as large.
const FIRST_RANGE: u64 = 256 << 10;
/// The wait after the first break. Each one after it is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The bytes of an object, in order.
pub struct Stream {
    store: Arc<AmazonS3>,
    runtime: Arc<Runtime>,
    meta: ObjectMeta,
    address: String,
    /// The bytes that were fetched and not read.
    ready: Bytes,
    /// The range that is being fetched.
    ahead: Option<JoinHandle<Result<Bytes, Broken>>>,
    /// Where the range after it begins, and its size.
    next: u64,
    size: u64,
}

impl Stream {
    /// The object that the list gave as `meta`, from its first byte.
    pub(crate) fn new(store: Arc<AmazonS3>, runtime: Arc<Runtime>, meta: ObjectMeta, address: String) -> Self {
        Self { store, runtime, meta, address, ready: Bytes::new(), ahead: None, next: 0, size: FIRST_RANGE }
    }

    /// Begins to fetch the next range, if there is one.
    fn begin(&mut self) {
        let end = self.meta.size.min(self.next.saturating_add(self.size));
        if self.next >= end {
            return;
        }
        let fetch = fetch(Arc::clone(&self.store), self.meta.clone(), self.next..end);
        self.ahead = Some(self.runtime.spawn(fetch));
        self.next = end;
        self.size = self.size.saturating_mul(2).min(LARGEST_RANGE);
    }

    /// The next range; empty at the end.
    fn take(&mut self) -> Result<Bytes, Error> {
        let is_first = self.next == 0;
        if self.ahead.is_none() {
            self.begin();
        }
        let Some(range) = self.ahead.take() else { return Ok(Bytes::new()) };
        let fetched = self.runtime.block_on(range);
        // Most objects that are looked at are not read any further.
        if !is_first {
            self.begin();
        }
        let address = self.address.clone();
        match fetched {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(Broken::Changed)) => Err(Error::changed(address)),
            Ok(Err(Broken::Store(error))) => Err(Error::of(address, "read", &error)),
            Ok(Err(Broken::Cut { at })) => Err(cut(address, self.meta.size, at)),
            Err(_) => Err(cut(address, self.meta.size, self.next)),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ready.is_empty() && !buffer.is_empty() {
            self.ready = self.take().map_err(io::Error::other)?;
        }
        let read = self.ready.len().min(buffer.len());
        if let Some(part) = buffer.get_mut(..read) {
            self.ready.copy_to_slice(part);
        }
        Ok(read)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(range) = &self.ahead {
            range.abort();
        }
    }
}

/// Why a range could not be fetched.
enum Broken {
    /// The object is another one.
    Changed,
    /// The store refused.
    Store(object_store::Error),
    /// The connection broke too often, the last time after this byte.
    Cut { at: u64 },
}

impl From<object_store::Error> for Broken {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::Precondition { .. } | object_store::Error::NotModified { .. } => Self::Changed,
            error => Self::Store(error),
        }
    }
}

fn cut(address: String, size: u64, at: u64) -> Error {
    Error::Failed {
        address,
        deed: "read",
        expected: format!("{size} bytes"),
        found: format!("connections that broke again and again, the last time after {at} bytes"),
        remedy: "run the command again when the store can be reached".to_owned(),
    }
}

/// Fetches a range. If its connection breaks, the rest of it is asked for again.
async fn fetch(store: Arc<AmazonS3>, meta: ObjectMeta, range: Range<u64>) -> Result<Bytes, Broken> {
    let mut got = BytesMut::with_capacity(usize::try_from(range.end - range.start).unwrap_or_default());
    let mut wait = FIRST_WAIT;
    for _ in 0..=MOST_BREAKS {
        let at = range.start.saturating_add(got.len() as u64);
        match fetch_rest(&store, &meta, at..range.end, &mut got).await {
            Ok(()) if range.start.saturating_add(got.len() as u64) == range.end => return Ok(got.freeze()),
            Err(error) if !is_break(&error) => return Err(error),
            _ => {}
        }
        tokio::time::sleep(wait).await;
        wait = wait.saturating_mul(2);
    }
    Err(Broken::Cut { at: range.start.saturating_add(got.len() as u64) })
}

/// Adds the bytes of a range to `got`, as far as they come.
async fn fetch_rest(store: &AmazonS3, meta: &ObjectMeta, range: Range<u64>, got: &mut BytesMut) -> Result<(), Broken> {
    let most = got.len() as u64 + (range.end - range.start);
    let options = GetOptions { if_match: meta.e_tag.clone(), range: Some(range.into()), ..GetOptions::default() };
    let found = store.get_opts(&meta.location, options).await?;
    if !is_same(meta, &found.meta) {
        return Err(Broken::Changed);
    }
    let mut parts = found.into_stream();
    while let Some(part) = parts.try_next().await? {
        if got.len() as u64 + part.len() as u64 > most {
            return Err(Broken::Changed);
        }
        got.extend_from_slice(&part);
    }
    Ok(())
}

/// True if an answer is of the object that was listed. A store without tags gives times, in a list to the millisecond, elsewhere to the
/// second.
fn is_same(listed: &ObjectMeta, found: &ObjectMeta) -> bool {
    let same_tag = match (&listed.e_tag, &found.e_tag) {
        (Some(listed), Some(found)) => listed == found,
        _ => listed.last_modified.timestamp() == found.last_modified.timestamp(),
    };
    same_tag && listed.size == found.size
}

/// True if an error may pass if the range is asked for again. The client itself reports a body that breaks as generic.
fn is_break(error: &Broken) -> bool {
    matches!(error, Broken::Store(object_store::Error::Generic { .. }))
}
