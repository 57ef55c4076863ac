//! Names of resources.

/// A resource by its number in [`Resources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource(pub u16);

/// `cpu`, in thousandths of a core.
pub const CPU: Resource = Resource(0);
/// `memory`, in bytes.
pub const MEMORY: Resource = Resource(1);
/// The most resources that nodes and pods may name together.
pub const MOST_RESOURCES: usize = 256;

/// More than [`MOST_RESOURCES`] were named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected at most {MOST_RESOURCES} different resources, found `{0}` beyond them; leave out those that no pod waits for"
)]
pub struct TooManyResources(pub String);

/// The names that were given, in the order in which they came; `cpu` and `memory` are always the first two.
#[derive(Clone, Debug)]
pub struct Resources(Vec<String>);

impl Default for Resources {
    fn default() -> Self {
        Self(vec!["cpu".to_owned(), "memory".to_owned()])
    }
}

impl Resources {
    /// The number of a name, new or known.
    ///
    /// # Errors
    /// Too many names.
    pub fn number(&mut self, name: &str) -> Result<Resource, TooManyResources> {
        let place = self.0.iter().position(|known| known == name).unwrap_or(self.0.len());
        if place == self.0.len() {
            if place == MOST_RESOURCES {
                return Err(TooManyResources(name.to_owned()));
            }
            self.0.push(name.to_owned());
        }
        Ok(Resource(u16::try_from(place).unwrap_or(u16::MAX)))
    }

    /// The name of a resource, empty if it has none.
    pub fn name(&self, resource: Resource) -> &str {
        self.0.get(usize::from(resource.0)).map_or("", String::as_str)
    }

    /// How many names there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}
