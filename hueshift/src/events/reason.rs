//! Why something happened: a table.

use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($name:ident $id:literal $meaning:literal, $remedy:literal;)*) => {
        /// Why something happened. Each has an identifier, which stays, a meaning, and what can be done about it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Reason {
            $(#[doc = $meaning] #[serde(rename = $id)] $name,)*
        }

        impl Reason {
            /// All of them.
            pub const ALL: &'static [Reason] = &[$(Reason::$name),*];

            /// The identifier, as it stands in logs.
            pub fn id(self) -> &'static str {
                match self {
                    $(Reason::$name => $id,)*
                }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Reason::$name => $meaning,)*
                }
            }

            /// What can be done about it; nothing where all is well.
            pub fn remedy(self) -> Option<&'static str> {
                let remedy = match self {
                    $(Reason::$name => $remedy,)*
                };
                Some(remedy).filter(|text| !text.is_empty())
            }
        }
    };
}

reasons! {
    Threshold "threshold" "Runs have come by as often as the setting `threshold` says.", "";
    FirstRun "first-run" "The run is traced from its beginning.", "";
    HotLoop "hot-loop" "The place in the guest program is hot.", "";
    HotCall "hot-call" "In the interpreter a portal was called a hundred times as often as `threshold` says (more where code is thrown away again and again), with the same greens, by itself or with no code to enter.", "";
    HotExit "hot-exit" "The exit was taken as often as the setting `bridge` says.", "";
    BehindLoop "behind-loop" "The exit leads out of a loop that the same run has just made: it gets its code at once.", "";
    HotBridge "hot-bridge" "A bridge that leads back to the loop was taken as often as the setting `region` says.", "";
    KnownLoop "known-loop" "A trace has come to a loop that others have been around, called from elsewhere.", "";
    HotCase "hot-case" "A promotion's case, ahead of time, was entered as often as the setting `region` says.", "";
    NewValue "new-value" "A promotion has met a value that has no code yet.", "";
    FirstValue "first-value" "The value that a trace promotes while it is made.", "";
    AheadOfTime "ahead-of-time" "Compiled before it is run, for all that may happen.", "";
    LoopClosed "loop-closed" "The trace has come back to code that it has made itself.", "";
    JoinedCode "joined-code" "The trace has come to code that was there.", "";
    NewCode "new-code" "Machine code for what has been specialized.", "";
    GuardFailed "guard-failed" "The run has taken another branch than the compiled one.",
        "a branch that goes both ways gets a bridge after `bridge=N` exits: lower it to get there sooner";
    DeadEnd "dead-end" "The run has come to what can't be compiled.",
        "see what was not compiled there";
    NoRoom "no-room" "The exit gets no code: there is as much as the setting `code-bytes` says.",
        "raise `code-bytes=N`";
    ValueWithoutCase "value-without-case" "A promoted value has no code of its own.",
        "promote what has few values, or raise `cases=N`";
    ArrivalDiffers "arrival-differs" "A run has come back with other constants than the code was made for.",
        "a constant that changes from round to round is better red from the beginning: `variable(..)`";
    TooManyVersions "too-many-versions" "There are as many versions as the setting `versions` says: this one keeps no constants.",
        "raise `versions=N`, or make what differs red with `variable(..)`";
    TraceSteps "trace-steps" "The trace grew longer than the setting `trace-steps` says, and was stopped.",
        "raise `trace-steps=N`, or mark functions that need not be looked into `#[dont_look_inside]`";
    UnrolledOps "unrolled-ops" "The trace grew to more ops than the setting `unrolled-ops` says, and was stopped.",
        "raise `unrolled-ops=N`, or make the loop's exit depend on something red: `variable(..)`";
    GreenSteps "green-steps" "The trace took more steps that leave nothing to run than the setting `green-steps` says, and was stopped.",
        "raise `green-steps=N`, or make the loop's exit depend on something red: `variable(..)`";
    AbortAt "abort-at" "The setting `abort-at` has stopped the trace.", "leave out `abort-at=N`, which is for tests";
    Chaos "chaos" "The setting `chaos` has stopped the trace.", "leave out `chaos=SEED`, which is for tests";
    JoinTuples "join-tuples" "Paths have met with more combinations of greens than the setting `join-tuples` says: they go on with everything red.",
        "make the green that multiplies red with `variable(..)`, or raise `join-tuples=N`";
    ResidualOps "residual-ops" "The code has grown larger than the setting `residual-ops` says: it goes on with everything red.",
        "mark functions that need not be copied `#[dont_look_inside]`, or raise `residual-ops=N`";
    InlineDepth "inline-depth" "As many calls are copied into each other as the setting `inline-depth` says: the function is called.",
        "raise `inline-depth=N`, or mark the function `#[dont_look_inside]`";
    PromotedInCall "promoted-in-call" "A function that is called promotes a value of which nothing is known, or too many: it goes on with everything red.",
        "promote it before the call, and hand it over; or mark a function with a loop `#[unroll_safe]`, so that it is copied to where it is called; what a `#[green]` field of a called portal holds is promoted at its merge point: let it be an ordinary field";
    Cases "cases" "The promotion has as many values with code as the setting `cases` says: others are interpreted until they have come often.",
        "promote what has fewer values, leave the `promote` out, or raise `cases=N`";
    SlotBytes "slot-bytes" "The runs inside of each other use up the memory for local arrays and structs: the interpreter goes on.",
        "raise `slot-bytes=N`, or let the guest recurse less deeply";
    CodeBytes "code-bytes" "There is more code than the setting `code-bytes` says.",
        "raise `code-bytes=N`; where code is made again and again, look for a green that keeps changing";
    GuestPrograms "guest-programs" "So many guest programs have code in one `Jit` that the coldest goes.",
        "give programs that are run for a while a `Jit` of their own, which is dropped with them";
    CellWritten "cell-written" "A `QuasiCell` has been written.",
        "what is written often is better a `Cell`";
    NotLookedInto "not-looked-into" "The hot loop runs inside of a function that is not looked into.",
        "take `#[dont_look_inside]` or `#[elidable]` from the function that runs the loop";
    EndlessGreen "endless-green" "A green keeps changing while compiling.",
        "make the loop's exit depend on a green, or make the green red with `variable(..)`";
    TooMuch "too-much" "Too much would be compiled in one piece.",
        "mark functions that need not be copied `#[dont_look_inside]`";
    EndlessCall "endless-call" "A call that must be done while compiling takes too long.",
        "hand it less, let it end, or make its result red with `variable(..)`";
    EndlessRecursion "endless-recursion" "A recursion over greens doesn't end.",
        "let the recursion end by a green, or make the argument red with `variable(..)`";
    RegionRefused "region-refused" "A hot loop can't be specialized again as one graph: the traces of it stay.",
        "see the message: it is what compiling the loop ahead of time would meet";
    CallRefused "call-refused" "A function that is called can't be compiled for its green arguments: compiled code ends before the call.",
        "see the message: it is what compiling the function ahead of time would meet";
    CodeGeneration "code-generation" "No machine code can be made.", "see the message; what residual code is too large is compiled in smaller pieces if less is inlined";
    Internal "internal" "A bug in hueshift, or in a compiler graph that was edited.", "please report it";
}
