//! A sign of life on a terminal, for what takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Turns until it is dropped.
pub struct Spinner {
    done: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Spinner {
    /// A spinner that appears after a second, on a terminal only.
    pub fn start(message: &'static str) -> Spinner {
        if !std::io::stderr().is_terminal() {
            return Spinner { done: None };
        }
        let (sender, receiver) = channel::<()>();
        let turn = move || {
            if receiver.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_message(message);
                bar.enable_steady_tick(Duration::from_millis(100));
                let _ = receiver.recv();
                bar.finish_and_clear();
            }
        };
        let thread = std::thread::Builder::new().spawn(turn).ok();
        Spinner { done: thread.map(|thread| (sender, thread)) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.done.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// How much of something is done: a bar on a terminal, nothing elsewhere.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar for so many things.
    pub fn start(things: usize) -> Progress {
        let is_seen = std::io::stderr().is_terminal();
        let target = if is_seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Progress(ProgressBar::with_draw_target(Some(things as u64), target))
    }

    /// The next one begins.
    pub fn next(&self, name: &str) {
        self.0.set_message(name.to_owned());
        self.0.inc(1);
    }

    /// Does something that may print, without the bar in its way.
    pub fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.0.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
