//! `resched new-policy`: a folder to write a policy of your own in.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use resched_policies::POLICIES;
use resched_tables::store::StagedDir;

use crate::failure::Failure;
use crate::output::print;

/// The templates: `data` has the jobs, `python` and `rust` have the programs, each for the three kinds of clusters.
static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/assets/new-policy");

/// What the templates call the policy and its class.
const NAME: &str = "my-policy";
const CLASS: &str = "MyPolicy";
/// The longest name, in letters.
const LONGEST: usize = 40;

/// Make a folder in which you can write your own policy: the policy, a test, jobs to replay, and what to compare it with.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched new-policy shortest-job\n  resched new-policy shortest-job --requests\n  \
                        resched new-policy shortest-job --rust --kit ../resched"
)]
pub(crate) struct Args {
    /// The name of the policy and of its folder: small letters, digits and single hyphens, such as `shortest-job`.
    name: String,
    /// Write it in Python. This is the default. It needs the Python package of resched.
    #[arg(long, conflicts_with = "rust")]
    python: bool,
    /// Write it in Rust, as a crate that uses `resched-kit`.
    #[arg(long)]
    rust: bool,
    /// Write it for the slots of MapReduce 1. This is the default.
    #[arg(long, conflicts_with_all = ["containers", "requests"])]
    slots: bool,
    /// Write it for the containers of YARN.
    #[arg(long, conflicts_with = "requests")]
    containers: bool,
    /// Write it for tasks that request processor and memory, as under Slurm and in production traces.
    #[arg(long)]
    requests: bool,
    /// The sources of resched, for a policy in Rust: a folder, or the address of a Git repository. Without it, the clone that this program or
    /// the current folder is in.
    #[arg(long, value_name = "DIR|URL", requires = "rust")]
    kit: Option<String>,
}

impl Args {
    /// The folder of its templates, and its cluster in words.
    fn kind(&self) -> (&'static str, &'static str) {
        match (self.containers, self.requests) {
            (true, _) => ("containers", "the containers of YARN"),
            (_, true) => ("requests", "tasks that request processor and memory"),
            _ => ("slots", "the slots of MapReduce 1"),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    check(&args.name)?;
    let folder = Path::new(&args.name);
    if fs::symlink_metadata(folder).is_ok() {
        let problem = "expected a name that the current folder does not have yet; choose another name";
        return Err(Failure::request(format!("{}: {problem}", args.name)));
    }
    let (kind, cluster) = args.kind();
    let mut files = Files { name: &args.name, made: Vec::new() };
    files.take(&format!("data/{kind}"), "", &[])?;
    if args.rust {
        let kit = Kit::find(args.kit.as_deref())?;
        let package = package_of(&args.name);
        files.take(&format!("rust/{kind}"), "src/", &[])?;
        files.take("rust/common", "", &[("PACKAGE", &package), ("KIT", &kit.dependency)])?;
        files.made.extend(kit.lock.map(|lock| ("Cargo.lock".to_owned(), lock)));
    } else {
        files.take(&format!("python/{kind}"), "", &[])?;
    }
    files.write(folder)?;
    print(format!(
        "{}: a policy in {} for {cluster}. Next:\n\n{}\n{0}/README.md says more.",
        args.name,
        if args.rust { "Rust" } else { "Python" },
        next(args)
    ))
}

/// The commands to run next.
fn next(args: &Args) -> String {
    let ingest = if args.requests { "  resched ingest jobs.swf --out trace\n" } else { "" };
    let then = match args.rust {
        true => "  cargo test\n  cargo run\n",
        false => "  pytest\n  resched sweep sweep.toml --out results\n",
    };
    format!("  cd {}\n{ingest}{then}", args.name)
}

/// Refuses what is no name for a folder, a package and a policy.
fn check(name: &str) -> Result<(), Failure> {
    let is_word = |word: &str| {
        word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit()) && !word.is_empty()
    };
    let begins = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    if !begins || name.len() > LONGEST || !name.split('-').all(is_word) {
        return Err(Failure::request(format!(
            "expected a name of at most {LONGEST} small letters, digits and single hyphens that begins with a letter, found `{name}`; \
             write one such as `shortest-job`"
        )));
    }
    // Each table would have two rows with this name. On a production trace, `fair` is `batch-fair`.
    let is_taken = |known: &str| known == name || known.strip_prefix("batch-") == Some(name);
    if POLICIES.iter().any(|info| is_taken(info.name)) {
        return Err(Failure::request(format!("`{name}` is a policy of resched; choose another name")));
    }
    Ok(())
}

/// The name of the package, and of the class in words. The ending keeps both apart from words of the languages and names of their libraries.
fn package_of(name: &str) -> String {
    if name.ends_with("-policy") { name.to_owned() } else { format!("{name}-policy") }
}

/// The name of the class: `shortest-job` becomes `ShortestJobPolicy`.
fn class_of(name: &str) -> String {
    let capital = |word: &str| {
        word.chars().next().map(|first| first.to_ascii_uppercase()).into_iter().chain(word.chars().skip(1)).collect()
    };
    package_of(name).split('-').map(capital).collect::<Vec<String>>().concat()
}

/// The files of a folder, with the name of the policy in them.
struct Files<'a> {
    name: &'a str,
    made: Vec<(String, String)>,
}

