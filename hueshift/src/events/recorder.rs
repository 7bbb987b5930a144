//! Where events go: the latest are kept, and each is handed to the function that asked for them.

use super::{Event, micros};
use crate::clock::Clock;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A function that is handed each event when it happens.
pub type Sink = Box<dyn FnMut(&Event)>;

/// What several drivers tell, in the order in which it happens. A clone is the same recorder.
#[derive(Clone)]
pub(crate) struct Recorder(Rc<Shared>);

struct Shared {
    begun: Instant,
    /// How many events are kept.
    room: usize,
    kept: RefCell<VecDeque<Event>>,
    forgotten: Cell<u64>,
    sink: RefCell<Option<Sink>>,
    compilers: Cell<u32>,
    clock: Clock,
}

impl Recorder {
    /// Nothing has happened. So many events are kept; `timed` says whether the time in each tier is measured; for so
    /// long as `warm_up` from when something is hot it is anyhow.
    pub fn new(room: usize, timed: bool, warm_up: Duration) -> Recorder {
        Recorder(Rc::new(Shared {
            clock: Clock::new(timed, warm_up),
            begun: Instant::now(),
            room,
            kept: RefCell::default(),
            forgotten: Cell::default(),
            sink: RefCell::default(),
            compilers: Cell::default(),
        }))
    }

    /// The number of one more compiler that tells something.
    pub fn next_compiler(&self) -> u32 {
        self.0.compilers.replace(self.0.compilers.get() + 1)
    }

    /// The clock of all that tell something.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Hands further events to a function.
    pub fn set_sink(&self, sink: Option<Sink>) {
        *self.0.sink.borrow_mut() = sink;
    }

    /// Microseconds since the beginning.
    pub fn now(&self) -> u64 {
        micros(self.0.begun.elapsed())
    }

    /// Something has happened.
    pub fn tell(&self, event: Event) {
        // It is away while it runs: it may do anything.
        let sink = self.0.sink.borrow_mut().take();
        if let Some(mut sink) = sink {
            sink(&event);
            self.0.sink.borrow_mut().get_or_insert(sink);
        }
        let mut kept = self.0.kept.borrow_mut();
        kept.push_back(event);
        while kept.len() > self.0.room {
            kept.pop_front();
            self.forget(1);
        }
    }

    /// There was no room for some events.
    pub fn forget(&self, events: u64) {
        self.0.forgotten.set(self.0.forgotten.get() + events);
    }

    /// The latest events, oldest first.
    pub fn kept(&self) -> Vec<Event> {
        self.0.kept.borrow().iter().cloned().collect()
    }

    /// How many events are no longer kept.
    pub fn forgotten(&self) -> u64 {
        self.0.forgotten.get()
    }
}
