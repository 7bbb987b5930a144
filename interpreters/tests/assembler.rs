//! The assembler's messages, and its inverse.

use interpreters::find;
use proptest::prelude::*;

fn problems(interpreter: &str, text: &str) -> Vec<String> {
    let error = find(interpreter).expect("it is there").assemble(text).expect_err("it is wrong");
    error
        .problems
        .iter()
        .map(|p| {
            let shown = p.to_string();
            let span = p.span.map(|s| &text[s.offset..s.offset + s.len]);
            format!("{}{}", shown.lines().next().unwrap_or_default(), span.map_or(String::new(), |s| format!(" [{s}]")))
        })
        .collect()
}

#[test]
fn labels_numbers_and_comments() {
    let tl = find("tl").expect("tl");
    let text = "a: b:  push 0x10 ; sixteen\n\tPUSH,-1\n\n  br_cond a\r\nbr_cond c;\n br_cond -2\nc:";
    assert_eq!(tl.assemble(text), Ok(vec![2, 16, 2, 255, 18, 250, 18, 2, 18, 254]));
    let tlr = find("tlr").expect("tlr");
    assert_eq!(tlr.assemble("call 3 , f\nf: .byte 255"), Ok(vec![15, 3, 3, 255]));
    assert_eq!(tl.assemble(""), Ok(vec![]));
}

#[test]
fn every_problem_is_found_with_its_place() {
    let text = "start: push\n  add 1\n\tpush 200 ; far\nstart: br_cond away\n9x: push é\n  jmp 3\n pushx 1\n push push";
    assert_eq!(
        problems("tl", text),
        [
            "1:8: `push` needs 1 operand, not 0 [push]",
            "2:3: `add` needs no operand, not 1 [add]",
            "3:7: 200 does not fit [200]",
            "4:1: the label `start` is there twice [start:]",
            "4:16: unknown label `away` [away]",
            "5:1: `9x` can't be a label [9x:]",
            "5:10: `é` is neither a number nor a label [é]",
            "6:3: unknown instruction `jmp` [jmp]",
            "7:2: unknown instruction `pushx` [pushx]",
            "8:7: `push` is neither a number nor a label [push]",
        ]
    );
}

#[test]
fn jumps_that_reach_too_far() {
    let far = format!("br_cond end\n{}end: nop", "nop\n".repeat(128));
    assert_eq!(problems("tl", &far), ["1:9: `end` is too far away: 128 bytes [end]"]);
    let high = format!("jump_if_a end\n{}end: return_a", "neg_a\n".repeat(254));
    assert_eq!(problems("tlr", &high), ["1:11: `end` lies at byte 256, out of reach [end]"]);
    assert_eq!(problems("plus_minus", "+-\n é+"), ["2:2: `é` is not an instruction of plus_minus [é]"]);
    assert_eq!(problems("plus_minus", &"+".repeat(17)), ["17 instructions are too many"]);
}

#[test]
fn arguments() {
    let tl = find("tl").expect("tl");
    assert_eq!(tl.load_text("return", &["0x10"]), Ok("[21],0,16".to_owned()));
    let message = |arguments: &[&str]| tl.load_text("return", arguments).expect_err("wrong").to_string();
    assert_eq!(
        message(&[]),
        "tl takes 1 argument for its program, here are 0\n  they are: arg\n  help: write them after `--`"
    );
    assert_eq!(
        message(&["x"]),
        "the argument `arg` can't be `x`\n  it is a 64-bit integer, decimal or hexadecimal\n  help: write a number such as 7, -7 or 0x7"
    );
    assert_eq!(
        message(&["9223372036854775808"]).lines().next(),
        Some("the argument `arg` can't be `9223372036854775808`")
    );
    let tlr = find("tlr").expect("tlr");
    assert_eq!(tlr.load_text("allocate 2\nallocate 3\nset_a 9", &["-1"]), Ok("[7,2,7,3,4,9],-1,[0,0,0]".to_owned()));
    let plus_minus = find("plus_minus").expect("plus_minus");
    assert_eq!(plus_minus.load_text("+-+", &["32", "10"]), Ok("2650,3,32,10".to_owned()));
    assert_eq!(
        plus_minus.load_text(&"+".repeat(16), &["0", "1"]),
        Ok(format!("{},16,0,1", 0xAAAA_AAAA_AAAA_AAAA_u64 as i64))
    );
}

#[test]
fn files_are_text_or_bytes() {
    let tl = find("tl").expect("tl");
    assert_eq!(tl.load_file("a.asm", b"return", &["1"]), Ok("[21],0,1".to_owned()));
    assert_eq!(tl.load_file("a.tl", b"return", &["1"]), Ok("[21],0,1".to_owned()));
    assert_eq!(tl.load_file("a.bin", &[2, 1, 21], &["1"]), Ok("[2,1,21],0,1".to_owned()));
    let not_text = tl.load_file("a.asm", &[255], &["1"]).expect_err("not text");
    assert_eq!(not_text.to_string().lines().next(), Some("the program is not text"));
}

proptest! {
    #[test]
    fn disassembling_inverts(code in prop::collection::vec(prop_oneof![0u8..24, any::<u8>()], 0..300)) {
        for name in ["tl", "tlr"] {
            let interpreter = find(name).expect("it is there");
            let text = interpreter.disassemble(&code).expect("programs are bytes");
            prop_assert_eq!(interpreter.assemble(&text), Ok(code.clone()), "{}", text);
        }
    }

    #[test]
    fn nothing_typed_panics(text in "[ \\n\\t,:;.a-z0-9_xé+-]{0,60}") {
        for interpreter in interpreters::all() {
            let _ = interpreter.load_text(&text, &[&text]);
            if let Err(error) = interpreter.assemble(&text) {
                prop_assert!(!error.problems.is_empty());
                for span in error.problems.iter().filter_map(|p| p.span) {
                    prop_assert!(text.get(span.offset..span.offset + span.len).is_some());
                }
            }
        }
    }
}
