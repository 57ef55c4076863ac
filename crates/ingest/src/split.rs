//! Ingest of a tree with the files of several clusters: a trace for each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::files::find;
use super::groups::{Group, groups};
use super::inputs::{InputFile, Inputs};
use super::origins::{Origins, in_words_of_the_store};
use super::paths::is_standard_input;
use super::source::SourceFile;
use super::trackers::{is_name_of_machine, master};
use super::{Options, Plan, Progress, Work, tables, work};
use crate::formats::HADOOP;
use crate::formats::{FORMATS, sacct, spark};
use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::model::{JobRecord, NodeRow};
use resched_tables::sink::Sink;
use resched_tables::store::{Manifest, Out, Trace, place, refuse_link};

/// A trace that [`split`] wrote.
#[derive(Debug)]
pub struct Part {
    /// Its name, which is that of its folder.
    pub name: String,
    /// Its manifest; or why its files could not be read.
    pub manifest: Result<Manifest, Error>,
}

/// Turns the files and folders `paths` into traces, one for each cluster, in folders of `out`.
///
/// The format of a file decides first. Jobs of Hadoop and of Spark are of one cluster if they have the same master, stand in one file,
/// or ran on a machine of the same name. Lists by Slurm's sacct name the cluster of each job. To find out, these files are read twice.
///
/// # Errors
/// [`Error::Request`] if a path, the format or `out` is wrong, or if no file is in a known format. Errors in the content of files are
/// returned with their part.
pub fn split(paths: &[PathBuf], out: &Out, options: &Options, progress: &mut dyn Progress) -> Result<Vec<Part>, Error> {
    split_all(paths, out, options, progress).map_err(in_words_of_the_store)
}

fn split_all(paths: &[PathBuf], out: &Out, options: &Options, progress: &mut dyn Progress) -> Result<Vec<Part>, Error> {
    let Out { path, force } = out;
    let path = &place(path)?;
    if Trace::open(path).is_ok() {
        return Err(Error::Request(format!(
            "{}: expected a folder for several traces, found a trace; name another --out",
            path.display()
        )));
    }
    if paths.iter().any(|path| is_standard_input(path)) {
        return Err(Error::Request(
            "-: expected files or folders, found standard input, which can be read only once; save it to a file first"
                .to_owned(),
        ));
    }
    let mut inputs = find(paths)?;
    let mut all: Vec<(Group, Option<String>)> = Vec::new();
    for group in groups(inputs.files.iter().enumerate(), &inputs.origins) {
        if [HADOOP, spark::FORMAT.name].contains(&group.name.as_str()) {
            all.extend(clusters(&inputs, group, progress).into_iter().map(|group| (group, None)));
        } else if group.name == sacct::FORMAT.name && options.cluster_name.is_none() {
            all.extend(named_clusters(&inputs, group, progress));
        } else {
            all.push((group, None));
        }
    }
    if all.is_empty() {
        return Err(Error::Request(format!(
            "{} files: expected job histories, found none in a known format; name other files or folders",
            inputs.files.len()
        )));
    }
    fs::create_dir_all(path).map_err(Error::io(path, "make"))?;
    let grouped: BTreeSet<usize> = all.iter().flat_map(|(group, _)| &group.files).copied().collect();
    // Nobody knows of which cluster these files are, and the entries that were not read, so the first trace that is written counts them.
    let mut rest: Vec<usize> = (0..inputs.files.len()).filter(|place| !grouped.contains(place)).collect();
    let mut parts = Vec::new();
    for (Group { name, files }, cluster) in all {
        let of_group = Inputs {
            files: files.iter().chain(&rest).filter_map(|&place| inputs.files.get(place).cloned()).collect(),
            confs: inputs.confs.clone(),
            folders: inputs.folders.clone(),
            origins: Arc::clone(&inputs.origins),
            unreadable: inputs.unreadable,
            outside: inputs.outside,
        };
        let dir = Out { path: path.join(&name), force: *force };
        refuse_link(&dir.path)?;
        let manifest = match work(of_group, None, None, options)? {
            Work::Tables(plan) => tables::ingest(&plan, &dir, options.threads(), progress),
            Work::Files(plan) => super::write(&Plan { is_part: true, cluster, ..plan }, &dir, options, progress),
        };
        match manifest {
            Err(error) if !matches!(error, Error::Source { .. } | Error::Request(_)) => return Err(error),
            manifest => {
                if manifest.is_ok() {
                    (inputs.unreadable, inputs.outside) = (0, 0);
                    rest.clear();
                }
                parts.push(Part { name, manifest });
            }
        }
    }
    Ok(parts)
}

/// The group of Hadoop's or Spark's files, cut into clusters.
fn clusters(inputs: &Inputs, group: Group, progress: &mut dyn Progress) -> Vec<Group> {
    let mut clusters = Clusters::default();
    let bytes = |place: &usize| inputs.files.get(*place).map_or(0, |file| file.bytes);
    progress.begin(group.files.iter().map(bytes).sum());
    for &place in &group.files {
        if let Some(file) = inputs.files.get(place) {
            progress.file(&file.path);
            clusters.add(place, look(file, &inputs.origins, progress));
        }
    }
    clusters.into_groups(&group.name)
}

