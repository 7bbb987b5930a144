//! Settings that must not change what a run gives, drawn anew for each random case: no heuristic is load-bearing.
//!
//! As text they are a directive, `// switches: join_tuples 2, reenter 0`, which names those that aren't the usual ones.

use hueshift::JitOptions;
use std::fmt;
use timeshifter::specialize::{Chaos, Engine};

macro_rules! switches {
    ($($(#[$doc:meta])* $name:ident: usual $usual:literal, or $choices:expr;)*) => {
        /// The settings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Switches { $($(#[$doc])* pub $name: u32,)* }

        impl Default for Switches {
            fn default() -> Switches {
                Switches { $($name: $usual,)* }
            }
        }

        impl Switches {
            /// Drawn from bytes: half of each is other than usual, and none if the bytes are zeros.
            pub fn drawn(bytes: &[u8]) -> Switches {
                let mut bytes = bytes.iter().copied();
                let mut switches = Switches::default();
                $(let (byte, choices) = (usize::from(bytes.next().unwrap_or(0)), $choices);
                if byte >= 128 {
                    switches.$name = choices[byte % choices.len()];
                })*
                switches
            }

            /// Reads what follows `// switches:`.
            ///
            /// # Errors
            /// If there is no such switch.
            pub fn parse(text: &str) -> Result<Switches, String> {
                let mut switches = Switches::default();
                for item in text.split(',') {
                    let (name, value) = item.trim().split_once(' ').ok_or_else(|| format!("`{item}` is no switch"))?;
                    let value = value.trim().parse().map_err(|e| format!("{item}: {e}"))?;
                    match name {
                        $(stringify!($name) => switches.$name = value,)*
                        _ => return Err(format!("there is no switch `{name}`")),
                    }
                }
                Ok(switches)
            }
        }

        impl fmt::Display for Switches {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let usual = Switches::default();
                let mut list: Vec<String> = Vec::new();
                $(if self.$name != usual.$name {
                    list.push(format!("{} {}", stringify!($name), self.$name));
                })*
                f.write_str(&list.join(", "))
            }
        }
    };
}

switches! {
    /// `Limits::join_tuples`.
    join_tuples: usual 16, or [1, 2, 3];
    /// `Limits::versions`; with 0 no version that states are met into keeps anything but greens.
    versions: usual 3, or [0, 1, 1, 2];
    /// `Limits::residual_ops`: what is beyond goes on in the all-red twin.
    residual_ops: usual 200_000, or [20, 60, 150];
    /// `Limits::inline_depth`.
    inline_depth: usual 200, or [1, 1, 1, 2, 3];
    /// `Limits::trace_steps`: longer traces are stopped.
    trace_steps: usual 100_000, or [30, 100, 300];
    /// `JitOptions::bridge`.
    bridge: usual 2, or [1, 3];
    /// `JitOptions::cases`.
    cases: usual 32, or [1, 1, 2];
    /// `JitOptions::reenter`: 0 is no.
    reenter: usual 1, or [0];
    /// `JitOptions::region`: 0 is never.
    region: usual 0, or [1, 1, 2, 3];
    /// `Limits::region_ops`.
    region_ops: usual 6_000, or [10, 40];
    /// `JitOptions::chaos`: 0 is none.
    chaos: usual 0, or std::array::from_fn::<u32, 127, _>(|seed| seed as u32 + 1);
}

impl Switches {
    /// The options of a driver for small cases.
    pub fn options(&self) -> JitOptions {
        JitOptions {
            bridge: self.bridge,
            cases: self.cases as usize,
            reenter: self.reenter != 0,
            region: self.region,
            chaos: self.chaos.into(),
            ..JitOptions::default()
        }
    }

    /// Sets the limits of an engine for small cases.
    pub fn limit(&self, engine: &mut Engine<'_>) {
        let limits = &mut engine.limits;
        limits.green_steps = 100_000;
        limits.loop_keys = 500;
        limits.join_tuples = self.join_tuples as usize;
        limits.versions = self.versions as usize;
        limits.residual_ops = self.residual_ops as usize;
        limits.inline_depth = self.inline_depth as usize;
        limits.trace_steps = u64::from(self.trace_steps);
        limits.region_ops = self.region_ops as usize;
        if engine.chaos.is_none() {
            engine.chaos = Chaos::new(self.chaos.into());
        }
    }
}
