//! Arguments for runs, and what runs give.

use super::memory::{CELLS_SIZE, STATE, STATE_SIZE};
use super::{Generated, Source};
use crate::eval::{EvalError, Evaluator, Outcome};
use crate::ir::*;
use crate::memory::{BadAccess, Memory};

/// The argument for one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A scalar's word.
    Word(Word),
    /// What a reference points to, and the length where it is a slice.
    Memory {
        /// The bytes.
        bytes: Vec<u8>,
        /// The number of elements of a slice.
        len: Option<u64>,
    },
    /// The same memory as that of another parameter: shared references may be the same.
    Same(usize),
}

/// The arguments of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// One for each parameter of the entry.
    pub args: Vec<Argument>,
}

/// What the memory of each reference parameter holds after a run: position and bytes.
pub type MemoryAfter = Vec<(usize, Vec<u8>)>;

/// The arguments of a run in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The words for each parameter: one for each leaf.
    pub words: Vec<Vec<Word>>,
    /// Where the memory of the references lies: position, address, size in bytes.
    pub regions: Vec<(usize, u64, u64)>,
}

impl Placed {
    /// The words of all parameters.
    pub fn all(&self) -> Vec<Word> {
        self.words.concat()
    }

    /// What the regions hold.
    pub fn contents(&self, memory: &Memory) -> Result<MemoryAfter, BadAccess> {
        self.regions.iter().map(|(param, at, size)| Ok((*param, memory.read(*at, *size)?))).collect()
    }
}

impl Run {
    /// Puts the arguments into memory.
    pub fn place(&self, memory: &mut Memory) -> Result<Placed, BadAccess> {
        let mut placed = Placed { words: Vec::new(), regions: Vec::new() };
        for (param, arg) in self.args.iter().enumerate() {
            let words = match arg {
                Argument::Word(word) => vec![*word],
                Argument::Same(other) => placed.words.get(*other).cloned().unwrap_or_default(),
                Argument::Memory { bytes, len } => {
                    let size = bytes.len() as u64;
                    let address = memory.allocate(size.max(8));
                    memory.write(address, bytes)?;
                    placed.regions.push((param, address, size));
                    [address].into_iter().chain(*len).collect()
                }
            };
            placed.words.push(words);
        }
        Ok(placed)
    }
}

impl Generated {
    /// The arguments of run `run`, except that those in `greens` are the first run's: what is specialized once, for the
    /// greens of the first run, is run with these. In later runs greens and reds share no memory.
    pub fn run_with_greens(&self, run: usize, greens: &[usize]) -> Run {
        let is_green = |param: &usize| greens.contains(param);
        let first = &self.runs[0].args;
        let mut args = self.runs[run].args.clone();
        if run == 0 {
            return Run { args };
        }
        for param in 0..args.len() {
            let from = if is_green(&param) { &first[param] } else { &self.runs[run].args[param] };
            args[param] = match from {
                // The owner's memory, or a copy of what that of the green holds.
                Argument::Same(other) if is_green(&param) != is_green(other) => first[*other].clone(),
                own => own.clone(),
            };
        }
        Run { args }
    }

    /// What the evaluator makes of [`Generated::run_with_greens`]: outcome, and memory afterwards.
    pub fn evaluate(&self, run: usize, greens: &[usize]) -> Result<(Outcome, MemoryAfter), EvalError> {
        let mut memory = Memory::for_module(&self.module);
        let placed = self.run_with_greens(run, greens).place(&mut memory)?;
        let outcome = Evaluator::new(&self.module, &mut memory).with_fuel(1 << 26).call(&self.entry, &placed.all())?;
        let after = placed.contents(&memory)?;
        Ok((outcome, after))
    }
}

/// Whether two runs ended the same way. All NaNs are the same.
pub fn same_outcome(results: &[Type], a: &Outcome, b: &Outcome) -> bool {
    let same = |ty: &Type, a: &Word, b: &Word| match ty {
        Type::Int => a == b,
        Type::Float => a == b || (f64::from_bits(*a).is_nan() && f64::from_bits(*b).is_nan()),
        Type::Single => {
            let (a, b) = (*a as u32, *b as u32);
            a == b || (f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan())
        }
    };
    match (a, b) {
        (Outcome::Returned(a), Outcome::Returned(b)) => {
            a.len() == b.len() && results.iter().zip(a.iter().zip(b)).all(|(ty, (a, b))| same(ty, a, b))
        }
        _ => a == b,
    }
}

/// Random arguments.
pub(super) fn random_run(params: &[RustType], source: &mut Source<'_>) -> Run {
    let mut args: Vec<Argument> = Vec::new();
    for ty in params {
        let arg = match ty {
            RustType::Scalar(scalar) => Argument::Word(scalar_word(*scalar, source)),
            RustType::Slice { elem, mutable } => {
                let len = source.below(10) as u64;
                let earlier = params[..args.len()].iter().position(|other| other == ty);
                match (earlier, elem.as_ref()) {
                    (Some(earlier), _) if !mutable && source.chance(1, 4) => Argument::Same(earlier),
                    (_, RustType::Scalar(scalar)) => {
                        let bytes = (0..len).flat_map(|_| scalar_bytes(*scalar, source)).collect();
                        Argument::Memory { bytes, len: Some(len) }
                    }
                    _ => Argument::Memory { bytes: Vec::new(), len: Some(0) },
                }
            }
            RustType::Ref { mutable, to } => {
                let earlier = params[..args.len()].iter().position(|other| other == ty);
                match (earlier, to.as_ref()) {
                    (Some(earlier), _) if !mutable && source.chance(1, 2) => Argument::Same(earlier),
                    (_, RustType::Struct(name)) if name == "S" => state(source),
                    _ => Argument::Memory { bytes: (0..CELLS_SIZE).map(|_| source.byte()).collect(), len: None },
                }
            }
            _ => Argument::Word(0),
        };
        args.push(arg);
    }
    Run { args }
}

fn state(source: &mut Source<'_>) -> Argument {
    let mut bytes = vec![0; STATE_SIZE as usize];
    for (_, scalar, offset, count) in STATE {
        for i in 0..count as usize {
            let value = scalar_bytes(scalar, source);
            let at = offset as usize + i * value.len();
            bytes[at..at + value.len()].copy_from_slice(&value);
        }
    }
    Argument::Memory { bytes, len: None }
}

fn scalar_word(scalar: Scalar, source: &mut Source<'_>) -> Word {
    match scalar {
        Scalar::F64 => source.float(),
        Scalar::F32 => u64::from((f64::from_bits(source.float()) as f32).to_bits()),
        _ => scalar.canonical(source.int() as u64),
    }
}

fn scalar_bytes(scalar: Scalar, source: &mut Source<'_>) -> Vec<u8> {
    scalar_word(scalar, source).to_le_bytes()[..scalar.access().size() as usize].to_vec()
}
