//! What is compiled on another thread, and installed when it is done.

use super::Engine;
use crate::CodegenError;
use crate::worker::Worker;
use std::time::Duration;

/// A batch that has been compiled in the background.
#[derive(Debug)]
pub struct Finished {
    /// Which: see [`Engine::begun`].
    pub number: u64,
    /// The bytes of its code, or why it was refused.
    pub result: Result<usize, CodegenError>,
    /// How long it took, on that other thread.
    pub duration: Duration,
}

impl Engine {
    /// How many batches have been begun, with those that are done: the number of the latest.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// Whether it compiles on another thread.
    pub fn is_in_background(&self) -> bool {
        self.worker.is_some()
    }

    /// Has something done on the thread that compiles, behind all that has been begun; at once, if there is no other
    /// thread. It gives whether anybody wants what came of it: else nothing more is done there.
    pub fn aside(&self, errand: impl FnOnce() -> bool + Send + 'static) {
        match &self.worker {
            Some(worker) => worker.run(Box::new(errand)),
            None => drop(errand()),
        }
    }

    /// Whether the thread that compiles has done anything since this was asked last. If not, [`Engine::poll`] finds
    /// nothing.
    pub fn has_news(&self) -> bool {
        self.worker.as_ref().is_some_and(Worker::has_news)
    }

    /// How many batches are being compiled in the background.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Installs what has been compiled in the background, in the order in which it was begun; all of it, if it is to be
    /// waited for. What there is becomes executable at once: that has its price, however much it is. Behind a batch
    /// that is refused all are that have been begun since: they may refer to it.
    pub fn poll(&mut self, wait: bool) -> Vec<Finished> {
        let mut all = Vec::new();
        let mut written = Vec::new();
        while !self.under_way.is_empty()
            && let Some(worker) = &self.worker
        {
            let Some(done) = worker.done(wait) else { break };
            let Some(begun) = self.under_way.pop_front() else { break };
            let number = self.begun - self.under_way.len() as u64;
            let before = self.code_bytes();
            let result = match begun {
                Some(begun) => self.write(number, begun, done.compiled).map(|batch| {
                    written.push(batch);
                    self.code_bytes() - before
                }),
                None => Err(CodegenError::BehindRefused),
            };
            if result.is_err() {
                self.refuse_under_way();
            }
            all.push(Finished { number, result, duration: done.duration });
        }
        if !written.is_empty()
            && let Err(error) = self.install(written)
        {
            let message = error.to_string();
            for finished in all.iter_mut().filter(|finished| finished.result.is_ok()) {
                finished.result = Err(CodegenError::CodeMemory(message.clone()));
            }
        }
        all
    }

    /// Forgets all that is under way. Nothing that is begun from now on can refer to it.
    fn refuse_under_way(&mut self) {
        for at in 0..self.under_way.len() {
            if let Some(begun) = self.under_way[at].take() {
                self.forget(&begun.names, &begun.heads);
            }
        }
    }
}
