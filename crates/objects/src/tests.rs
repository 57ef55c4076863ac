//! A store that misbehaves: it cuts connections, changes objects, and refuses.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use object_store::aws::AmazonS3Builder;
use url::Url;

use crate::objects::TRIES;
use crate::{Error, LARGEST_RANGE, LONGEST_KEY, MOST_BREAKS, MOST_OBJECTS, Objects};

/// How the store answers.
#[derive(Clone, Copy)]
enum Mood {
    Good,
    /// So many answers end after a tenth of their bytes.
    Cuts(usize),
    /// After so many requests for bytes, the object is another one.
    Changes(usize),
    /// Requests are refused with this status and word.
    Refuses(u16, &'static str),
}

/// A store of one object, `history/log`, or of several that are only listed.
struct Store {
    bytes: Vec<u8>,
    /// The keys that are listed.
    keys: Vec<String>,
    mood: Mood,
    gets: AtomicUsize,
    ranges: Mutex<Vec<(usize, usize)>>,
}

const TIME: &str = "Tue, 01 Jul 2025 00:00:00 GMT";

impl Store {
    fn start(bytes: Vec<u8>, mood: Mood) -> (Arc<Self>, Arc<Objects>) {
        Self::start_with(bytes, vec!["history/log".to_owned()], mood)
    }

    fn start_with(bytes: Vec<u8>, keys: Vec<String>, mood: Mood) -> (Arc<Self>, Arc<Objects>) {
        let store = Arc::new(Self { bytes, keys, mood, gets: AtomicUsize::new(0), ranges: Mutex::default() });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let served = Arc::clone(&store);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let of_client = Arc::clone(&served);
                std::thread::spawn(move || of_client.answer(connection));
            }
        });
        let settings = AmazonS3Builder::new()
            .with_endpoint(endpoint)
            .with_allow_http(true)
            .with_access_key_id("name")
            .with_secret_access_key("secret")
            .with_region("us-east-1");
        let url = Url::parse("s3://bucket/history").unwrap();
        (store, Arc::new(Objects::with(&url, settings).unwrap()))
    }

    /// Answers one request. `None` if the connection breaks.
    fn answer(&self, mut connection: TcpStream) -> Option<()> {
        let mut lines = BufReader::new(connection.try_clone().ok()?).lines();
        let request = lines.next()?.ok()?;
        let mut range = None;
        for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
            if let Some(bytes) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                let (from, to) = bytes.split_once('-')?;
                range = Some((from.parse::<usize>().ok()?, to.parse::<usize>().ok()? + 1));
            }
        }
        let (head, body) = self.response(&request, range);
        write!(connection, "{head}\r\nConnection: close\r\n\r\n").ok()?;
        if !request.starts_with("HEAD") {
            let is_cut = matches!(self.mood, Mood::Cuts(most) if self.gets.load(Ordering::SeqCst) <= most);
            let sent = if is_cut && range.is_some() { body.len() / 10 } else { body.len() };
            connection.write_all(&body[..sent]).ok()?;
        }
        Some(())
    }

    fn response(&self, request: &str, range: Option<(usize, usize)>) -> (String, Vec<u8>) {
        let size = self.bytes.len();
        if let Mood::Refuses(status, word) = self.mood {
            let body = format!("<Error><Code>{word}</Code></Error>").into_bytes();
            return (format!("HTTP/1.1 {status} No\r\nContent-Length: {}", body.len()), body);
        }
        if request.contains("list-type=2") {
            let object = |key: &str, size: usize| {
                format!(
                    "<Contents><Key>{key}</Key><LastModified>2025-07-01T00:00:00.000Z</LastModified><ETag>\"1\"</ETag>\
                     <Size>{size}</Size></Contents>"
                )
            };
            let objects: String = self.keys.iter().map(|key| object(key, size)).collect();
            let body = format!("<ListBucketResult>{objects}</ListBucketResult>");
            return (format!("HTTP/1.1 200 OK\r\nContent-Length: {}", body.len()), body.into_bytes());
        }
        let Some((from, to)) = range else {
            return ("HTTP/1.1 404 Not Found\r\nContent-Length: 0".to_owned(), Vec::new());
        };
        self.ranges.lock().unwrap().push((from, to));
        let gets = self.gets.fetch_add(1, Ordering::SeqCst) + 1;
        let tag = if matches!(self.mood, Mood::Changes(after) if gets > after) { "2" } else { "1" };
        let head = format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {from}-{}/{size}\r\nETag: \"{tag}\"\r\n\
             Last-Modified: {TIME}",
            to - from,
            to - 1
        );
        (head, self.bytes[from..to].to_vec())
    }
}

