//! The objects under an address.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{BackoffConfig, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use crate::stream::Stream;
use crate::{Error, LONGEST_KEY, MOST_OBJECTS};

/// The number of objects to fetch at once.
const AT_ONCE: usize = 32;
/// How long the store may take for the next page of a list.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often and how long a request is tried again if the store does not answer or reports a fault of its own.
pub(crate) const TRIES: usize = 4;
const LONGEST_TRY: Duration = Duration::from_secs(30);

/// The objects under an address of an object store.
#[derive(Debug)]
pub struct Objects {
    url: Url,
    store: Arc<AmazonS3>,
    prefix: Path,
    runtime: Arc<Runtime>,
}

impl Objects {
    /// Opens an address. The store is not asked yet.
    ///
    /// # Errors
    /// [`Error::Request`] if the address or the environment is wrong.
    pub fn open(url: &Url) -> Result<Self, Error> {
        Self::with(url, AmazonS3Builder::from_env())
    }

    /// Opens an address with the settings of a client.
    pub(crate) fn with(url: &Url, settings: AmazonS3Builder) -> Result<Self, Error> {
        let wrong = |problem: &dyn fmt::Display| Error::address(url.as_str(), problem);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(|e| wrong(&e))?;
        // An error means that it is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: Duration::from_secs(4), ..BackoffConfig::default() },
            max_retries: TRIES,
            retry_timeout: LONGEST_TRY,
        };
        let store = settings.with_url(url.as_str()).with_retry(retry).build().map_err(|error| wrong(&error))?;
        let prefix = Path::from_url_path(url.path()).map_err(|error| wrong(&error))?;
        Ok(Self { url: url.clone(), store: Arc::new(store), prefix, runtime: Arc::new(runtime) })
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').filter(|part| !part.is_empty()).fold(self.prefix.clone(), |path, part| path.join(part))
    }

    async fn fetch(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, Error> {
        let found = match self.store.get(&self.path(name)).await {
            Ok(found) if found.meta.size > most => return Err(self.too_large(name, found.meta.size, most)),
            Ok(found) => found.bytes().await,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => Err(error),
        };
        found.map(|bytes| Some(bytes.into())).map_err(|error| Error::of(self.shown(name), "read", &error))
    }

    fn too_large(&self, name: &str, size: u64, most: u64) -> Error {
        Error::Failed {
            address: self.shown(name),
            deed: "read",
            expected: format!("an object of at most {most} bytes"),
            found: format!("one of {size}"),
            remedy: "remove it, and run the command again".to_owned(),
        }
    }

    /// The bytes of an object; `None` if it does not exist.
    ///
    /// # Errors
    /// [`Error::Failed`], also if it has more than `most` bytes.
    pub fn read(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, Error> {
        self.runtime.block_on(self.fetch(name, most))
    }

    /// The bytes of several objects, in the order of `names`.
    ///
    /// # Errors
    /// As [`Objects::read`].
    pub fn read_all(&self, names: &[String], most: u64) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let all = stream::iter(names).map(|name| self.fetch(name, most)).buffered(AT_ONCE);
        self.runtime.block_on(all.try_collect())
    }

    /// Writes an object. It appears whole or not at all.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let put = self.runtime.block_on(self.store.put(&self.path(name), bytes.into()));
        put.map(|_| ()).map_err(|error| Error::of(self.shown(name), "write", &error))
    }

    /// The object at the address itself; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn object(self: &Arc<Self>) -> Result<Option<Object>, Error> {
        if self.prefix.as_ref().is_empty() {
            return Ok(None);
        }
        match self.runtime.block_on(self.store.head(&self.prefix)) {
            Ok(meta) => Ok(Some(Object { objects: Arc::clone(self), meta, name: String::new() })),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(Error::of(self.shown(""), "look at", &error)),
        }
    }

    /// All objects whose keys continue the address after a slash, in the order of the store.
    ///
    /// # Errors
    /// [`Error::Failed`], also if there are more than [`MOST_OBJECTS`], or a key is longer than [`LONGEST_KEY`].
    pub fn list(self: &Arc<Self>) -> Result<Vec<Object>, Error> {
        self.list_up_to(MOST_OBJECTS)
    }

    pub(crate) fn list_up_to(self: &Arc<Self>, most: usize) -> Result<Vec<Object>, Error> {
        let mut found = Vec::new();
        let mut pages = self.store.list(Some(&self.prefix));
        while let Some(meta) = self.next_of(&mut pages)? {
            let name = meta.location.prefix_match(&self.prefix).map(|parts| {
                let parts: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
                parts.join("/")
            });
            let name = name.unwrap_or_default();
            if meta.location.as_ref().len() > LONGEST_KEY {
                return Err(self.refused(format!("keys of at most {LONGEST_KEY} bytes"), "a longer one"));
            }
            if found.len() >= most {
                return Err(self.refused(format!("at most {most} objects"), "more"));
            }
            found.push(Object { objects: Arc::clone(self), meta, name });
        }
        Ok(found)
    }

    /// The next object of a list.
    fn next_of(
        &self,
        pages: &mut stream::BoxStream<'static, object_store::Result<ObjectMeta>>,
    ) -> Result<Option<ObjectMeta>, Error> {
        let next = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, pages.try_next()).await });
        match next {
            Ok(next) => next.map_err(|error| Error::of(self.shown(""), "list", &error)),
            Err(_) => Err(self.refused(format!("an answer within {} s", PATIENCE.as_secs()), "none")),
        }
    }

    fn refused(&self, expected: String, found: &str) -> Error {
        Error::Failed {
            address: self.shown(""),
            deed: "list",
            expected,
            found: found.to_owned(),
            remedy: "name a longer prefix, such as that of a day".to_owned(),
        }
    }

    /// An object's address.
    pub fn shown(&self, name: &str) -> String {
        let address = self.url.as_str().trim_end_matches('/');
        if name.is_empty() { address.to_owned() } else { format!("{address}/{name}") }
    }
}

/// An object as it was when it was listed.
#[derive(Clone)]
pub struct Object {
    objects: Arc<Objects>,
    meta: ObjectMeta,
    name: String,
}

impl Object {
    /// The rest of its key after the address that was listed; empty if it is the object at that address.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its size (bytes).
    pub fn bytes(&self) -> u64 {
        self.meta.size
    }

    /// Its address.
    pub fn shown(&self) -> String {
        self.objects.shown(&self.name)
    }

    /// Reads it from its first byte.
    pub fn stream(&self) -> Stream {
        let Objects { store, runtime, .. } = &*self.objects;
        Stream::new(Arc::clone(store), Arc::clone(runtime), self.meta.clone(), self.shown())
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("address", &self.shown()).field("bytes", &self.bytes()).finish()
    }
}
