//! What the measurements are to show, and the verdict on each row that says whether it does. With `--check` none can be
//! left out: an aim without a verdict is an error, too.

use std::cell::RefCell;

macro_rules! aims {
    ($($aim:ident $text:literal;)*) => {
        /// What is aimed at.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Aim { $($aim,)* }

        impl Aim {
            const ALL: &[Aim] = &[$(Aim::$aim,)*];

            fn text(self) -> &'static str {
                match self { $(Aim::$aim => $text,)* }
            }
        }
    };
}

aims! {
    SpecializingAhead "specializing ahead of time: at most 1 µs a residual op";
    SpecializingTraces "specializing while tracing: at most 1 µs a residual op";
    OptimizerQuarter "the optimizer: at most a quarter of the time of generating code for what it is given";
    CompilingNoLonger "compiling with the optimizer: no longer than with Cranelift's";
    LoopsOfRust "loops: at most 1.3 times Rust's time";
    LoopsOfTier0 "loops just in time: at least 20 times as fast as tier 0";
    Brainfuck "Brainfuck ahead of time: at most 1.5 times C's time, 1.2 times that of checked C";
    BrainfuckJit "Brainfuck just in time: at most 1.3 times the time of ahead of time";
    Warming "just in time: at most 1.2 times tier 0's time for runs of 1 to 1,000 ms";
    Hard "programs hard on traces: at most 1.5 times the eager code's time";
    Guards "a guard that fails every other time: at most 5 ns, and nothing in a region";
    Starting "starting: at most 20 ms";
}

struct Verdict {
    aim: Aim,
    row: String,
    met: bool,
}

thread_local! {
    static VERDICTS: RefCell<Vec<Verdict>> = const { RefCell::new(Vec::new()) };
}

impl Aim {
    /// Notes whether a row meets the aim. Gives that in a word.
    pub fn judge(self, row: impl Into<String>, met: bool) -> &'static str {
        VERDICTS.with_borrow_mut(|verdicts| verdicts.push(Verdict { aim: self, row: row.into(), met }));
        if met { "met" } else { "missed" }
    }
}

/// Prints how many rows meet each aim, and which miss it.
///
/// # Errors
/// If a row misses its aim, or an aim has no row.
pub fn check() -> Result<(), String> {
    println!("\n| aim | rows | met | missed by |\n| --- | ---: | ---: | --- |");
    let (mut rows, mut missed, mut unmeasured) = (0, 0, Vec::new());
    VERDICTS.with_borrow(|verdicts| {
        for aim in Aim::ALL {
            let own: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.aim == *aim).collect();
            let wrong: Vec<&str> = own.iter().filter(|verdict| !verdict.met).map(|verdict| &*verdict.row).collect();
            println!("| {} | {} | {} | {} |", aim.text(), own.len(), own.len() - wrong.len(), wrong.join("; "));
            (rows, missed) = (rows + own.len(), missed + wrong.len());
            if own.is_empty() {
                unmeasured.push(aim.text());
            }
        }
    });
    match (missed, &unmeasured[..]) {
        (0, []) => Ok(()),
        (_, []) => Err(format!("{missed} of {rows} rows miss their aims")),
        (_, aims) => Err(format!("nothing was measured for: {}", aims.join("; "))),
    }
}
