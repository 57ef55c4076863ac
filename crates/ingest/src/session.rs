//! One ingest: the state that is kept from file to file, and the steps for each job.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::applications::Applications;
use super::backwards;
use super::begun::Begun;
use super::complete::{bound_texts, complete, rename, rename_repeated};
use super::confs::{self, CONF_FORMAT, Confs, Entered};
use super::copies::{Claim, Copies, Held, HeldBack, MOST_HELD, Notes};
use super::far::{self, Mended};
use super::fault::{Fault, MOST_NAMED, Nothing, damage_since, no_history};
use super::groups::MOST_LISTED;
use super::inputs::{InputFile, Inputs};
use super::machines::Machines;
use super::near_misses::near_miss;
use super::options::Options;
use super::origins::Origins;
use super::paths::is_standard_input;
use super::progress::Progress;
use super::source::SourceFile;
use super::timed;
use super::trackers::Trackers;
use crate::formats::mapped::Map;
use crate::formats::{FORMATS, Format, ReadAs, TABLE_FORMATS, conf_xml, text_history};
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::clock::Zone;
use resched_tables::engine::RunEngine;
use resched_tables::model::{JobRecord, JobRow, MAPREDUCE, NodeRow, Outcome};
use resched_tables::sink::{Damage, Kept, Room, Sink, Tasks};
use resched_tables::store::{LIKELY_HOSTS, Manifest, ReadFrom, SCHEDULER_VERSION, STARTS, Source, System, TimeZero};

/// A format, and what its reader keeps until the last source.
type KeptBy = (&'static Format, Option<Box<dyn Kept>>);

pub(super) struct Session<'a> {
    sink: &'a mut dyn Sink,
    options: &'a Options,
    /// The cluster whose jobs to take, if that is not for the options to say.
    cluster: Option<&'a str>,
    confs: Confs<'a>,
    origins: &'a Origins,
    folders: Vec<Folder<'a>>,
    machines: Machines,
    /// The numbers of Slurm's jobs, to see whether their list begins in the middle.
    begun: Begun,
    /// The jobs so far.
    copies: Copies,
    /// True if the jobs come from a reader that has compared all of them, and no others came before.
    are_different: bool,
    /// Jobs that have not ended, of which a better copy may come.
    held: HeldBack,
    /// True if more sources follow the one that is read.
    more_follow: bool,
    /// What readers keep until the last source, by the name of their format.
    kept: BTreeMap<&'static str, KeptBy>,
    /// The first record of the file that could not be read.
    damage: Option<Damage>,
    /// Files read so far: the number of the one being read.
    files: u64,
    /// Jobs handed to the sink.
    jobs: u64,
    /// Jobs that sources gave, taken or not.
    offered: u64,
    /// The same, with machines.
    yielded: u64,
    skipped: BTreeMap<Cause, u64>,
    sources: Vec<Source>,
    /// The zero of the times, and the file that decided it.
    time_zero: Option<(TimeZero, PathBuf)>,
    /// True if tasks were made.
    made_tasks: bool,
    /// Numbers of the sources that apply to all of their jobs.
    parameters: BTreeMap<String, serde_json::Value>,
    /// The settings of applications.
    applications: Applications,
    /// Tables for which the sources have rows.
    reported: BTreeSet<&'static str>,
    /// The masters of the jobs of each folder, and of the files that you name, to distinguish clusters; none if the files are known to be of one.
    trackers: Option<BTreeMap<usize, Trackers>>,
    /// True if each folder must hold a job.
    is_whole: bool,
    /// The engine that replays the jobs, by the first of them that names its framework.
    engine: Option<RunEngine>,
    /// What ran the jobs, as the sources say it.
    systems: BTreeSet<System>,
    /// Columns of which a rule filled some rows, with the rule and how many.
    made_rows: BTreeMap<&'static str, (&'static str, u64)>,
    /// What the columns were read from, by the name of the format.
    read_from: BTreeMap<String, ReadFrom>,
    /// Files in no known format.
    unrecognised: Vec<String>,
}

/// The place of the files that you name one by one, behind all folders.
const NAMED: usize = usize::MAX;

/// A folder that was named, and what was found in it.
struct Folder<'a> {
    path: &'a Path,
    files: u64,
    yielded: u64,
    /// What is wrong with the first file that gave nothing.
    first_fault: Option<String>,
}

