//! Compiling on a thread of its own: functions in Cranelift's form go there, machine code comes back, in the same order.
//!
//! Graphs become Cranelift's form, and code is installed, on the thread of the engine: nothing that it has is shared.

use crate::CodegenError;
use crate::code::{Compiled, Definition, compile};
use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A batch that the thread is done with.
pub(crate) struct Done {
    /// The code of all of it, or why there is none.
    pub compiled: Result<Vec<Compiled>, CodegenError>,
    /// How long it took.
    pub duration: Duration,
}

/// The thread. It ends when this is dropped, behind the batch that it has at hand.
pub(crate) struct Worker {
    batches: Sender<Vec<Definition>>,
    done: Receiver<Done>,
}

impl Worker {
    /// Begins the thread.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub fn start(isa: OwnedTargetIsa, want_text: bool) -> Result<Worker, CodegenError> {
        let (batches, jobs) = channel::<Vec<Definition>>();
        let (finished, done) = channel();
        let work = move || {
            let mut context = Context::new();
            for batch in jobs {
                let begun = Instant::now();
                let compiled = compile(&*isa, &mut context, batch, want_text);
                // Nobody waits for the rest.
                if finished.send(Done { compiled, duration: begun.elapsed() }).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("hueshift code".to_owned());
        thread.spawn(work).map_err(|e| CodegenError::Machine(format!("no thread to generate code on: {e}")))?;
        Ok(Worker { batches, done })
    }

    /// Hands over a batch.
    pub fn compile(&self, batch: Vec<Definition>) {
        // Where the thread is gone, there is no answer either, and that is told.
        let _ = self.batches.send(batch);
    }

    /// The next batch that is done; nothing if none is, or, if it is to be waited for, if the thread is gone.
    pub fn done(&self, wait: bool) -> Option<Done> {
        if wait { self.done.recv().ok() } else { self.done.try_recv().ok() }
    }
}
