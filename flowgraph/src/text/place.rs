//! Where in a text that has been read its items stand: what the verifier finds is said of items, and shown in their
//! text.

use super::lex::Cursor;
use crate::ir::BlockId;

/// Where an item stands in the text of its module, or a block of a graph, or an op of that (the number of its ops: the
/// terminator). Items are called as in [`crate::verify::Violation::item`]: `graph f`, `struct Pair`, `data TABLE`.
///
/// Gives the byte at which its line begins to say something, and how many bytes that takes.
pub fn place_in(text: &str, item: &str, block: Option<BlockId>, op: Option<usize>) -> Option<(usize, usize)> {
    let (kind, name) = item.split_once(' ')?;
    let (mut begun, mut in_block, mut ops) = (false, false, 0);
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let begin = end;
        end += line.len();
        let mut cursor = Cursor::new(line.trim_end(), number);
        let length = cursor.rest().len();
        let here = Some((begin + cursor.place().at, length));
        if length == 0 {
            continue;
        }
        if !begun {
            cursor.eat_word("tuple");
            begun = cursor.eat_word(kind) && cursor.name("a name").is_ok_and(|found| found == name);
            if begun && block.is_none() {
                return here;
            }
        } else if cursor.rest().starts_with('}') {
            return None;
        } else if let Some(label) = cursor.clone().numbered('b') {
            in_block = block == Some(BlockId(label));
            if in_block && op.is_none() {
                return here;
            }
        } else if in_block && !["local_merge", "global_merge"].contains(&cursor.peek_word()) {
            if op == Some(ops) {
                return here;
            }
            ops += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::place_in;
    use crate::ir::BlockId;

    const TEXT: &str = "module flow // the stage\r\ntuple struct Pair { 0: i64 @0 } size 8 align 8\n\
        graph \"odd name\"(x: int) {\nb0(v0: int):\n    return\n}\n\n\
        graph f(x: int) -> int {\n    signature fn(x: i64) -> i64\nb0(v0: int):\n\n    // says nothing\n    local_merge\n\
        \x20   v1 = int_add v0, 1   @4:5\n    jump b1\nb1:\n    return v1\n}\n";

    #[test]
    fn items_blocks_and_ops_are_found() {
        let found = |item: &str, block: Option<u32>, op| {
            place_in(TEXT, item, block.map(BlockId), op).map(|(at, len)| &TEXT[at..at + len])
        };
        assert_eq!(found("struct Pair", None, None), Some("tuple struct Pair { 0: i64 @0 } size 8 align 8"));
        assert_eq!(found("graph odd name", None, None), Some("graph \"odd name\"(x: int) {"));
        assert_eq!(found("graph odd name", Some(0), Some(0)), Some("return"));
        assert_eq!(found("graph f", None, None), Some("graph f(x: int) -> int {"));
        assert_eq!(found("graph f", Some(1), None), Some("b1:"));
        assert_eq!(found("graph f", Some(0), Some(0)), Some("v1 = int_add v0, 1   @4:5"));
        assert_eq!(found("graph f", Some(0), Some(1)), Some("jump b1"));
        assert_eq!(found("graph f", Some(1), Some(0)), Some("return v1"));
        for (item, block, op) in [("graph g", None, None), ("graph f", Some(2), None), ("graph f", Some(1), Some(1))] {
            assert_eq!(found(item, block, op), None, "{item}");
        }
    }
}
