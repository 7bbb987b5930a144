//! The input and output of guest programs: what `put_byte` and `get_byte` of the [`crate::prelude`] work on.
//!
//! Each thread has one object of input and output. Unless [`with`] puts another in its place it is the process's own:
//! really buffered, and flushed before input is read and at the end. With [`Io::bytes`] a run reads given bytes and its
//! output is kept, so that runs can be compared.
//!
//! ```
//! use hueshift::io::{self, Io};
//! use hueshift::prelude::{get_byte, put_byte};
//! let (end, io) = io::with(Io::bytes(*b"a"), || {
//!     put_byte(get_byte() as u8 + 1);
//!     get_byte()
//! });
//! assert_eq!((end, io.output()), (-1, &b"b"[..]));
//! ```
//!
//! What can't be read or written makes `put_byte` and `get_byte` fail from then on, which ends the run; [`Io::finish`]
//! tells why. This file stands on nothing but std, as the prelude does.

use std::cell::RefCell;
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::sync::Arc;

/// How many bytes of output are collected before they are written.
const BUFFER: usize = 64 << 10;

/// Why a stream failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamError {
    /// Whether it was being read, or written.
    pub reading: bool,
    /// What the operating system says; [`ErrorKind::BrokenPipe`] if nobody reads the output any more.
    pub kind: ErrorKind,
    /// The same in words.
    pub message: String,
}

impl StreamError {
    fn new(reading: bool, error: &std::io::Error) -> StreamError {
        StreamError { reading, kind: error.kind(), message: error.to_string() }
    }

    /// Whether it only means that nobody reads the output any more.
    pub fn is_closed_pipe(&self) -> bool {
        !self.reading && self.kind == ErrorKind::BrokenPipe
    }
}

impl std::fmt::Display for StreamError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (stream, done) = if self.reading { ("input", "read") } else { ("output", "written") };
        write!(f, "standard {stream} can't be {done}: {}", self.message)
    }
}

impl std::error::Error for StreamError {}

enum Input {
    /// All of it, and how much has been read.
    Bytes(Arc<[u8]>, usize),
    /// A stream, what has been read ahead, and how much of that has been used.
    Stream(Box<dyn Read>, Vec<u8>, usize),
}

/// Input and output.
pub struct Io {
    input: Input,
    /// Where output goes; none if it is kept.
    sink: Option<Box<dyn Write>>,
    /// Output that has not been written yet.
    output: Vec<u8>,
    /// Write each line when it ends.
    by_line: bool,
    failed: Option<StreamError>,
}

impl std::fmt::Debug for Io {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Io").field("output", &self.output.len()).field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// How far kept input and output had come.
#[derive(Clone, Debug)]
pub struct Kept {
    read: usize,
    output: Vec<u8>,
}

impl Io {
    /// Standard input and output of the process.
    pub fn real() -> Io {
        let mut io = Io::streams(std::io::stdin(), std::io::stdout());
        io.by_line = std::io::stdout().is_terminal();
        io
    }

    /// These streams, buffered.
    pub fn streams(input: impl Read + 'static, output: impl Write + 'static) -> Io {
        Io {
            input: Input::Stream(Box::new(input), Vec::new(), 0),
            sink: Some(Box::new(output)),
            output: Vec::new(),
            by_line: false,
            failed: None,
        }
    }

    /// These bytes as input; output is kept.
    pub fn bytes(input: impl Into<Arc<[u8]>>) -> Io {
        Io { input: Input::Bytes(input.into(), 0), sink: None, output: Vec::new(), by_line: false, failed: None }
    }

    /// The output that has been kept; of streams what waits to be written.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Writes a byte.
    ///
    /// # Errors
    /// If it, or one before it, can't be written.
    #[inline]
    pub fn put(&mut self, b: u8) -> Result<(), StreamError> {
        self.check()?;
        self.output.push(b);
        if self.sink.is_some() && (self.output.len() >= BUFFER || self.by_line && b == b'\n') {
            return self.flush();
        }
        Ok(())
    }

    /// The next byte of the input, or -1 at its end.
    ///
    /// # Errors
    /// If it can't be read, or output that precedes it can't be written.
    #[inline]
    pub fn get(&mut self) -> Result<i64, StreamError> {
        self.check()?;
        let ahead = match &mut self.input {
            Input::Bytes(bytes, at) => take(bytes, at),
            Input::Stream(_, buffer, at) => take(buffer, at),
        };
        match ahead {
            Some(byte) => Ok(byte.into()),
            None => self.get_anew(),
        }
    }