impl<'a> Session<'a> {
    pub(super) fn new(inputs: &'a Inputs, sink: &'a mut dyn Sink, options: &'a Options, is_part: bool) -> Self {
        let folders =
            inputs.folders.iter().map(|path| Folder { path, files: 0, yielded: 0, first_fault: None }).collect();
        let mut session = Self {
            sink,
            options,
            cluster: None,
            confs: Confs::new(inputs),
            origins: &inputs.origins,
            folders,
            machines: Machines::default(),
            begun: Begun::default(),
            copies: Copies::default(),
            are_different: false,
            held: HeldBack::default(),
            more_follow: false,
            kept: BTreeMap::new(),
            damage: None,
            files: 0,
            jobs: 0,
            offered: 0,
            yielded: 0,
            skipped: BTreeMap::new(),
            sources: Vec::new(),
            time_zero: None,
            made_tasks: false,
            parameters: BTreeMap::new(),
            applications: Applications::default(),
            reported: BTreeSet::new(),
            trackers: (!is_part && !options.merge).then(BTreeMap::new),
            is_whole: !is_part,
            engine: None,
            systems: BTreeSet::new(),
            made_rows: BTreeMap::new(),
            read_from: BTreeMap::new(),
            unrecognised: Vec::new(),
        };
        session.skip(cause::UNREADABLE_ENTRY, inputs.unreadable);
        session.skip(cause::LINK_OUT_OF_FOLDER, inputs.outside);
        session
    }

    fn skip(&mut self, cause: Cause, n: u64) {
        if n == 0 {
            return;
        }
        let count = self.skipped.entry(cause).or_default();
        *count = count.saturating_add(n);
    }

    /// Takes only the jobs of this cluster from lists that name several.
    pub(super) fn of_cluster(&mut self, name: Option<&'a str>) {
        self.cluster = name;
    }

    /// Notes whether more sources follow the next one.
    pub(super) fn more_follow(&mut self, more_follow: bool) {
        self.more_follow = more_follow;
    }

