//! What became of the states that came to merge points: counted, so that tests can say that everything came up.

use flowgraph::ir::MarkKind;

/// What a state that comes to a mark does, or what is made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Merge {
    /// The state implies a version that is there, and enters it.
    Jumped,
    /// The first version of a key is made.
    New,
    /// A version is made besides others, of the arriving state itself.
    Peeled,
    /// A version is made that is met with the last one: what differs becomes a variable.
    Widened,
    /// A version is made that forgets all facts; constants, too, in a trace and where there are very many versions.
    Topped,
    /// Several states are met into the version that is made.
    Met,
    /// Too many keys: the state goes on in the all-red twin.
    Capped,
    /// The state goes on as it is: in a trace, or where no other can come.
    Passed,
}

impl Merge {
    /// All of them.
    pub const ALL: [Merge; 8] = [
        Merge::Jumped,
        Merge::New,
        Merge::Peeled,
        Merge::Widened,
        Merge::Topped,
        Merge::Met,
        Merge::Capped,
        Merge::Passed,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Merge::Jumped => "jumped",
            Merge::New => "new version",
            Merge::Peeled => "peeled",
            Merge::Widened => "widened",
            Merge::Topped => "topped",
            Merge::Met => "met",
            Merge::Capped => "capped",
            Merge::Passed => "passed",
        }
    }
}

/// How often each [`Merge`] came up at each kind of mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merges {
    local: [u64; Merge::ALL.len()],
    global: [u64; Merge::ALL.len()],
}

impl Merges {
    /// How often it came up.
    pub fn count(&self, kind: MarkKind, merge: Merge) -> u64 {
        match kind {
            MarkKind::LocalMerge => self.local[merge as usize],
            MarkKind::GlobalMerge => self.global[merge as usize],
        }
    }

    pub(crate) fn see(&mut self, kind: MarkKind, merge: Merge) {
        match kind {
            MarkKind::LocalMerge => self.local[merge as usize] += 1,
            MarkKind::GlobalMerge => self.global[merge as usize] += 1,
        }
    }
}
