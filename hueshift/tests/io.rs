//! Input and output of guests: order, buffering, failures.

use hueshift::io::{self, Io};
use hueshift::prelude::{get_byte, put_byte};
use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::rc::Rc;

/// What happened to a pair of streams, in order.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

struct Source(Log, Vec<&'static str>);
struct Sink(Log, Option<ErrorKind>);

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let next = if self.1.is_empty() { "" } else { self.1.remove(0) };
        self.0.0.borrow_mut().push(format!("read {next}"));
        if next == "!" {
            return Err(ErrorKind::PermissionDenied.into());
        }
        buffer[..next.len()].copy_from_slice(next.as_bytes());
        Ok(next.len())
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(kind) = self.1 {
            return Err(kind.into());
        }
        self.0.0.borrow_mut().push(format!("write {}", String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn streams(log: &Log, input: &[&'static str], fails: Option<ErrorKind>) -> Io {
    Io::streams(Source(log.clone(), input.to_vec()), Sink(log.clone(), fails))
}

fn put_all(text: &str) {
    text.bytes().for_each(put_byte);
}

#[test]
fn output_is_written_before_input_is_read_and_at_the_end() {
    let log = Log::default();
    let ((), io) = io::with(streams(&log, &["ab", "c"], None), || {
        put_all("name? ");
        assert_eq!(get_byte(), i64::from(b'a'));
        put_all("-");
        assert_eq!(get_byte(), i64::from(b'b')); // there already: nothing is written for it
        assert_eq!(get_byte(), i64::from(b'c'));
        assert_eq!((get_byte(), get_byte()), (-1, -1));
        put_all("bye");
    });
    assert_eq!(io.finish(), Ok(()));
    assert_eq!(
        *log.0.borrow(),
        ["write name? ", "read ab", "write -", "read c", "read ", "read ", "write bye"].map(str::to_owned)
    );
}

#[test]
fn much_output_is_written_in_pieces() {
    let log = Log::default();
    let ((), io) = io::with(streams(&log, &[], None), || (0..200_000).for_each(|_| put_byte(b'x')));
    drop(io); // dropping writes the rest, too
    let lengths: Vec<usize> = log.0.borrow().iter().map(|line| line.len() - "write ".len()).collect();
    assert_eq!((lengths.len(), lengths.iter().sum::<usize>()), (4, 200_000));
}

#[test]
fn a_failure_is_final_and_told_at_the_end() {
    let log = Log::default();
    for (kind, closed) in [(ErrorKind::BrokenPipe, true), (ErrorKind::StorageFull, false)] {
        let (written, io) = io::with(streams(&log, &[], Some(kind)), || {
            let put = (0..100_000).take_while(|_| io::put(b'x').is_ok()).count();
            assert!(io::put(b'y').is_err() && io::get().is_err());
            put
        });
        assert!(written < 100_000);
        let error = io.finish().unwrap_err();
        assert_eq!((error.kind, error.is_closed_pipe()), (kind, closed));
        assert!(error.to_string().starts_with("standard output can't be written: "), "{error}");
    }
    let (got, io) = io::with(streams(&log, &["!"], None), io::get);
    assert!(got.unwrap_err().to_string().starts_with("standard input can't be read: "));
    assert!(!io.finish().unwrap_err().is_closed_pipe());
}

#[test]
fn one_object_lies_within_another_and_a_panic_takes_it_away() {
    let (inner, outer) = io::with(Io::bytes([]), || {
        put_byte(b'1');
        let panicked = std::panic::catch_unwind(|| io::with(Io::bytes([]), || panic!("{}", get_byte())));
        assert!(panicked.is_err());
        let (_, inner) = io::with(Io::bytes([]), || put_byte(b'2'));
        put_byte(b'3');
        inner
    });
    assert_eq!((inner.output(), outer.output()), (&b"2"[..], &b"13"[..]));
}

#[test]
fn kept_runs_go_back() {
    let (_, io) = io::with(Io::bytes(*b"abc"), || {
        put_byte(get_byte() as u8);
        let kept = io::keep().expect("it is kept");
        put_byte(get_byte() as u8);
        io::put_back(&kept);
        put_byte(get_byte() as u8 + 1);
        assert_eq!(io::output(), Some(b"ac".to_vec()));
        io::rewind();
        assert_eq!((get_byte(), io::output()), (i64::from(b'a'), Some(Vec::new())));
    });
    assert_eq!(io.output(), b"");
}
