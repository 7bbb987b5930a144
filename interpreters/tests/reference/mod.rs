//! Reference machines: the guest languages once more, written as plainly as possible and sharing nothing with the
//! dialect sources, the assembler's tables or hueshift. They decide what a guest program means.

#![allow(dead_code, reason = "each test uses some of the machines")]

/// A run's result, or the message of its trap.
pub type Outcome = Result<i64, String>;

fn out_of_bounds<T>(len: usize, index: usize) -> Result<T, String> {
    Err(format!("index out of bounds: the len is {len} but the index is {index}"))
}

fn byte(code: &[u8], at: usize) -> Result<u8, String> {
    code.get(at).copied().map_or_else(|| out_of_bounds(code.len(), at), Ok)
}

fn divide(a: i64, b: i64) -> Outcome {
    match (a, b) {
        (_, 0) => Err("attempt to divide by zero".to_owned()),
        (i64::MIN, -1) => Err("attempt to divide with overflow".to_owned()),
        _ => Ok(a / b),
    }
}

/// `+` and `-` over x and y.
pub fn plus_minus(code: &[u8], x: i64, y: i64) -> Outcome {
    Ok(code.iter().fold(x, |acc, op| match op {
        0xA => acc.wrapping_add(y),
        0x5 => acc.wrapping_sub(y),
        _ => acc,
    }))
}

/// The stack machine, with a `Vec` for its stack and Rust's own stack for its calls.
pub fn tl(code: &[u8], mut pc: usize, arg: i64) -> Outcome {
    let mut stack: Vec<i64> = Vec::new();
    let pop = |stack: &mut Vec<i64>| stack.pop().ok_or_else(|| "stack underflow".to_owned());
    let jump = |from: usize, by: i64| (from as i64).wrapping_add(by) as usize;
    while pc < code.len() {
        let op = code[pc];
        let signed = || byte(code, pc + 1).map(|b| i64::from(b as i8));
        let size = if matches!(op, 2 | 5 | 6 | 7 | 18 | 20) { 2 } else { 1 };
        let mut next = pc + size;
        match op {
            1 => {}
            2 => stack.push(signed()?),
            3 => drop(pop(&mut stack)?),
            4 => {
                let (top, under) = (pop(&mut stack)?, pop(&mut stack)?);
                stack.extend([top, under]);
            }
            5 => {
                let by = signed()?;
                let depth = by.unsigned_abs() as usize;
                if depth.max(1) > stack.len() {
                    return Err("stack underflow".to_owned());
                }
                let place = stack.len() - depth;
                if by > 1 {
                    let raised = stack.remove(place);
                    stack.push(raised);
                } else if by < -1 {
                    let sunk = pop(&mut stack)?;
                    stack.insert(place, sunk);
                }
            }
            6 => {
                let depth = usize::from(byte(code, pc + 1)?) + 1;
                let place = stack.len().checked_sub(depth).ok_or("stack underflow")?;
                stack.push(stack[place]);
            }
            7 => {
                let value = pop(&mut stack)?;
                let depth = usize::from(byte(code, pc + 1)?) + 1;
                let place = stack.len().checked_sub(depth).ok_or("stack underflow")?;
                stack[place] = value;
            }
            8..=17 => {
                if stack.len() < 2 {
                    return Err("stack underflow".to_owned());
                }
                let (b, a) = (pop(&mut stack)?, pop(&mut stack)?);
                stack.push(match op {
                    8 => a.wrapping_add(b),
                    9 => a.wrapping_sub(b),
                    10 => a.wrapping_mul(b),
                    11 => divide(a, b)?,
                    12 => i64::from(a == b),
                    13 => i64::from(a != b),
                    14 => i64::from(a < b),
                    15 => i64::from(a <= b),
                    16 => i64::from(a > b),
                    _ => i64::from(a >= b),
                });
            }
            18 => {
                let by = signed()?;
                if pop(&mut stack)? != 0 {
                    next = jump(next, by);
                }
            }
            19 => {
                let (by, condition) = (pop(&mut stack)?, pop(&mut stack)?);
                if condition != 0 {
                    next = jump(next, by);
                }
            }
            20 => {
                let by = signed()?;
                let argument = pop(&mut stack)?;
                stack.push(tl(code, jump(next, by), argument)?);
            }
            21 => return pop(&mut stack),
            22 => stack.push(arg),
            _ => return Err(format!("unknown opcode {op}")),
        }
        if stack.len() > 32 {
            return Err("stack overflow".to_owned());
        }
        pc = next;
    }
    pop(&mut stack)
}

/// The register machine.
pub fn tlr(code: &[u8], mut a: i64, registers: &mut [i64]) -> Outcome {
    let count = registers.len();
    let mut pc = 0;
    loop {
        let op = byte(code, pc)?;
        match op {
            6 => return Ok(a),
            8 => {
                a = a.wrapping_neg();
                pc += 1;
                continue;
            }
            _ => {}
        }
        let n = usize::from(byte(code, pc + 1)?);
        let get = |registers: &[i64], i: usize| registers.get(i).copied().map_or_else(|| out_of_bounds(count, i), Ok);
        let set = |registers: &mut [i64], i: usize, value: i64| match registers.get_mut(i) {
            Some(register) => {
                *register = value;
                Ok(())
            }
            None => out_of_bounds(count, i),
        };
        pc += 2;
        match op {
            1 => set(registers, n, a)?,
            2 => a = get(registers, n)?,
            3 if a != 0 => pc = n,
            3 => {}
            4 => a = n as i64,
            5 => a = a.wrapping_add(get(registers, n)?),
            7 if n > count => return Err(format!("{count} registers are there, not {n}")),
            7 => registers[..n].fill(0),
            9 => a = a.wrapping_mul(get(registers, n)?),
            10 => a = divide(a, get(registers, n)?)?,
            11 => a = i64::from(a < get(registers, n)?),
            12 => a = i64::from(a == get(registers, n)?),
            13 => {
                let to = get(registers, n)?;
                set(registers, to as usize, a)?;
            }
            14 => a = get(registers, get(registers, n)? as usize)?,
            15 => {
                set(registers, n, pc as i64 + 1)?;
                pc = usize::from(byte(code, pc)?);
            }
            16 => pc = get(registers, n)? as usize,
            _ => return Err(format!("unknown opcode {op}")),
        }
    }
}

/// Runs the program `text` of `interpreter` on the machine for it.
pub fn run(interpreter: &interpreters::Interpreter, text: &str, arguments: &[i64]) -> Outcome {
    let code = interpreter.assemble(text).map_err(|e| e.to_string())?;
    match (interpreter.name, arguments) {
        ("plus_minus", [x, y]) => plus_minus(&code, *x, *y),
        ("tl", [arg]) => tl(&code, 0, *arg),
        ("tlr", [a]) => {
            // As many registers as the loader gives: they are the last of its arguments.
            let loaded = interpreter.load_text(text, &["0"]).map_err(|e| e.to_string())?;
            let registers = loaded.rsplit_once('[').map_or("", |(_, r)| r.trim_end_matches(']'));
            let count = registers.split(',').filter(|r| !r.is_empty()).count();
            tlr(&code, *a, &mut vec![0; count])
        }
        _ => Err(format!("there is no reference machine for {}", interpreter.name)),
    }
}