    /// Reads one file in the format that is forced, or that its content shows.
    pub(super) fn read(
        &mut self,
        file: &InputFile,
        forced: Option<&'static Format>,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        if !self.is_table(file) {
            self.skip(cause::FILE_NOT_IN_MAP, 1);
            return Ok(());
        }
        let before = self.yielded;
        let fault = self.read_file(file, forced, progress)?;
        let yielded = self.yielded - before;
        if let Some(folder) = file.folder.and_then(|folder| self.folders.get_mut(folder)) {
            folder.files += 1;
            folder.yielded += yielded;
            if let (Some(Fault { error, .. }), 0) = (&fault, yielded) {
                folder.first_fault.get_or_insert_with(|| error.to_string());
            }
        }
        match fault {
            None => {}
            Some(Fault { cause, .. }) if yielded > 0 && cause != cause::FILE_WITHOUT_JOBS || file.folder.is_some() => {
                self.skip(cause, 1);
                if cause == cause::UNRECOGNISED_FILE && self.unrecognised.len() < MOST_NAMED {
                    self.unrecognised.push(file.path.display().to_string());
                }
            }
            Some(Fault { error, .. }) => return Err(error),
        }
        Ok(())
    }

    /// True if a file is to be read: a map may name the files of a folder.
    fn is_table(&self, file: &InputFile) -> bool {
        let (Some(map), Some(folder)) = (&self.options.map, file.folder) else { return true };
        let root = self.folders.get(folder).map(|folder| folder.path);
        root.and_then(|root| file.path.strip_prefix(root).ok()).is_some_and(|path| map.has_file(path))
    }

    /// Reads one file. A fault in its content is returned. An error ends the ingest.
    fn read_file(
        &mut self,
        file: &InputFile,
        forced: Option<&'static Format>,
        progress: &mut dyn Progress,
    ) -> Result<Option<Fault>, Error> {
        let path = &file.path;
        let mut source = SourceFile::open(path, &file.rest, self.origins, progress)?;
        if source.head().is_empty() {
            let (_, cut) = source.close(path, "")?;
            return Ok(Some(if cut { Fault::cut(path) } else { Fault::empty(path) }));
        }
        let map = self.options.map.as_ref();
        let forced = map.map(Map::table).or(forced);
        let Some(format) = forced.or_else(|| FORMATS.iter().find(|format| (format.sniff)(source.head()))) else {
            let head = source.head();
            let name = path.display().to_string();
            if let Some(table) = TABLE_FORMATS.iter().find(|format| (format.sniff)(head, &name).is_some()) {
                return Err(Fault::mixed(path, table.title));
            }
            return Ok(Some(if source.is_cut() { Fault::cut(path) } else { Fault::unrecognised(path, head, None) }));
        };
        self.check_time_zero(path, format)?;
        self.systems.extend(format.system);
        let concatenated = format.name == text_history::FORMAT.name
            && text_history::is_concatenated(source.head())
            && !is_standard_input(path);
        let root = file.folder.and_then(|folder| self.folders.get(folder)).map(|folder| folder.path);
        let Entered { damaged, outside } = self.confs.enter(path, root, concatenated)?;
        self.skip(cause::DAMAGED_CONF, damaged);
        self.skip(cause::LINK_OUT_OF_FOLDER, outside);

        let (before, jobs) = (self.yielded, self.offered);
        self.files += 1;
        self.damage = None;
        let skipped = self.skipped.clone();
        let mut confs = Vec::new();
        let mut sink = FileSink { session: &mut *self, format, file, confs: &mut confs, made: Vec::new() };
        let (mut content, name) = (source.content(), path.display().to_string());
        let result = match map {
            Some(map) => map.read_table(&mut content, &name, &mut sink),
            None => (format.read)(&mut content, &name, &mut sink),
        };
        drop(content);
        let damage = match result {
            Ok(()) => None,
            // The content is at fault, not the disk or the sink. The jobs before the damage were taken.
            Err(error @ Error::Source { .. }) => Some(Fault { cause: cause::DAMAGED_FILE, error }),
            Err(error) => return Err(error),
        };
        if self.yielded > before {
            self.note_reads(format.name, format.reads);
        }
        let near_miss = if self.yielded > before { None } else { near_miss(source.head()) };
        let (mut sources, cut) = source.close(path, format.name)?;
        self.sources.append(&mut sources);
        self.sources.append(&mut confs);
        Ok(match (cut, self.yielded > before) {
            (true, _) => Some(Fault::cut(path)),
            (false, false) => {
                let (damage_of_record, counted) = (self.damage.take(), damage_since(&skipped, &self.skipped));
                let is_forced = forced.is_some();
                let nothing = Nothing { format, is_forced, near_miss, damage: damage_of_record, counted };
                Some(nothing.fault(path, damage))
            }
            // Machines alone are no log of jobs.
            (false, true) if self.offered == jobs && format.time_zero.is_some() => {
                let counted = damage_since(&skipped, &self.skipped);
                damage.or_else(|| Some(Fault::without_jobs(path, format, self.damage.take(), &counted)))
            }
            (false, true) => damage,
        })
    }

    /// Times since the epoch and times since a trace's own zero cannot be mixed in one trace.
    fn check_time_zero(&mut self, path: &Path, format: &Format) -> Result<(), Error> {
        let Some(zero) = format.time_zero else { return Ok(()) };
        let (first, of) = self.time_zero.get_or_insert_with(|| (zero, path.to_path_buf()));
        if *first == zero {
            return Ok(());
        }
        Err(Error::Request(format!(
            "{}: expected times that count from the same zero as those of {}, found a {}; ingest it into another trace",
            path.display(),
            of.display(),
            format.title,
        )))
    }

    /// The jobs of a folder must be of one cluster, and so must the histories of Hadoop that you name one by one: a pattern of the shell
    /// names files, too.
    fn check_cluster(&mut self, record: &JobRecord, file: &InputFile) -> Result<(), Error> {
        let is_hadoop = || record.job.framework.as_deref() == Some(MAPREDUCE);
        let Some(place) = file.folder.or_else(|| is_hadoop().then_some(NAMED)) else { return Ok(()) };
        let Some(trackers) = &mut self.trackers else { return Ok(()) };
        let trackers = trackers.entry(place).or_default();
        let Some(other) = trackers.see(record, (self.files, &file.path)) else { return Ok(()) };
        Err(Error::Request(format!(
            "{}: expected the jobs of one cluster, found jobs that another master accepted at the same time as that of {}; name the files \
             or the folder of one cluster, or write a trace of each with --split, or take all jobs for those of one cluster with --merge",
            file.path.display(),
            other.display()
        )))
    }

    /// The jobs of a folder, or of the files that you name, must have run on the machines of one cluster.
    fn check_machines(&self) -> Result<(), Error> {
        for (&folder, trackers) in self.trackers.iter().flatten() {
            let clusters = trackers.clusters();
            if clusters.len() < 2 {
                continue;
            }
            let folder = self.folders.get(folder).map(|folder| folder.path);
            let below =
                |path: &Path| folder.and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path).to_owned();
            let shown = clusters.iter().take(MOST_LISTED).map(|path| format!("\n  {}", below(path).display()));
            return Err(Error::Request(format!(
                "{}: expected the jobs of one cluster, found those of {}, which share no machine; name the files or the folder of \
                 one of them, write a trace of each with --split, or take all jobs for those of one cluster with --merge. A file of each:{}",
                folder.map_or_else(|| "the named files".to_owned(), |folder| folder.display().to_string()),
                clusters.len(),
                shown.collect::<String>()
            )));
        }
        Ok(())
    }

    /// Takes a job from the file that is being read, with what rules filled in it; the confs that it needs are added to `confs`.
    fn job(
        &mut self,
        record: &mut JobRecord,
        format: &Format,
        filled: &mut Vec<(&'static str, &'static str, u64)>,
        confs: &mut Vec<Source>,
    ) -> Result<(), Error> {
        let mut notes = Notes { made: std::mem::take(filled), ..Notes::default() };
        let Some(shortened) = bound_texts(record) else {
            self.skip(cause::OVERSIZED_ID, 1);
            return Ok(());
        };
        self.yielded += 1;
        self.offered += 1;
        // Its id in the source, if it gets another.
        let mut own_id = None;
        let claim = match self.are_different {
            true => Claim::Taken { number: 0, renamed: None },
            false => self.copies.claim(record, self.files, format.folded),
        };
        let number = match claim {
            Claim::Dropped(cause) => {
                self.skip(cause, 1);
                return Ok(());
            }
            Claim::Better { number } => {
                if let Some(worse) = self.held.drop(number) {
                    // It may be a job that got another id.
                    let id = worse.record.job.job_id;
                    let suffix = id.strip_prefix(&record.job.job_id).unwrap_or_default().to_owned();
                    if !suffix.is_empty() {
                        own_id = Some(record.job.job_id.clone());
                        rename(record, &id, &suffix);
                    }
                }
                self.skip(cause::UNFINISHED_COPY_REPLACED, 1);
                number
            }
            Claim::Taken { number, renamed } => {
                if let Some(renamed) = renamed {
                    own_id = Some(record.job.job_id.clone());
                    rename(record, &renamed.id, &renamed.suffix);
                    self.skip(renamed.cause, 1);
                }
                number
            }
        };
        notes.skip(cause::SHORTENED_TEXT, shortened);
        self.note_given(record);
        let is_bare = !format.has_tasks && record.tasks.is_empty();
        let mut made = if is_bare { self.make_tasks(&mut record.job) } else { None };
        let conf = self.confs.find(own_id.as_deref().unwrap_or(&record.job.job_id))?;
        if let Some(mut tasks) = made.take_if(|_| conf.is_some() || !has_totals(&record.job)) {
            record.tasks = tasks.all();
        }
        if let Some(found) = conf {
            let confs::Found { conf, source, whole } = *found;
            self.note_reads(CONF_FORMAT, conf_xml::READS);
            if let Some(version) = &conf.version {
                self.parameters.entry(SCHEDULER_VERSION.to_owned()).or_insert_with(|| version.as_str().into());
            }
            confs::apply(conf, record);
            confs.extend(source);
            self.skip(cause::DAMAGED_CONF, u64::from(!whole));
        }
        notes.skip(cause::FAR_TIME, far::mend(record));
        notes.skip(cause::FINISH_BEFORE_START, backwards::mend(record));
        notes.skip(cause::REPEATED_TASK_RENAMED, rename_repeated(record));
        let timed::Filled { starts, finishes } = timed::from_tasks(record, format);
        for (column, n) in
            [("attempts.start", starts), ("attempts.finish", finishes)].into_iter().filter(|filled| filled.1 > 0)
        {
            notes.made.push((column, timed::RULE, n));
        }
        complete(record);
        self.machines.see(record);
        if format.system == Some(System::Slurm) {
            self.begun.see(&record.job);
        }
        self.engine = self.engine.or_else(|| engine_of(&record.job));
        self.jobs += 1;
        let may_improve = self.more_follow && record.job.outcome == Outcome::Incomplete;
        match made {
            None if may_improve => {
                self.copies.hold(number);
                let held = Held { record: std::mem::take(record), notes };
                for (number, held) in self.held.hold(number, held, MOST_HELD) {
                    self.write_held(number, held)?;
                }
                Ok(())
            }
            None => {
                self.note(&mut notes);
                // Its memory is used again.
                *filled = notes.made;
                self.sink.lent_job(record)
            }
            Some(tasks) => {
                self.note(&mut notes);
                let mut tasks = Mended::new(tasks);
                self.sink.made_job(std::mem::take(record), &mut tasks)?;
                self.skip(cause::FAR_TIME, tasks.far());
                Ok(())
            }
        }
    }

    /// Takes the jobs that readers kept until the last source.
    fn hand_over(&mut self) -> Result<(), Error> {
        let file = InputFile { path: PathBuf::new(), rest: Vec::new(), bytes: 0, folder: None };
        let all: Vec<KeptBy> = std::mem::take(&mut self.kept).into_values().collect();
        self.are_different = all.len() == 1 && self.copies.are_none();
        for (format, kept) in all {
            let Some(kept) = kept else { continue };
            let mut confs = Vec::new();
            let mut sink = FileSink { session: self, format, file: &file, confs: &mut confs, made: Vec::new() };
            kept.hand_over(&mut sink)?;
            self.sources.append(&mut confs);
        }
        Ok(())
    }

    /// Writes a job of which no better copy can come any more.
    fn write_held(&mut self, number: usize, Held { record, mut notes }: Held) -> Result<(), Error> {
        self.copies.write(number);
        self.note(&mut notes);
        self.sink.job(record)
    }

    /// Counts what was counted of a job that is written.
    fn note(&mut self, notes: &mut Notes) {
        notes.skipped.drain(..).for_each(|(cause, n)| self.skip(cause, n));
        notes.made.drain(..).for_each(|(column, rule, rows)| self.note_made(column, rule, rows));
    }

    /// Notes what the columns are read from in a source of this format.
    fn note_reads(&mut self, format: &str, reads: &[ReadAs]) {
        for (column, names) in reads {
            names.iter().for_each(|name| self.note_read(format, column, name));
        }
    }

    fn note_read(&mut self, format: &str, column: &str, name: &str) {
        let of_format = self.read_from.entry(format.to_owned()).or_default();
        of_format.entry(column.to_owned()).or_default().insert(name.to_owned());
    }

    /// Notes that a rule filled `rows` rows of a column.
    fn note_made(&mut self, column: &'static str, rule: &'static str, rows: u64) {
        let (known, noted) = self.made_rows.entry(column).or_insert((rule, 0));
        // A guess that follows the log must not speak for one that does not.
        if *known == LIKELY_HOSTS {
            *known = rule;
        }
        *noted = noted.saturating_add(rows);
    }

    /// The tasks that are made for a job whose format has none, if they are wanted and can be made.
    fn make_tasks(&mut self, job: &mut JobRow) -> Option<Box<dyn Tasks + 'a>> {
        let options: &'a Options = self.options;
        let maker = options.tasks.as_ref()?;
        match maker.make.make(job, self.jobs) {
            Ok(tasks) => {
                if !std::mem::replace(&mut self.made_tasks, true) {
                    maker.nodes.iter().for_each(|node| self.machines.report(node.clone()));
                }
                Some(tasks)
            }
            Err(cause) => {
                self.skip(cause, 1);
                None
            }
        }
    }

    /// Notes the tables for which a job has rows in its source, and whether these say when attempts started.
    fn note_given(&mut self, record: &JobRecord) {
        if !record.tasks.is_empty() {
            self.reported.insert("tasks");
        }
        if record.tasks.iter().any(|task| !task.attempts.is_empty()) {
            self.reported.insert("attempts");
        }
        if record.tasks.iter().flat_map(|task| &task.attempts).any(|attempt| attempt.start.is_some()) {
            self.reported.insert(STARTS);
        }
        if record.tasks.iter().any(|task| !task.splits.is_empty()) {
            self.reported.insert("splits");
        }
    }

    /// What the sources lack, by table or column.
    fn absent(&self) -> BTreeMap<String, String> {
        const LEFT_OUT: &str = "not in the sources; left out";
        const MADE: &str = "not in the sources; generated by the rules under `made`";
        let made_or = |otherwise| if self.made_tasks { MADE } else { otherwise };
        let rules = [
            ("tasks", made_or(LEFT_OUT)),
            ("attempts", made_or(LEFT_OUT)),
            (
                STARTS,
                "the sources do not say when attempts started; left out, so that no replay can be held against them",
            ),
            ("splits", made_or("the sources give no places of input; left out, so localities are unknown")),
            ("nodes", "the sources give no machines; these are the machines of splits and attempts, without capacity"),
        ];
        let is_reported = |table: &str| match table {
            "nodes" => self.machines.are_reported(),
            // Where there are no attempts at all, this says nothing more.
            STARTS => self.reported.contains(STARTS) || !self.reported.contains("attempts"),
            table => self.reported.contains(table),
        };
        let absent = rules.into_iter().filter(|(table, _)| !is_reported(table));
        absent.map(|(table, rule)| (table.to_owned(), rule.to_owned())).collect()
    }

    /// Takes a job that a program gives.
    pub(super) fn give_job(&mut self, mut record: JobRecord, format: &Format) -> Result<(), Error> {
        self.job(&mut record, format, &mut Vec::new(), &mut Vec::new())
    }

    /// Takes a machine that a program gives.
    pub(super) fn give_node(&mut self, node: NodeRow) {
        self.machines.report(node);
    }

    /// As [`Session::finish`], for jobs that a program gave.
    pub(super) fn finish_given(
        mut self,
        (source, system): (Source, Option<System>),
        time_zero: TimeZero,
        made: Vec<(&'static str, &'static str, u64)>,
        counted: Option<(Cause, u64)>,
    ) -> Result<Manifest, Error> {
        counted.into_iter().for_each(|(cause, n)| self.skip(cause, n));
        if self.yielded == 0 {
            return Err(Error::Request("jobs: expected a row or more, found none".to_owned()));
        }
        self.sources.push(source);
        self.systems.extend(system);
        self.time_zero = Some((time_zero, PathBuf::new()));
        made.into_iter().for_each(|(column, rule, rows)| self.note_made(column, rule, rows));
        self.finish()
    }

    /// Passes on machines and counts, and returns the manifest as far as an ingest knows it.
    pub(super) fn finish(mut self) -> Result<Manifest, Error> {
        if let Some(folder) = self.folders.iter().find(|folder| folder.yielded == 0).filter(|_| self.is_whole) {
            let first = folder.first_fault.as_ref().map_or_else(String::new, |first| format!(" (the first: {first})"));
            return Err(no_history(folder.path, format!("{} files without histories{first}", folder.files)));
        }
        if self.yielded == 0 {
            return Err(Error::Request(
                "expected histories, found only configurations of jobs; name the histories that they belong to"
                    .to_owned(),
            ));
        }
        self.check_machines()?;
        self.hand_over()?;
        for (number, held) in self.held.take() {
            self.write_held(number, held)?;
        }
        self.skip(cause::HOST_OUTSIDE_TOPOLOGY, self.machines.outside());
        let far = self.machines.mend_times();
        self.skip(cause::FAR_TIME, far);
        let absent = self.absent();
        for node in std::mem::take(&mut self.machines).into_rows() {
            self.sink.node(node);
        }
        for (&cause, &n) in &self.skipped {
            self.sink.skip(cause, n);
        }
        let maker = self.options.tasks.as_ref().filter(|_| self.made_tasks);
        let mut parameters = self.parameters;
        parameters.extend(maker.map(|maker| maker.parameters.clone()).unwrap_or_default());
        let mut made = maker.map(|maker| maker.made.clone()).unwrap_or_default();
        let mut made_rows = BTreeMap::new();
        for (column, (rule, n)) in self.made_rows {
            if !made.contains_key(column) {
                made.insert(column.to_owned(), rule.to_owned());
                made_rows.insert(column.to_owned(), n);
            }
        }
        // Two systems in one trace are none.
        let system = self.systems.first().copied().filter(|_| self.systems.len() == 1);
        let engine = self.engine.unwrap_or_default();
        let applications = self.applications.into_all();
        applications.iter().for_each(|(id, settings)| self.sink.application(id, settings));
        self.sink.engine(engine);
        Ok(Manifest {
            time_zero: self.time_zero.map(|(zero, _)| zero).unwrap_or_default(),
            engine,
            system,
            sources: self.sources,
            applications,
            skipped: cause::by_name(&self.skipped),
            read: self.read_from,
            made,
            made_rows,
            unrecognised: self.unrecognised,
            parameters,
            begin: self.begun.at(),
            absent,
            ..Manifest::default()
        })
    }
}