impl Files<'_> {
    /// Takes the templates of a folder. Programs in Rust go to `sources`. `words` are further words to replace.
    fn take(&mut self, folder: &str, sources: &str, words: &[(&str, &str)]) -> Result<(), Failure> {
        let broken = |path: &Path| {
            Failure::work(format!("{}: no template; this is a defect of resched, please report it", path.display()))
        };
        let templates = TEMPLATES.get_dir(folder).ok_or_else(|| broken(Path::new(folder)))?;
        for file in templates.files() {
            let text = file.contents_utf8().ok_or_else(|| broken(file.path()))?;
            let name = file.path().file_name().and_then(|name| name.to_str()).ok_or_else(|| broken(file.path()))?;
            let name = match name {
                "manifest.toml" => "Cargo.toml".to_owned(),
                "gitignore" => ".gitignore".to_owned(),
                program if program.ends_with(".rs") => format!("{sources}{program}"),
                other => other.to_owned(),
            };
            // The name comes first, so that it stays as it is in a path.
            let text = text.replace(NAME, self.name).replace(CLASS, &class_of(self.name));
            self.made.push((name, words.iter().fold(text, |text, (from, to)| text.replace(from, to))));
        }
        Ok(())
    }

    /// Writes them as a folder that is complete or absent.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let mut staged = StagedDir::create(folder, "README.md")?;
        for (name, text) in &self.made {
            if let Some((parent, _)) = name.rsplit_once('/') {
                let parent = staged.path().join(parent);
                let failed = |error| Failure::work(format!("{}: cannot make the folder: {error}", parent.display()));
                fs::create_dir_all(&parent).map_err(failed)?;
            }
            staged.write(name, text.as_bytes())?;
        }
        Ok(staged.commit()?)
    }
}

/// Where the crate `resched-kit` is.
struct Kit {
    /// The value of the dependency in `Cargo.toml`.
    dependency: String,
    /// The versions of the libraries that the clone is tested with, if there is one. Cargo keeps those that the policy needs.
    lock: Option<String>,
}

impl Kit {
    /// The kit at this place. Without one: of the clone that this program or the current folder is in.
    fn find(place: Option<&str>) -> Result<Self, Failure> {
        let expected = "expected the sources of resched, with crates/kit";
        if let Some(url) = place.filter(|place| place.contains("://") || place.starts_with("git@")) {
            return Ok(Self { dependency: format!("{{ git = {} }}", quoted(url)), lock: None });
        }
        let clone = match place {
            Some(folder) => clone_at(Path::new(folder))
                .ok_or_else(|| Failure::request(format!("--kit {folder}: {expected}; name the folder of a clone")))?,
            None => clone_around().ok_or_else(|| {
                Failure::request(format!(
                    "{expected}, found none around this program and the current folder; name the folder of a clone or the address \
                     of a Git repository by --kit, or write the policy in Python"
                ))
            })?,
        };
        let path = clone.join("crates/kit");
        let path = path
            .to_str()
            .ok_or_else(|| Failure::request(format!("{}: expected a path in UTF-8; move the clone", path.display())))?;
        let lock = fs::read_to_string(clone.join("Cargo.lock")).ok();
        Ok(Self { dependency: format!("{{ path = {} }}", quoted(path)), lock })
    }
}

/// A text in quotes, as TOML has it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// The clone in this folder, as an absolute path without links.
fn clone_at(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.join("crates/kit/Cargo.toml").is_file().then_some(folder)
}

/// The clone that this program was built in or that the current folder is in. A program that was installed elsewhere does not know where its
/// sources are: a path of them inside it would make two builds differ.
fn clone_around() -> Option<PathBuf> {
    let places = [env::current_dir().ok(), env::current_exe().ok()];
    places.iter().flatten().find_map(|place| place.ancestors().find_map(clone_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_a_folder_and_of_a_package() {
        for good in ["shortest-job", "a", "my-policy", "top2-3", "policy", "self", "batch"] {
            assert!(check(good).is_ok(), "{good}");
        }
        let long = "a".repeat(LONGEST + 1);
        let bad = [
            "", "-a", "a-", "a--b", "2nd", "A", "a_b", "../a", "/a", "a/b", ".", "a b", "a\n", "é", "fifo", "drf",
            &long,
        ];
        for bad in bad {
            assert!(check(bad).is_err_and(|problem| problem.status() == 2), "{bad}");
        }
    }

    #[test]
    fn a_class_is_no_word_of_a_language() {
        let found = ["shortest-job", "my-policy", "self", "policy", "top2-3"].map(class_of);
        assert_eq!(found, ["ShortestJobPolicy", "MyPolicy", "SelfPolicy", "PolicyPolicy", "Top23Policy"]);
    }

    #[test]
    fn a_path_is_quoted() {
        assert_eq!(quoted("/a b/\"c\""), "'/a b/\"c\"'");
    }
}