/// The group of Slurm's lists, with the cluster that each trace is of. A list may name several; those that name none stay together.
fn named_clusters(inputs: &Inputs, group: Group, progress: &mut dyn Progress) -> Vec<(Group, Option<String>)> {
    let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut nameless = Vec::new();
    let bytes = |place: &usize| inputs.files.get(*place).map_or(0, |file| file.bytes);
    progress.begin(group.files.iter().map(bytes).sum());
    for &place in &group.files {
        let Some(file) = inputs.files.get(place) else { continue };
        progress.file(&file.path);
        let names = match SourceFile::open(&file.path, &file.rest, &inputs.origins, progress) {
            Ok(mut source) => sacct::clusters(&mut source.content(), &file.path.display().to_string()),
            Err(_) => BTreeSet::new(),
        };
        if names.is_empty() {
            nameless.push(place);
        }
        for name in names {
            named.entry(name).or_default().push(place);
        }
    }
    if named.len() < 2 {
        return vec![(group, None)];
    }
    let mut folders: BTreeSet<String> = BTreeSet::new();
    let mut all: Vec<(Group, Option<String>)> = Vec::new();
    for (cluster, files) in named {
        let mut name = format!("{}-{}", group.name, folder_name(&cluster));
        while !folders.insert(name.clone()) {
            name.push('+');
        }
        all.push((Group { name, files }, Some(cluster)));
    }
    if !nameless.is_empty() {
        all.push((Group { name: group.name, files: nameless }, None));
    }
    all
}

/// The most letters of a cluster in the name of its folder. With four bytes each, they fit into a name of 255 bytes.
const LONGEST_FOLDER: usize = 60;

/// A name from a list as a part of the name of a folder.
fn folder_name(text: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_".contains(letter) { letter } else { '_' };
    text.chars().take(LONGEST_FOLDER).map(plain).collect()
}

/// What a file says about its cluster.
#[derive(Debug, Default)]
struct Seen {
    masters: BTreeSet<String>,
    hosts: BTreeSet<String>,
}

impl Seen {
    fn host(&mut self, host: Option<&str>) {
        if let Some(host) = host.filter(|host| is_name_of_machine(host) && !self.hosts.contains(*host)) {
            self.hosts.insert(host.to_owned());
        }
    }
}

impl Sink for Seen {
    fn job(&mut self, record: JobRecord) -> Result<(), Error> {
        self.masters.extend(master(&record.job).map(str::to_owned));
        for task in &record.tasks {
            task.attempts.iter().for_each(|attempt| self.host(attempt.host.as_deref()));
        }
        Ok(())
    }

    fn node(&mut self, node: NodeRow) {
        self.host(Some(&node.host));
    }

    fn skip(&mut self, _: Cause, _: u64) {}
}

/// Reads a file for its masters and machines. Damage ends the look; the ingest reports it.
fn look(file: &InputFile, origins: &Origins, progress: &mut dyn Progress) -> Seen {
    let mut seen = Seen::default();
    let Ok(mut source) = SourceFile::open(&file.path, &file.rest, origins, progress) else { return seen };
    if let Some(format) = FORMATS.iter().find(|format| (format.sniff)(source.head())) {
        let _ = (format.read)(&mut source.content(), &file.path.display().to_string(), &mut seen);
    }
    seen
}

/// The clusters so far. Those that turn out to be one are joined.
#[derive(Debug, Default)]
struct Clusters {
    files: BTreeMap<usize, (Seen, Vec<usize>)>,
}

impl Clusters {
    /// Adds a file to the cluster that has its masters or machines, or to a new one.
    fn add(&mut self, place: usize, seen: Seen) {
        let is_same = |other: &Seen| !other.masters.is_disjoint(&seen.masters) || !other.hosts.is_disjoint(&seen.hosts);
        let same: Vec<usize> = self.files.iter().filter(|(_, (other, _))| is_same(other)).map(|(&at, _)| at).collect();
        let mut all = (seen, vec![place]);
        for at in same {
            if let Some((mut seen, mut files)) = self.files.remove(&at) {
                all.0.masters.append(&mut seen.masters);
                all.0.hosts.append(&mut seen.hosts);
                all.1.append(&mut files);
            }
        }
        all.1.sort_unstable();
        let first = all.1.first().copied().unwrap_or(place);
        self.files.insert(first, all);
    }

    /// A group for each, named after `family` and a master.
    fn into_groups(self, family: &str) -> Vec<Group> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let group = |(first, (seen, files)): (usize, (Seen, Vec<usize>))| {
            // Files without a job, such as a topology, are named by their place.
            let master = seen.masters.first().cloned().unwrap_or_else(|| format!("file-{first}"));
            let mut name = format!("{family}-{master}");
            while !names.insert(name.clone()) {
                name.push('+');
            }
            Group { name, files }
        };
        self.files.into_iter().map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_names_its_folder_and_leads_nowhere() {
        assert_eq!(folder_name("alpha-2_x"), "alpha-2_x");
        assert_eq!(folder_name("../a/b c"), "___a_b_c");
        assert_eq!(folder_name(&"x".repeat(500)).len(), LONGEST_FOLDER);
    }

    #[test]
    fn files_of_one_master_or_one_machine_are_of_one_cluster() {
        let seen = |masters: &[&str], hosts: &[&str]| Seen {
            masters: masters.iter().map(|&name| name.to_owned()).collect(),
            hosts: hosts.iter().map(|&name| name.to_owned()).collect(),
        };
        let mut clusters = Clusters::default();
        clusters.add(0, seen(&["1"], &["a", "b"]));
        clusters.add(1, seen(&["7"], &["x"]));
        clusters.add(2, seen(&["2"], &["c"]));
        clusters.add(3, seen(&["1"], &[]));
        // A topology of the first and the third.
        clusters.add(4, seen(&[], &["b", "c"]));
        let group = |name: &str, files: &[usize]| Group { name: name.to_owned(), files: files.to_vec() };
        assert_eq!(clusters.into_groups(HADOOP), [group("hadoop-1", &[0, 2, 3, 4]), group("hadoop-7", &[1])]);
    }
}
