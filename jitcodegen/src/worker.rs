//! Compiling on a thread of its own: graphs go there with all that they refer to, machine code comes back, in the same
//! order.
//!
//! Code is installed on the thread of the engine. All that both share is the list of sites: this thread adds what it
//! comes to, the other one looks up what code that it runs says. What the engine's owner has to do before may be done
//! here, too.

use crate::CodegenError;
use crate::code::{Batch, Workshop};
use crate::translation::Translation;
use cranelift_codegen::isa::OwnedTargetIsa;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A batch that the thread is done with.
pub(crate) struct Done {
    /// The code of all of it, or why there is none.
    pub compiled: Result<Batch, CodegenError>,
    /// How long it took.
    pub duration: Duration,
}

/// Something else to be done on the thread. Gives whether anybody wants what came of it.
pub(crate) type Errand = Box<dyn FnOnce() -> bool + Send>;

enum Job {
    Compile(Translation<'static>),
    Errand(Errand),
}

/// As long as there is more to do, so much is done before that is told: who installs code has a price to pay each time.
const AT_ONCE: usize = 4;

/// Whether the thread has done something since it was asked last. Its end is something, too.
#[derive(Clone, Default)]
struct News(Arc<AtomicBool>);

impl News {
    fn tell(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn take(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Acquire)
    }
}

/// What tells of the thread's end, however it comes.
struct TellsEnd(News);

impl Drop for TellsEnd {
    fn drop(&mut self) {
        self.0.tell();
    }
}

/// The thread. It ends when this is dropped, behind the batch that it has at hand.
pub(crate) struct Worker {
    jobs: Sender<Job>,
    done: Receiver<Done>,
    news: News,
}

impl Worker {
    /// Begins the thread.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub fn start(isa: OwnedTargetIsa, want_text: bool) -> Result<Worker, CodegenError> {
        let (jobs, given) = channel();
        let (finished, done) = channel();
        let news = News::default();
        let told = news.clone();
        let work = move || {
            let mut workshop = Workshop::new();
            // Dropped in the other order: whoever is told finds that nothing more comes.
            let told = TellsEnd(told);
            let finished = finished;
            let mut untold = 0;
            loop {
                let job = match given.try_recv() {
                    Err(TryRecvError::Empty) => {
                        if std::mem::take(&mut untold) > 0 {
                            told.0.tell();
                        }
                        given.recv().ok()
                    }
                    job => job.ok(),
                };
                let is_wanted = match job {
                    Some(Job::Compile(batch)) => {
                        let begun = Instant::now();
                        let compiled = workshop.compile(&*isa, &batch, want_text);
                        finished.send(Done { compiled, duration: begun.elapsed() }).is_ok()
                    }
                    Some(Job::Errand(errand)) => errand(),
                    None => false,
                };
                // Nobody waits for the rest, or nothing more comes.
                if !is_wanted {
                    return;
                }
                untold += 1;
                if untold == AT_ONCE {
                    told.0.tell();
                    untold = 0;
                }
            }
        };
        let thread = thread::Builder::new().name("hueshift code".to_owned());
        thread.spawn(work).map_err(|e| CodegenError::Machine(format!("no thread to generate code on: {e}")))?;
        Ok(Worker { jobs, done, news })
    }

    /// Hands over a batch.
    pub fn compile(&self, batch: Translation<'static>) {
        // Where the thread is gone, there is no answer either, and that is told.
        let _ = self.jobs.send(Job::Compile(batch));
    }

    /// Has something else done, behind all that has been handed over.
    pub fn run(&self, errand: Errand) {
        let _ = self.jobs.send(Job::Errand(errand));
    }

    /// Whether a batch or an errand has come to its end since this was asked last: a look that costs next to nothing.
    pub fn has_news(&self) -> bool {
        self.news.take()
    }

    /// The next batch that is done, waited for if it is to be; nothing if none is. One that made the
    /// thread panic counts as refused.
    pub fn done(&self, wait: bool) -> Option<Done> {
        let done = if wait { self.done.recv().map_err(|_| TryRecvError::Disconnected) } else { self.done.try_recv() };
        match done {
            Ok(done) => Some(done),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                let gone = CodegenError::Machine("the thread that generates code is gone".to_owned());
                Some(Done { compiled: Err(gone), duration: Duration::ZERO })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Tier;
    use crate::fragment::FrameLayout;
    use crate::function::Common;
    use crate::isa::{OptLevel, Target};
    use crate::sites::SharedSites;

    fn nothing() -> Translation<'static> {
        Translation {
            graphs: Vec::new(),
            tier: Tier::default(),
            functions: Default::default(),
            helpers: Arc::default(),
            heads: Default::default(),
            data: Default::default(),
            sites: SharedSites::default(),
            layout: FrameLayout::new(0),
            common: Common { frame_bytes: 0, overflow_ops: false, checks_accesses: false },
        }
    }

    #[test]
    fn batches_come_back_in_order_and_what_nobody_compiles_is_refused() {
        let isa = Target::host(OptLevel::Quick, false).expect("a code generator").isa;
        let worker = Worker::start(isa, false).expect("a thread");
        assert!(worker.done(false).is_none() && !worker.has_news(), "nothing has been begun");
        for _ in 0..3 {
            worker.compile(nothing());
        }
        for _ in 0..3 {
            assert!(worker.done(true).is_some_and(|done| done.compiled.is_ok_and(|batch| batch.code.is_empty())));
        }
        worker.run(Box::new(|| false));
        while !worker.has_news() {
            thread::yield_now();
        }
        // That was the last one: the thread's end is news.
        while !worker.has_news() && worker.done(false).is_none() {
            thread::yield_now();
        }
        assert!(worker.done(true).is_some_and(|done| done.compiled.is_err()));
        let (jobs, _) = channel();
        let (_, done) = channel();
        let gone = Worker { jobs, done, news: News::default() };
        gone.compile(nothing());
        for wait in [false, true] {
            assert!(gone.done(wait).is_some_and(|done| done.compiled.is_err()));
        }
    }
}
