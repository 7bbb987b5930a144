//! Events as they are kept, handed over and written.

use super::{Event, Place, Reason, Recorder, What};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

fn event(us: u64) -> Event {
    let (what, key) = (What::Exit { exit: 3, taken: 8, value: None }, "code, pc=12".to_owned());
    let at = Place::try_from("a:b.rs:60:9".to_owned()).ok();
    Event { us, what, reason: Reason::GuardFailed, key, at, duration_us: None, compiler: 0 }
}

#[test]
fn only_the_latest_are_kept() {
    let recorder = Recorder::new(3, false, Duration::ZERO);
    let heard = Rc::new(RefCell::new(Vec::new()));
    let hears = heard.clone();
    recorder.set_sink(Some(Box::new(move |event| hears.borrow_mut().push(event.us))));
    (0..5).for_each(|us| recorder.tell(event(us)));
    assert_eq!(recorder.kept().iter().map(|e| e.us).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!((recorder.forgotten(), heard.borrow().len()), (2, 5));
    recorder.set_sink(None);
    recorder.tell(event(5));
    assert_eq!(heard.borrow().len(), 5);
    let nothing = Recorder::new(0, false, Duration::ZERO);
    nothing.tell(event(0));
    assert_eq!((nothing.kept().len(), nothing.forgotten()), (0, 1));
}

#[test]
fn a_sink_may_change_the_sink() {
    let recorder = Recorder::new(0, false, Duration::ZERO);
    let (own, heard) = (recorder.clone(), Rc::new(RefCell::new(0)));
    let hears = heard.clone();
    recorder.set_sink(Some(Box::new(move |_| {
        *hears.borrow_mut() += 1;
        own.set_sink(Some(Box::new(|_| {})));
    })));
    recorder.tell(event(0));
    recorder.tell(event(1));
    assert_eq!(*heard.borrow(), 1);
    recorder.set_sink(None);
}

#[test]
fn places() {
    let place = event(0).at.expect("a place");
    assert_eq!((place.file.as_str(), place.line, place.column), ("a:b.rs", 60, 9));
    assert_eq!(place.to_string(), "a:b.rs:60:9");
    for text in ["", "a.rs", "a.rs:1", "a.rs:x:2", "a.rs:1:-2"] {
        let error = Place::try_from(text.to_owned()).expect_err("no place");
        assert_eq!(error.to_string(), format!("`{text}` is not of the form file:line:column"));
    }
}

#[test]
fn identifiers_are_short_and_different() {
    let ids: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.id()).collect();
    assert_eq!(ids.len(), Reason::ALL.len());
    for reason in Reason::ALL {
        let id = reason.id();
        assert!(id.len() <= 20 && id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{id}");
        assert!(reason.meaning().ends_with('.') && reason.remedy().is_none_or(|r| !r.ends_with('.')), "{id}");
    }
}

/// The book has each reason, as the table has it.
#[test]
fn the_book_has_all_reasons() {
    let book = include_str!("../../../docs/seeing.md");
    for reason in Reason::ALL {
        let (id, meaning, remedy) = (reason.id(), reason.meaning(), reason.remedy().unwrap_or_default());
        let row = format!("| `{id}` | {meaning} | {remedy} |");
        assert!(book.lines().any(|line| line == row), "docs/seeing.md should have the row\n{row}");
    }
}
