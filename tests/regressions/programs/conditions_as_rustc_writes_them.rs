// args: 0, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 1, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 2, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 3, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 4, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 5, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 6, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 7, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 8, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 9, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 10, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 11, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 12, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 13, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 14, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 15, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 16, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 17, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 18, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 19, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 20, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 21, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 22, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 23, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 24, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 25, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 26, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 27, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 28, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 29, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 30, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 31, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 32, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 33, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 34, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 35, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 36, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 37, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 38, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 39, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 40, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 41, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 42, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 43, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 44, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 45, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 46, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 47, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 48, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 49, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 50, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 51, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 52, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 53, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 54, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 55, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 56, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 57, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 58, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// args: 59, [3, 1, 0, 2, 5], 6, (9, S { first: 4 })
// greens:
use hueshift::prelude::*;

#[derive(Clone, Copy)]
pub struct S { pub first: u64 }

const LIMIT: u64 = 12;

#[dont_look_inside]
fn combined(x: u64, y: u64) -> u64 {
    x.wrapping_mul(y)
}

fn holds(list: &[u64], x: u64) -> bool {
    list[0] != x
}

fn yes(text: &str, c: char, x: f64) -> bool {
    text.len() > 0 && c != 'y' && x > 1.0
}

// What rustc says of a condition is its own text: other spaces than here, and lines of 78 columns.
pub fn entry(kind: u8, xs: &[u8], number: u64, p: (u64, S)) {
    let no = kind == 200;
    match kind {
        0 => assert!(number==p.0&&no),
        1 => assert!((no)),
        2 => assert!(no),
        3 => assert!(!(number   >=   0)),
        4 => assert!(xs.is_empty()),
        5 => assert!(holds(&[number], 3) && no),
        6 => assert!(p . 1 . first == p.0 && no),
        7 => assert!(yes("a  b", 'x', 1.5e3) && no),
        8 => assert!(-(number as i64) > 5 && no),
        9 => assert!(((combined(7,u64::MAX).wrapping_mul(number) != (255u64 & 7)) || [7, number, 7][1] > (p.1.first & p.1.first)) && no),
        10 => assert!(no && (holds(&[p.1.first, number], number))),
        11 => assert!(no && ((0x1f_u64 * 7) < (!u64::MAX))),
        12 => assert!(no & (combined(0x1f_u64, number) <= combined(p.1.first, p.1.first))),
        13 => assert!((number < 0x1f_u64) && no),
        14 => assert!(no && ((((xs[(0x1f_u64 as usize) % 5] as u64) & (255u64 as u8 as u64)) != combined(combined(p.1.first,number).wrapping_mul(0x1f_u64),(255u64 & number)).wrapping_mul(((xs[2] as u64) << (255u64&7)))))),
        15 => assert!(no && (number < number)),
        16 => assert!(((LIMIT * (xs.len() as u64)) <= (0x1f_u64 << (LIMIT&7))) && no),
        17 => assert!(no & ((combined(p.0, 7) <= ((b'a' as u64) << (255u64&7))) && (number < (xs.len() as u64)) && number < u64::MAX)),
        18 => assert!(no && (((!p.1.first) ^ (0x1f_u64 as u8 as u64)) > ((number as u8 as u64) + [(xs.len() as u64), (xs[2] as u64), number][1]))),
        19 => assert!(no && ((holds(&[p.1.first, number], u64::MAX)) && holds(&[7, p.1.first], (b'a' as u64)))),
        20 => assert!(no & ((combined((xs[(p.1.first as usize) % 5] as u64), ((xs[2] as u64) * p.1.first)) & [((xs.len() as u64) & LIMIT), (255u64 as u8 as u64), LIMIT][1]) <= (combined(combined(p.1.first, p.0),combined((xs.len() as u64), p.1.first)).wrapping_mul((!LIMIT)) * ((LIMIT * (xs.len() as u64)) | (255u64 << (p.0&7)))))),
        21 => assert!(no & (number < 255u64)),
        22 => assert!(no & ((((number < (b'a' as u64)) && number < (xs.len() as u64)) || (number < LIMIT) || number < 255u64) || (!(number < p.1.first)) || (number < (xs.len() as u64)) && number < 7)),
        23 => assert!(no && (((((!(xs[2] as u64)) as u8 as u64) != [[(xs.len() as u64), u64::MAX, (xs[2] as u64)][1], ((b'a' as u64) | u64::MAX), 0x1f_u64][1]) && ([LIMIT, (b'a' as u64), u64::MAX][1] - (u64::MAX - u64::MAX)) == combined((p.1.first + p.1.first),(255u64 - LIMIT)).wrapping_mul(((xs.len() as u64) + (xs[2] as u64)))))),
        24 => assert!(no & (!([7, 7, 255u64][1] == (xs[((xs[2] as u64) as usize) % 5] as u64)))),
        25 => assert!(no && ((((xs[(number as usize) % 5] as u64) << ((xs.len() as u64)&7)) as u8 as u64) < ((((xs.len() as u64) | 255u64) | (255u64 - (xs[2] as u64))) & [(!(xs.len() as u64)), (xs[(LIMIT as usize) % 5] as u64), p.1.first][1]))),
        26 => assert!(no && ((holds(&[([p.0, 255u64, u64::MAX][1] + combined(p.0, 255u64)), (b'a' as u64)], [(p.1.first << (255u64&7)), (!(b'a' as u64)), (xs[2] as u64)][1])))),
        27 => assert!(no & (combined((combined((xs[2] as u64),(xs[2] as u64)).wrapping_mul(p.1.first) | [0x1f_u64, 0x1f_u64, LIMIT][1]),(combined(number, 255u64) * combined(0x1f_u64,p.1.first).wrapping_mul(LIMIT))).wrapping_mul(((u64::MAX | LIMIT) - (number - (xs[2] as u64)))) == combined(((0x1f_u64 << (7&7)) << (LIMIT&7)),((LIMIT * p.1.first) ^ (0x1f_u64 & (b'a' as u64)))).wrapping_mul(combined((u64::MAX << ((b'a' as u64)&7)),(p.0 as u8 as u64)).wrapping_mul((p.1.first * 0x1f_u64))))),
        28 => assert!(no && ((combined((xs[(255u64 as usize) % 5] as u64),(!(b'a' as u64))).wrapping_mul((number + 0x1f_u64)) < combined((!p.0),(!(xs.len() as u64))).wrapping_mul((number & (xs[2] as u64)))))),
        29 => assert!(no && ((holds(&[(!(7 as u8 as u64)), 0x1f_u64], combined((0x1f_u64 + (xs[2] as u64)),[0x1f_u64, u64::MAX, LIMIT][1]).wrapping_mul((p.1.first - LIMIT)))))),
        30 => assert!(no && ((combined([(xs.len() as u64), number, p.0][1], (7 as u8 as u64)) <= ((u64::MAX + 255u64) ^ combined(p.0, (xs[2] as u64)))))),
        31 => assert!(no && (number < p.0)),
        32 => assert!((number < 0x1f_u64) == (((number < 0x1f_u64)) ^ true)),
        33 => assert!(([p.1.first, (xs[2] as u64), p.1.first][1] == [7, number, (xs.len() as u64)][1]) && no),
        34 => assert!(((([(b'a' as u64), p.0, (xs[2] as u64)][1] | (number & p.0)) * (![LIMIT, LIMIT, 255u64][1])) <= (((0x1f_u64 as u8 as u64) - [u64::MAX, u64::MAX, (xs.len() as u64)][1]) * (((b'a' as u64) << (7&7)) << (0x1f_u64&7)))) && no),
        35 => assert!(((number < (xs.len() as u64)) && number < 255u64) == ((((number < (xs.len() as u64)) && number < 255u64)) ^ true)),
        36 => assert!(((((u64::MAX * p.0) as u8 as u64) | (!(p.0 + (xs.len() as u64)))) < combined((combined(LIMIT, LIMIT) * ((xs.len() as u64) + (xs.len() as u64))),(combined(number, p.1.first) as u8 as u64)).wrapping_mul(combined((!7), (p.0 as u8 as u64)))) && no),
        37 => assert!(no && (((([(xs[2] as u64), 255u64, 7][1] as u8 as u64) * (xs[([255u64, (xs[2] as u64), (xs[2] as u64)][1] as usize) % 5] as u64)) != ((xs[((!0x1f_u64) as usize) % 5] as u64) as u8 as u64)))),
        38 => assert!(no && (([[7, p.1.first, (xs[2] as u64)][1], (p.0 + number), p.1.first][1] != ((LIMIT & u64::MAX) * ((xs[2] as u64) & 0x1f_u64))))),
        39 => assert!(no && (holds(&[(7 - u64::MAX), p.1.first], (255u64 & LIMIT)))),
        40 => assert!(no & (((0x1f_u64 ^ 7) + combined(number,255u64).wrapping_mul(255u64)) <= ((number as u8 as u64) ^ combined(LIMIT,p.1.first).wrapping_mul(p.0)))),
        41 => assert!((holds(&[(p.1.first as u8 as u64), number], (number | 7))) && no),
        42 => assert!(no & (((combined(255u64,0x1f_u64).wrapping_mul(p.0) > (7 - u64::MAX)) && (!(b'a' as u64)) > (0x1f_u64 as u8 as u64)) && holds(&[combined(u64::MAX,(xs[2] as u64)).wrapping_mul(p.1.first), number], ((xs.len() as u64) | (b'a' as u64))))),
        43 => assert!((number < 7) == (((number < 7)) ^ true)),
        44 => assert!(no && (number < number)),
        45 => assert!((number < (xs[2] as u64)) && no),
        46 => assert!((number < (xs[2] as u64)) == (((number < (xs[2] as u64))) ^ true)),
        47 => assert!((((p.1.first ^ (xs.len() as u64)) ^ combined(7, (xs.len() as u64))) != ((xs[(p.0 as usize) % 5] as u64) + (p.1.first << ((b'a' as u64)&7)))) && no),
        48 => assert!(no && (combined((xs.len() as u64),255u64).wrapping_mul(LIMIT) > [(xs[2] as u64), (xs.len() as u64), u64::MAX][1])),
        49 => assert!(no && (number < LIMIT)),
        50 => assert!((number < 0x1f_u64) == (((number < 0x1f_u64)) ^ true)),
        51 => assert!(no & (number < (xs[2] as u64))),
        52 => assert!(((p.0 << (LIMIT&7)) != (p.0 as u8 as u64)) == ((((p.0 << (LIMIT&7)) != (p.0 as u8 as u64))) ^ true)),
        53 => assert!(no & ((number < LIMIT) && number < 7)),
        54 => assert!(no && (((combined(255u64, (xs[2] as u64)) | (0x1f_u64 ^ p.1.first)) < (combined(p.1.first,u64::MAX).wrapping_mul(number) ^ ((xs[2] as u64) * p.0))))),
        55 => assert!(((number < 0x1f_u64) && number < 0x1f_u64) == ((((number < 0x1f_u64) && number < 0x1f_u64)) ^ true)),
        56 => assert!(((((xs.len() as u64) ^ (xs.len() as u64)) == (p.0 + p.1.first)) || !(number < (b'a' as u64))) && no),
        57 => assert!(no && (!(number < 255u64))),
        58 => assert!(no & ((((b'a' as u64) | p.1.first) == ((xs.len() as u64) | p.1.first)) && holds(&[(xs[2] as u64), p.0], 255u64))),
        59 => assert!((combined([combined(p.1.first, LIMIT), (u64::MAX - (xs.len() as u64)), LIMIT][1],combined([number, p.0, p.1.first][1],combined(u64::MAX, number)).wrapping_mul((number + (b'a' as u64)))).wrapping_mul((combined(255u64,(xs[2] as u64)).wrapping_mul(LIMIT) - (0x1f_u64 - 0x1f_u64))) < ((xs[((255u64 * 7) as usize) % 5] as u64) << (u64::MAX&7))) && no),
        _ => {}
    }
}
