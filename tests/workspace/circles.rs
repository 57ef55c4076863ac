//! No files of a crate need each other in a circle: each can be read after those that it uses.
//!
//! A file uses another one if it names something that stands there, by `use` or by a path, outside of tests. Where a module hands on what
//! another one declares (`pub use`), the file that declares it is used. A module is made of its children, and is read together with them: that
//! it uses them is no circle if they use it, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, UseTree, Visibility};

/// The path of a module in its crate; empty for the root.
type Module = Vec<String>;

/// A name in a path: the module where the path stands, and its segments.
type Named = (Module, Vec<String>);

/// The files of a crate.
#[derive(Default)]
struct Crate {
    /// The file of each module.
    files: BTreeMap<Module, PathBuf>,
    /// Modules that only tests have.
    for_tests: BTreeSet<Module>,
    /// The names that a module has by `use`, with the paths that they stand for.
    handed_on: BTreeMap<(Module, String), Vec<String>>,
    /// The names in each file, by its module.
    named: BTreeMap<Module, Vec<Named>>,
}

impl Crate {
    fn read(src: &Path) -> Self {
        let mut found = Self::default();
        for file in rust_files(src) {
            let module = module_of(file.strip_prefix(src).unwrap());
            let text = fs::read_to_string(&file).unwrap();
            let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let mut reader = Reader { found: &mut found, file: module.clone(), module: module.clone() };
            reader.visit_file(&syntax);
            found.files.insert(module, file);
        }
        found
    }

    /// The files that each file uses.
    fn uses(&self) -> BTreeMap<&Module, BTreeSet<&Module>> {
        let is_for_tests = |module: &Module| self.for_tests.iter().any(|test| module.starts_with(test));
        let files = self.named.iter().filter(|(file, _)| !is_for_tests(file));
        files
            .map(|(file, named)| {
                let used = named.iter().filter_map(|(module, path)| self.resolve(module, path, 0));
                (file, used.filter(|used| !used.starts_with(file) && !is_for_tests(used)).collect())
            })
            .collect()
    }

    /// The module of the file that declares what this path names; `None` if it is of another crate.
    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<&Module> {
        let mut at = module.clone();
        let mut rest = path;
        let mut found = None;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                name => {
                    let child: Module = at.iter().cloned().chain([name.to_owned()]).collect();
                    if self.files.contains_key(&child) {
                        at = child;
                    } else if let Some(target) = self.handed_on.get(&(at.clone(), name.to_owned()))
                        && depth < 8
                        && target.first().map(String::as_str) != Some(name)
                    {
                        let target: Vec<String> = target.iter().chain(after).cloned().collect();
                        return self.resolve(&at, &target, depth + 1).or(found);
                    } else {
                        break;
                    }
                }
            }
            found = self.file_of(&at);
            rest = after;
        }
        found
    }

    /// The module itself if it has a file, else the one in whose file it stands.
    fn file_of(&self, module: &Module) -> Option<&Module> {
        (0..=module.len()).rev().find_map(|len| self.files.get_key_value(&module[..len])).map(|(file, _)| file)
    }

    /// Files that need each other, each circle by the paths of its files.
    fn circles(&self) -> Vec<Vec<String>> {
        let uses = self.uses();
        let reached = |from: &Module| {
            let mut seen: BTreeSet<&Module> = BTreeSet::new();
            let mut next: Vec<&Module> = uses.get(from).into_iter().flatten().copied().collect();
            while let Some(module) = next.pop() {
                if seen.insert(module) {
                    next.extend(uses.get(module).into_iter().flatten());
                }
            }
            seen
        };
        let reached: BTreeMap<&Module, BTreeSet<&Module>> = uses.keys().map(|file| (*file, reached(file))).collect();
        let circles: BTreeSet<Vec<String>> = reached
            .iter()
            .filter(|(file, others)| others.contains(*file))
            .map(|(file, others)| {
                let back = others.iter().filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)));
                back.filter_map(|other| self.files.get(*other)).map(|path| shown(path)).collect()
            })
            .collect();
        circles.into_iter().collect()
    }
}

/// Reads the names of a file.
struct Reader<'c> {
    found: &'c mut Crate,
    /// The module of the file.
    file: Module,
    /// The module that is read.
    module: Module,
}