/// The engine that replays a job, if it names its framework: Hadoop's for jobs of MapReduce.
fn engine_of(job: &JobRow) -> Option<RunEngine> {
    let framework = job.framework.as_deref()?;
    Some(if framework == MAPREDUCE { RunEngine::Hadoop } else { RunEngine::Batch })
}

/// True if a job needs nothing of its tasks: then they can be made while they are written. Its end would bound their times.
fn has_totals(job: &JobRow) -> bool {
    job.input_bytes.is_some() && job.shuffle_bytes.is_some() && job.output_bytes.is_some() && job.finish.is_none()
}

/// Takes what the reader of one file finds.
struct FileSink<'s, 'a> {
    session: &'s mut Session<'a>,
    format: &'static Format,
    file: &'s InputFile,
    /// The confs that were read for its jobs.
    confs: &'s mut Vec<Source>,
    /// What rules filled in the next job: column, rule, rows.
    made: Vec<(&'static str, &'static str, u64)>,
}

impl Sink for FileSink<'_, '_> {
    fn job(&mut self, mut job: JobRecord) -> Result<(), Error> {
        self.lent_job(&mut job)
    }

    fn lent_job(&mut self, job: &mut JobRecord) -> Result<(), Error> {
        self.session.check_cluster(job, self.file)?;
        self.session.job(job, self.format, &mut self.made, self.confs)
    }