fn content() -> Vec<u8> {
    (0..20_000_000u32 / 4).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// Reads the one object of a store.
fn read(objects: &Arc<Objects>) -> Result<Vec<u8>, String> {
    let listed = objects.list().map_err(|error| error.to_string())?;
    assert_eq!(listed.iter().map(|object| object.name()).collect::<Vec<_>>(), ["log"]);
    let mut found = Vec::new();
    listed[0].stream().read_to_end(&mut found).map_err(|error| error.to_string())?;
    Ok(found)
}

#[test]
fn an_object_is_read_in_ranges_of_bounded_size() {
    let bytes = content();
    let (store, objects) = Store::start(bytes.clone(), Mood::Good);
    assert!(read(&objects).unwrap() == bytes);
    let ranges = store.ranges.lock().unwrap().clone();
    assert!(ranges.iter().all(|(from, to)| (to - from) as u64 <= LARGEST_RANGE), "{ranges:?}");
    assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0), "each byte once: {ranges:?}");
    assert_eq!(ranges[0], (0, 256 << 10), "a look at an object takes little");
}

#[test]
fn connections_that_break_are_survived() {
    let bytes = content();
    let (store, objects) = Store::start(bytes.clone(), Mood::Cuts(3));
    assert!(read(&objects).unwrap() == bytes);
    let ranges = store.ranges.lock().unwrap().clone();
    assert!(ranges.iter().any(|(from, _)| *from == (256 << 10) / 10), "it goes on where it broke: {ranges:?}");
}

/// The client of the store itself goes on after each of our tries, too. The last try after the most breaks is whole; after one break more,
/// the store cannot be reached.
#[test]
fn a_range_is_fetched_again_as_often_as_the_limit_and_not_once_more() {
    let bytes = vec![7; 1_000];
    let most = (MOST_BREAKS as usize + 1) * (TRIES + 1) - 1;
    let (store, objects) = Store::start(bytes.clone(), Mood::Cuts(most));
    assert!(read(&objects).unwrap() == bytes);
    assert_eq!(store.gets.load(Ordering::SeqCst), most + 1);
    let (_, objects) = Store::start(bytes, Mood::Cuts(most + 1));
    let problem = read(&objects).unwrap_err();
    assert!(problem.contains("expected 1000 bytes, found connections that broke again and again"), "{problem}");
    assert!(problem.ends_with("run the command again when the store can be reached"), "{problem}");
}

#[test]
fn a_key_at_the_limit_is_listed_and_a_longer_one_refused() {
    let listed = |bytes: usize| {
        let key = format!("history/{}", "k".repeat(bytes - "history/".len()));
        let (_, objects) = Store::start_with(Vec::new(), vec![key], Mood::Good);
        objects.list().map(|found| found.len()).map_err(|error| error.to_string())
    };
    assert_eq!(listed(LONGEST_KEY), Ok(1));
    let problem = listed(LONGEST_KEY + 1).unwrap_err();
    assert!(problem.contains("expected keys of at most 1024 bytes, found a longer one"), "{problem}");
}

/// A real list of so many objects takes 200 MB.
#[test]
fn as_many_objects_as_the_limit_are_listed_and_not_one_more() {
    let keys = || (0..5).map(|n| format!("history/{n}")).collect::<Vec<_>>();
    let (_, objects) = Store::start_with(Vec::new(), keys(), Mood::Good);
    assert_eq!(objects.list_up_to(5).unwrap().len(), 5);
    let problem = objects.list_up_to(4).unwrap_err().to_string();
    assert!(problem.contains("expected at most 4 objects, found more; name a longer prefix"), "{problem}");
    assert!(objects.list().unwrap().len() == 5 && MOST_OBJECTS > 5);
}

#[test]
fn an_object_that_changes_is_an_error() {
    let (_, objects) = Store::start(content(), Mood::Changes(2));
    let problem = read(&objects).unwrap_err();
    let expected = "s3://bucket/history/log: cannot read it: expected the object as it was when it was listed, found another one; run the \
                    command again when no other program writes it";
    assert_eq!(problem, expected);
}

#[test]
fn refusals_name_the_address_and_what_to_do() {
    let refused = |status, word| {
        let (_, objects) = Store::start(Vec::new(), Mood::Refuses(status, word));
        let error: Error = objects.list().unwrap_err();
        error.to_string()
    };
    let denied = refused(403, "AccessDenied");
    assert!(denied.starts_with("s3://bucket/history: cannot list it: expected permission to list it"), "{denied}");
    assert!(denied.contains("(AccessDenied); use credentials that may list the bucket"), "{denied}");
    let none = refused(404, "NoSuchBucket");
    assert!(none.contains("expected a bucket of that name, found none; check the address"), "{none}");
}
