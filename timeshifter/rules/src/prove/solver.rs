//! Asking Z3: through the crate `z3` where this is built with it (feature `verify-z3`), else through the library that
//! is found when this runs.

use std::time::Duration;

/// What Z3 says of a formula.
#[derive(Debug)]
pub enum Answer {
    /// Nothing makes it true.
    Unsat,
    /// These values do, in the order asked for.
    Sat(Vec<i64>),
    /// It doesn't know, and why.
    Unknown(String),
}

/// How much Z3 may do for one question, in the steps that it counts itself (its option `rlimit`; some four million to a
/// second). Unlike with time, what is answered so is answered on a slow machine, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort(u32);

impl Effort {
    /// As much as fits in the solver's time.
    pub const ALL: Effort = Effort(0);

    /// So many millions of steps.
    pub const fn millions(steps: u32) -> Effort {
        assert!(0 < steps && steps < 4000, "Z3 counts in 32 bits, and 0 is no limit");
        Effort(steps * 1_000_000)
    }
}

/// A Z3 that can be asked.
#[derive(Debug)]
pub struct Solver {
    /// How long one question may take: enough for each that is answered at all, so that answers don't depend on it.
    timeout: Duration,
    #[cfg(not(feature = "verify-z3"))]
    library: super::library::Library,
}

impl Solver {
    /// How long one question may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }
}

#[cfg(feature = "verify-z3")]
impl Solver {
    /// The solver, and its version.
    ///
    /// # Errors
    ///
    /// None where this is built with Z3.
    pub fn new(timeout: Duration) -> Result<(Solver, String), String> {
        Ok((Solver { timeout }, z3::full_version().to_owned()))
    }

    /// Whether something makes a script's assertions true, and then the values of what is wanted, each with its number
    /// of bits.
    pub fn ask(&self, script: &str, floats: bool, wanted: &[(String, u32)], effort: Effort) -> Answer {
        use z3::ast::BV;
        let logic = if floats { None } else { z3::Solver::new_for_logic("QF_BV") };
        let solver = logic.unwrap_or_default();
        let mut params = z3::Params::new();
        params.set_u32("timeout", u32::try_from(self.timeout.as_millis()).unwrap_or(u32::MAX));
        params.set_u32("rlimit", effort.0);
        solver.set_params(&params);
        solver.from_string(script);
        match solver.check() {
            z3::SatResult::Unsat => Answer::Unsat,
            z3::SatResult::Unknown => {
                Answer::Unknown(solver.get_reason_unknown().unwrap_or_else(|| "no reason".to_owned()))
            }
            z3::SatResult::Sat => {
                let Some(model) = solver.get_model() else { return Answer::Unknown("there is no model".to_owned()) };
                let value =
                    |(name, width): &(String, u32)| model.eval(&BV::new_const(name.as_str(), *width), true)?.as_u64();
                match wanted.iter().map(value).collect::<Option<Vec<u64>>>() {
                    Some(values) => Answer::Sat(values.into_iter().map(|word| word as i64).collect()),
                    None => Answer::Unknown("the model has no values".to_owned()),
                }
            }
        }
    }
}

#[cfg(feature = "verify-z3")]
impl Solver {
    /// How many of the cases can't be, up to the first that may be.
    pub(super) fn impossible(&self, script: &str, floats: bool, cases: &[String], effort: Effort) -> usize {
        let is_not =
            |case: &&String| matches!(self.ask(&format!("{script}{case}"), floats, &[], effort), Answer::Unsat);
        cases.iter().take_while(is_not).count()
    }
}

/// Z3's own way to answer.
#[cfg(not(feature = "verify-z3"))]
const DEFAULT: &str = "(check-sat)";

#[cfg(not(feature = "verify-z3"))]
impl Solver {
    /// How many of the cases can't be, up to the first that may be.
    pub(super) fn impossible(&self, script: &str, floats: bool, cases: &[String], effort: Effort) -> usize {
        // With a number put in, most need little more than being simplified.
        let check = if floats { DEFAULT } else { "(check-sat-using (then simplify propagate-values simplify smt))" };
        // Each case by itself: what was learnt from others slows it down.
        let each: String = cases.iter().map(|case| format!("(push)\n{case}{check}\n(pop)\n")).collect();
        let said = self.library.eval(&format!("{}{script}{each}", self.limits(effort)), "");
        let otherwise = |case: &str| {
            let script = format!("{}{script}{case}(check-sat-using qfbv)\n", self.limits(effort));
            self.library.eval(&script, "").trim() == "unsat"
        };
        let is_not =
            |(case, said): &(&String, &str)| *said == "unsat" || *said == "unknown" && !floats && otherwise(case);
        cases.iter().zip(said.split_whitespace()).take_while(is_not).count()
    }

    /// The options for one question.
    fn limits(&self, effort: Effort) -> String {
        format!("(set-option :timeout {})\n(set-option :rlimit {})\n", self.timeout.as_millis(), effort.0)
    }
}

#[cfg(not(feature = "verify-z3"))]
impl Solver {
    /// The solver, and its version.
    ///
    /// # Errors
    ///
    /// Where no Z3 is found.
    pub fn new(timeout: Duration) -> Result<(Solver, String), String> {
        let library = super::library::Library::find()?;
        let version = library.version();
        Ok((Solver { timeout, library }, version))
    }

    /// Whether something makes a script's assertions true, and then the values of what is wanted, each with its number
    /// of bits.
    pub fn ask(&self, script: &str, _: bool, wanted: &[(String, u32)], effort: Effort) -> Answer {
        let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
        // Values are asked for only where there are some: else that is an error.
        let said = self.library.eval(
            &format!("{}{script}{DEFAULT}\n", self.limits(effort)),
            &format!("(get-value ({}))\n", names.join(" ")),
        );
        match said.split_whitespace().next() {
            Some("unsat") => Answer::Unsat,
            Some("sat") => {
                let values = wanted.iter().map(|(name, _)| value_in(&said, name)).collect::<Option<Vec<i64>>>();
                values.map_or_else(|| Answer::Unknown(format!("no values in {said}")), Answer::Sat)
            }
            _ => Answer::Unknown(said.trim().to_owned()),
        }
    }
}

/// The value of a name in `((name #x0000000000000001) …)`.
#[cfg(not(feature = "verify-z3"))]
fn value_in(said: &str, name: &str) -> Option<i64> {
    let at = said.find(&format!("({name} "))? + name.len() + 2;
    let word = said[at..].split(|c: char| c == ')' || c.is_whitespace()).next()?;
    let digits = word.strip_prefix("#x")?;
    u64::from_str_radix(digits, 16).ok().map(|bits| bits as i64)
}