    /// The next byte where all is used that has been read ahead.
    #[cold]
    fn get_anew(&mut self) -> Result<i64, StreamError> {
        if let Input::Stream(..) = &self.input {
            self.flush()?;
        }
        let next = match &mut self.input {
            Input::Bytes(bytes, at) => take(bytes, at),
            Input::Stream(stream, buffer, at) => {
                buffer.resize(BUFFER, 0);
                *at = 0;
                let read = loop {
                    match stream.read(buffer) {
                        Err(e) if e.kind() == ErrorKind::Interrupted => {}
                        other => break other,
                    }
                };
                buffer.truncate(*read.as_ref().unwrap_or(&0));
                if let Err(error) = read {
                    return self.fail(StreamError::new(true, &error));
                }
                take(buffer, at)
            }
        };
        Ok(next.map_or(-1, i64::from))
    }

    /// Writes what waits to be written.
    ///
    /// # Errors
    /// If it, or something before it, can't be written.
    pub fn flush(&mut self) -> Result<(), StreamError> {
        self.check()?;
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let written = sink.write_all(&self.output).and_then(|()| sink.flush());
        self.output.clear();
        written.or_else(|error| self.fail(StreamError::new(false, &error)))
    }

    /// What has failed fails from then on.
    #[inline]
    fn check(&self) -> Result<(), StreamError> {
        match &self.failed {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    fn fail<T>(&mut self, error: StreamError) -> Result<T, StreamError> {
        self.failed = Some(error.clone());
        Err(error)
    }

    /// Writes what waits to be written: the end of a run, however it ended.
    ///
    /// # Errors
    /// The first failure of a stream in the whole run.
    pub fn finish(mut self) -> Result<(), StreamError> {
        self.flush()
    }

    fn input_bytes(&self) -> Option<Arc<[u8]>> {
        match &self.input {
            Input::Bytes(bytes, _) => Some(bytes.clone()),
            Input::Stream(..) => None,
        }
    }
}

impl Drop for Io {
    fn drop(&mut self) {
        // Who wants to know of failures calls `finish`.
        let _ = self.flush();
    }
}

#[inline]
fn take(bytes: &[u8], at: &mut usize) -> Option<u8> {
    let next = bytes.get(*at).copied()?;
    *at += 1;
    Some(next)
}

thread_local! {
    static CURRENT: RefCell<Option<Io>> = const { RefCell::new(None) };
}

/// Works on the thread's input and output.
#[inline]
fn current<R>(work: impl FnOnce(&mut Io) -> R) -> R {
    CURRENT.with(|current| work(current.borrow_mut().get_or_insert_with(Io::real)))
}

/// Lets `io` be this thread's input and output during `work`. Gives it back as it is then.
pub fn with<R>(io: Io, work: impl FnOnce() -> R) -> (R, Io) {
    /// Puts back what was there, also if `work` panics.
    struct Before(Option<Io>);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let before = Before(CURRENT.replace(Some(io)));
    let result = work();
    let io = CURRENT.take();
    drop(before);
    (result, io.unwrap_or_else(|| unreachable!("nobody else takes it away")))
}

/// Writes a byte to the thread's output.
///
/// # Errors
/// As [`Io::put`].
pub fn put(b: u8) -> Result<(), StreamError> {
    current(|io| io.put(b))
}

/// Reads a byte of the thread's input, or -1.
///
/// # Errors
/// As [`Io::get`].
pub fn get() -> Result<i64, StreamError> {
    current(Io::get)
}

/// Writes what the thread's output has not written yet.
///
/// # Errors
/// As [`Io::flush`].
pub fn flush() -> Result<(), StreamError> {
    current(Io::flush)
}

/// The whole input of a thread whose output is kept.
pub fn input() -> Option<Arc<[u8]>> {
    CURRENT.with_borrow(|io| io.as_ref().and_then(Io::input_bytes))
}

/// The output so far of a thread whose output is kept.
pub fn output() -> Option<Vec<u8>> {
    CURRENT.with_borrow(|io| io.as_ref().filter(|io| io.sink.is_none()).map(|io| io.output.clone()))
}

/// How far a thread has come whose output is kept.
pub fn keep() -> Option<Kept> {
    CURRENT.with_borrow(|io| match io {
        Some(Io { input: Input::Bytes(_, read), sink: None, output, .. }) => {
            Some(Kept { read: *read, output: output.clone() })
        }
        _ => None,
    })
}

/// Goes back to where a thread had come then. Streams can't go back.
pub fn put_back(kept: &Kept) {
    CURRENT.with_borrow_mut(|io| {
        if let Some(Io { input: Input::Bytes(_, read), sink: None, output, .. }) = io {
            *read = kept.read;
            output.clone_from(&kept.output);
        }
    });
}

/// Goes back to the beginning, before the next of several runs that are to be compared. Streams can't go back.
pub fn rewind() {
    put_back(&Kept { read: 0, output: Vec::new() });
}