impl Reader<'_> {
    fn name(&mut self, path: Vec<String>) {
        self.found.named.entry(self.file.clone()).or_default().push((self.module.clone(), path));
    }

    /// The paths of a tree of `use`, each with the name that it has here.
    fn leaves(tree: &UseTree, before: &[String], leaves: &mut Vec<(String, Vec<String>)>) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => Self::leaves(&path.tree, &with(&path.ident), leaves),
            UseTree::Name(name) if name.ident == "self" => {
                leaves.extend(before.last().map(|last| (last.clone(), before.to_vec())));
            }
            UseTree::Name(name) => leaves.push((name.ident.to_string(), with(&name.ident))),
            UseTree::Rename(name) => leaves.push((name.rename.to_string(), with(&name.ident))),
            UseTree::Glob(_) => leaves.push(("*".to_owned(), before.to_vec())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| Self::leaves(tree, before, leaves)),
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        } else if let Item::Mod(child) = item {
            let path = self.module.iter().cloned().chain([child.ident.to_string()]).collect();
            self.found.for_tests.insert(path);
        }
    }

    fn visit_item_mod(&mut self, child: &'ast ItemMod) {
        self.module.push(child.ident.to_string());
        visit::visit_item_mod(self, child);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut leaves = Vec::new();
        Self::leaves(&item.tree, &[], &mut leaves);
        for (name, path) in leaves {
            if matches!(item.vis, Visibility::Inherited) {
                self.name(path.clone());
            }
            self.found.handed_on.insert((self.module.clone(), name), path);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.name(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    /// The tokens of a macro are no syntax yet; paths in them stand between spaces.
    fn visit_macro(&mut self, call: &'ast Macro) {
        visit::visit_macro(self, call);
        let text = call.tokens.to_string();
        let words =
            text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).filter(|word| !word.is_empty());
        let mut path: Vec<String> = Vec::new();
        let mut goes_on = false;
        for word in words {
            if word == "::" {
                goes_on = true;
            } else {
                if !std::mem::take(&mut goes_on) && !path.is_empty() {
                    self.name(std::mem::take(&mut path));
                }
                path.extend(word.split("::").filter(|part| !part.is_empty()).map(str::to_owned));
                goes_on = word.ends_with("::");
            }
        }
        if !path.is_empty() {
            self.name(path);
        }
    }

    /// `pub(super)` is no use.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// `a/mod.rs` and `a.rs` are the module `a`; `lib.rs` and `main.rs` are the root.
fn module_of(file: &Path) -> Module {
    let mut module: Module = file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| last == "mod")
        || ["lib", "main"].map(|root| vec![root.to_owned()]).contains(&module)
    {
        module.pop();
    }
    module
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// A path from the folder of crates, such as `sim/src/lib.rs`.
fn shown(path: &Path) -> String {
    path.canonicalize().unwrap().strip_prefix(crates()).unwrap_or(path).display().to_string()
}

#[test]
fn no_files_need_each_other() {
    let mut found: Vec<Vec<String>> = Vec::new();
    for folder in fs::read_dir(crates()).unwrap() {
        let src = folder.unwrap().path().join("src");
        if src.is_dir() {
            found.extend(Crate::read(&src).circles());
        }
    }
    found.sort();
    let shown: Vec<String> = found.iter().map(|files| files.join(" ⇄ ")).collect();
    assert!(
        shown.is_empty(),
        "files need each other; move what both use into a file of its own:\n{}",
        shown.join("\n")
    );
}

#[test]
fn circles_are_found_and_handing_on_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let circles = |files: &[(&str, &str)]| {
        let src = folder.path().join("src");
        drop(fs::remove_dir_all(&src));
        for (name, text) in files {
            let path = src.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let names = |files: Vec<String>| -> Vec<String> {
            files.iter().map(|file| file.rsplit("src/").next().unwrap().to_owned()).collect()
        };
        Crate::read(&src).circles().into_iter().map(names).collect::<Vec<_>>()
    };
    // A parent that declares a child and hands on its names does not need it; the child may use the parent's own.
    let parent = ("lib.rs", "mod a; mod b; pub use a::A; pub struct Root;");
    assert!(circles(&[parent, ("a.rs", "use crate::Root; pub struct A(Root);"), ("b.rs", "use crate::A;")]).is_empty());
    // What a parent hands on stands where it is declared.
    let both = [parent, ("a.rs", "use super::b::B; pub struct A(B);"), ("b.rs", "use crate::A; pub struct B;")];
    assert_eq!(circles(&both), [["a.rs", "b.rs"]]);
    // Paths and macros count as `use` does; tests do not.
    let paths =
        [parent, ("a.rs", "pub struct A; fn f() { crate::b::g() }"), ("b.rs", "pub fn g() { vec![crate::a::A]; }")];
    assert_eq!(circles(&paths), [["a.rs", "b.rs"]]);
    let test = ("b.rs", "pub fn g() {} #[cfg(test)] mod tests { use crate::a::A; }");
    assert!(circles(&[parent, paths[1], test]).is_empty());
    // A module may use its children; what they use of each other counts.
    let using = ("lib.rs", "mod a; mod b; use a::A; pub struct Root(A);");
    assert!(circles(&[using, ("a.rs", "pub struct A(super::Root);"), ("b.rs", "")]).is_empty());
    let three = [
        parent,
        ("a.rs", "mod c; use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::a::c::C;"),
        ("a/c.rs", "use super::A;"),
    ];
    assert_eq!(circles(&three), [["a.rs", "a/c.rs", "b.rs"]]);
}
