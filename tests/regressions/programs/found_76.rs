// args: [], [0.1, 0.0], [[2026513227, -1], [-90, -2147483648], [-18876717, 10]], 18446744073709551488, [0, 1, 0, 4, 4, 2]
// args: ['ß', '\n', '\n'], [], [], 7, [1, 5, 1, 2]
// args: ['Z', 'Z'], [0.0, 0.0, 0.0, inf], [[-43, 10], [-39, 8], [-17, 2147483647], [-389316403, 255], [13, 94], [255, 10]], 3452480648203666827, [5, 1, 4]
// input: "\0äÿ!"
// greens: 4
// greens: 3, 4
// switches: join_tuples 2, inline_depth 1, trace_steps 300, cases 2
use hueshift::prelude::*;

fn coarse32(x: f32) -> f32 {
    if x.is_finite() { f32::from_bits((x.to_bits() + 0x8000) & 0xffff_0000) } else { x }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum E1 { V0 = 19, V1 = 41, V2 = 59 }

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum E2 { V0, V1 { f0: i32, f1: u16 } }

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(i16)]
pub enum E3 { V0, V1 { f0: E2, f1: Result<E2, Result<isize, i8>> }, V2 { f0: E1 }, V3 { f0: i16 } }

const C4: [char; 3] = ['ß'; 3];

static C5: char = '\'';

const C6: isize = (isize::BITS as isize);

#[portal(greens(code, pc), reds(left, depth, p8, p9, p10))]
fn f7(code: &[u8], mut pc: usize, mut left: u32, mut depth: u32, mut p8: i64, p9: &mut [isize], mut p10: Option<f64>) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() { return p8.wrapping_add(221i64); }
        let op = code[pc];
        pc += 1;
        match op {
            0 => {
                p9[(match &p10 {
                    Some(x11) if ((code[0] as char) != (op as char)) => pc,
                    None => {
                        pc
                    },
                    None if p10.is_none() => 0b10100_usize,
                    None => pc,
                    Some(_) => pc,
                }) & 1] -= p9[(pc ^ 18446744073709551521) & 1];
                let v12: u32 = [p8, p8][1].trailing_ones();
                if left & 3 != 0 {
                    left -= 1;
                    pc = pc & 1;
                    can_enter_jit!();
                }
            },
            1 => {
                {
                    const K13: i64 = (-7282997185490382320i64);
                    let mut v14 = K13;
                }
                if depth > 0 {
                    let v15: i64 = f7(code, 0, 0, (depth - 1), i64::from((code[0] as u16)), &mut p9[..3], p10);
                    p8 = p8.wrapping_mul(31) ^ v15;
                    depth = 0;
                }
            },
            _ => {
                if (code[usize::from((pc as u16)) & 1] > code[((pc as f64) as usize) % 2].pow((left & 7))) {} else if (!p10.is_some()) {}
            },
        }
    }
}

#[portal(greens(code, pc), reds(left, p17))]
fn f16(code: &[u8], mut pc: usize, mut left: u32, p17: &[u8]) -> u32 {
    loop {
        merge_point!();
        if pc >= code.len() { return ('b18: {
            ((code[16032581050372471384usize % 2] > (u8::BITS as u8)) as u32)
        }); }
        let op = code[pc];
        pc += 1;
        match op {
            0 => {
                const K19: i32 = 61i32;
                let mut v20 = K19;
                if left & 3 != 0 {
                    left -= 1;
                    pc = concrete(code[0] as usize & 1);
                    can_enter_jit!();
                }
            },
            _ => {},
        }
    }
}

#[unroll_safe]
fn f21(p22: &mut [i16], p23: &mut f32, p24: i64) -> Option<f32> {
    let v25: Result<u32, u8> = Err((p24 as u8));
    Some((*p23))
}

#[elidable]
fn f26() -> Option<f32> {
    let mut n27 = 0u32;
    while n27 < 2 && ((0b10_u8 | 3u8) == u8::from(true)) {
        n27 += 1;
        let mut n28: u8 = ((n27 as u8) & 3);
        while let Some(x29) = n28.checked_sub(1) {
            n28 = x29;
            merge_point!();
            let v30: u16 = u16::saturating_mul(((x29 as u16) ^ 1u16), ((n27 as u16) % ((x29 as u16) & 6 | 1)));
        }
    }
    if promote(promote(true)) {
        if (!(({ let t31: [Result<i64, u8>; 2] = [Err(0x7_u8); 2]; t31 }) != [Err(127u8); 2])) { return (match ({ let t32: E2 = E2::V0; t32 }) {
            E2::V0 => None,
            _ => Some(f32::MIN_POSITIVE),
            E2::V0 => Some(f32::EPSILON),
            E2::V1 { f0: x33, .. } => {
                let v34: f32 = coarse32((x33 as f32).atan());
                'b35: {
                    let mut n36 = 0u32;
                    loop {
                        n36 += 1;
                        if n36 > 2 { break; }
                        let ([65460, x39 @ 5..100, 3],) = ({ let t37: ([u16; 3],) = (match promote((n36 as isize).abs_diff((n36 as isize))) {
                            x38 @ ((..=18446744073709551546) | 255) => ([(x38 as u16); 3],),
                            _ => ([(x33 as u16); 3],),
                        }); t37 }) else { continue };
                        let v40: i32 = i32::wrapping_add_unsigned((x33 / (0b1100010_i32 & 6 | 1)), (n36 | n36));
                    }
                    let mut n41: isize = (isize::from((if (x33 > 9i32) {
                        (v34 as i16)
                    } else {
                        (x33 as i16)
                    })) & 3);
                    'l43: while let Some(x42) = n41.checked_sub(1) && n41 > 0 {
                        n41 = x42;
                        merge_point!();
                        const K44: u64 = 0b1001010_u64;
                        let mut v45 = K44;
                    }
                }
                None
            },
        }); }
    }
    ('b46: {
        let mut v47: Result<usize, i64> = Ok(3usize);
        let mut v49: [f64; 1] = ({ let t48: Option<[f64; 1]> = Some([f64::NAN]); t48 })?;
        None
    })
}

pub fn entry(p50: &mut [char], p51: &mut [f32], p52: &mut [[i32; 2]], p53: u64, p54: &[u8]) -> (u64, u64) {
    let mut sum = 0u64;
    if let 64 = promote(({ let t55: i16 = (get_byte() as i16); t55 })) {
        const K56: u16 = 0b1111111111111111_u16;
        let mut v57 = K56;
        p52[(E1::V0 as usize) % 2][((sum as usize) - 18446744071562068069) % 2] = ({
            v57 = read_u16_le(&*p54, (p54[((p52[0][0] as usize) >> (p53 as i64)) & 1] as usize));
            2423495546u32
        }).cast_signed();
    } else {
        let mut v60: Result<Option<bool>, u8> = Err(('b58: {
            p51[0] %= (isize::cast_unsigned((sum as isize)) as f32);
            let _ = ({ let mut t59: [isize; 2] = [(p52[0][0] as isize); 2]; f7(p54, 0, (promote((if (p53 > 1893315498211180952u64) {
                let _ = f26();
                4294967295u32
            } else {
                (p53 as u32)
            }) & 7) & 3), (f16(p54, 0, ((sum as u32) & 3), &*p54) & 3), (sum as i64), &mut t59, None) });
            p54[0]
        }));
    }
    sum = sum.wrapping_mul(31) ^ (sum as u64);
    sum = sum.wrapping_mul(31) ^ (sum as u64);
    (sum, sum)
}
