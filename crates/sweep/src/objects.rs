//! Files in an object store. Every call blocks until it is done.

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, parse_url_opts};
use resched_tables::limits::Amount;
use tokio::runtime::{Builder, Runtime};
use url::Url;

use crate::Error;

/// The most bytes of a plan, which lists each cell, or of a file with results of cells.
pub(crate) const MOST_BYTES: u64 = 2 << 30;

/// The number of objects to fetch at once.
const AT_ONCE: usize = 32;

/// The objects under an address of an object store. Credentials, region and endpoint come from the environment, under the names that
/// the store's own tools use (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, …).
#[derive(Debug)]
pub(crate) struct Objects {
    url: Url,
    store: Box<dyn ObjectStore>,
    prefix: Path,
    runtime: Runtime,
}

impl Objects {
    pub(crate) fn open(url: &Url) -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| Error::Work(format!("{url}: no thread can be started ({error})")))?;
        // An error means that it is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (store, prefix) =
            parse_url_opts(url, environment()).map_err(|error| Error::Request(format!("{url}: {error}; {REMEDY}")))?;
        Ok(Self { url: url.clone(), store, prefix, runtime })
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.prefix.clone(), |path, part| path.join(part))
    }

    async fn fetch(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let found = match self.store.get(&self.path(name)).await {
            Ok(found) if found.meta.size > MOST_BYTES => {
                let problem =
                    format!("expected an object of at most {}, found a larger one", Amount::Bytes(MOST_BYTES));
                return Err(Error::Work(format!(
                    "{}: {problem}; remove it, and run the sweep again",
                    self.shown(name)
                )));
            }
            Ok(found) => found.bytes().await,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => Err(error),
        };
        found.map(|bytes| Some(bytes.into())).map_err(|error| self.broken(name, "read", &error))
    }

    /// The bytes of an object; `None` if it does not exist.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.runtime.block_on(self.fetch(name))
    }

    /// The bytes of several objects, in the order of `names`.
    pub(crate) fn read_all(&self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let all = stream::iter(names).map(|name| self.fetch(name)).buffered(AT_ONCE);
        self.runtime.block_on(all.try_collect())
    }

    /// Writes an object. It appears whole or not at all.
    pub(crate) fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let path = self.path(name);
        let put = self.runtime.block_on(self.store.put(&path, bytes.into()));
        put.map(|_| ()).map_err(|error| self.broken(name, "write", &error))
    }

    /// An object's address.
    pub(crate) fn shown(&self, name: &str) -> String {
        format!("{}/{name}", self.url.as_str().trim_end_matches('/'))
    }

    fn broken(&self, name: &str, deed: &str, error: &object_store::Error) -> Error {
        Error::Work(format!("{}: cannot {deed} it ({error}); {REMEDY}", self.shown(name)))
    }
}

/// The variables of the environment that are text.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
}

const REMEDY: &str = "check the address, and the credentials, region and endpoint in the environment (AWS_ACCESS_KEY_ID, \
                      AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT)";
