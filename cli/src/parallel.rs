//! Much that is alike, done on all cores.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// Does the work of each number below `count` on several threads. What comes of it is told in order, each as soon as
/// all before it are done; where telling fails, nothing more is begun.
pub fn in_order<R: Send, E>(
    count: usize,
    work: impl Fn(usize) -> R + Sync,
    mut tell: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from).min(count) {
            let (next, work, sender) = (&next, &work, sender.clone());
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count || sender.send((at, work(at))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut told = 0;
        // Dropped where telling fails, and with it the workers end.
        for (at, result) in receiver {
            waiting.insert(at, result);
            while let Some(result) = waiting.remove(&told) {
                tell(told, result)?;
                told += 1;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn is_told_in_order() {
        let mut told = Vec::new();
        let work = |at: usize| {
            // The earlier of two takes longer.
            std::thread::sleep(Duration::from_millis(3 * (1 - at as u64 % 2)));
            at * at
        };
        let done: Result<(), Infallible> = in_order(41, work, |at, result| {
            told.push((at, result));
            Ok(())
        });
        assert_eq!((done, told), (Ok(()), (0..41).map(|at| (at, at * at)).collect()));
        assert_eq!(in_order(0, |_| (), |_, ()| Err("told of nothing")), Ok(()));
    }

    #[test]
    fn ends_where_telling_fails() {
        let begun = AtomicUsize::new(0);
        let work = |_| {
            std::thread::sleep(Duration::from_millis(1));
            begun.fetch_add(1, Ordering::Relaxed)
        };
        assert_eq!(in_order(100_000, work, |at, _| if at < 3 { Ok(()) } else { Err(at) }), Err(3));
        assert!(begun.into_inner() < 100_000);
    }
}