    fn node(&mut self, node: NodeRow) {
        self.session.yielded += 1;
        self.session.machines.report(node);
    }

    fn used_node(&mut self, node: NodeRow) {
        self.session.yielded += 1;
        self.session.machines.report_used(node);
    }

    fn skip(&mut self, cause: Cause, n: u64) {
        self.session.skip(cause, n);
    }

    fn parameter(&mut self, name: &str, value: serde_json::Value) {
        self.session.parameters.entry(name.to_owned()).or_insert(value);
    }

    fn application(&mut self, id: &str, settings: &BTreeMap<String, String>) {
        let left_out = self.session.applications.add(id, settings);
        self.session.skip(cause::SETTING_LEFT_OUT, left_out);
    }

    fn filled_from(&mut self, column: &'static str, name: &str) {
        self.session.note_read(self.format.name, column, name);
    }

    fn made(&mut self, column: &'static str, rule: &'static str, rows: u64) {
        self.made.push((column, rule, rows));
    }

    fn companion(&mut self, path: &str, format: &str, bytes: u64, sha256: &str) {
        let [path, format, sha256] = [path, format, sha256].map(str::to_owned);
        self.confs.push(Source { path, bytes, sha256, format });
    }

    fn beside(&mut self, path: &str, name: &str) -> Option<(String, Box<dyn Read>)> {
        let origins = self.session.origins;
        let path = Path::new(path).parent()?.join(name);
        origins.object(&path).map(|object| (path.display().to_string(), Box::new(object.stream()) as Box<dyn Read>))
    }

    fn system(&mut self, system: System) {
        self.session.systems.insert(system);
    }

    fn damage(&mut self, damage: &dyn Fn() -> Damage) {
        if self.session.damage.is_none() {
            self.session.damage = Some(damage());
        }
    }

    fn kept(&mut self) -> Option<&mut Option<Box<dyn Kept>>> {
        let format = self.format;
        Some(&mut self.session.kept.entry(format.name).or_insert((format, None)).1)
    }

    fn room(&self) -> Room {
        let room = self.session.sink.room();
        Room { memory: self.session.options.memory().unwrap_or(room.memory), ..room }
    }

    fn keeps(&mut self, jobs: u64) {
        self.session.yielded += jobs;
        self.session.offered += jobs;
    }

    fn cluster_name(&self) -> Option<&str> {
        self.session.cluster.or(self.session.options.cluster_name.as_deref())
    }

    fn fields(&self) -> Option<&str> {
        self.session.options.fields.as_deref()
    }

    fn wants_counters(&self) -> bool {
        self.session.options.counters
    }

    fn zone(&self) -> Option<Zone> {
        self.session.options.timezone
    }
}
