//! Remedies for what Rust's library has and the dialect has not: what to write in its place.

/// What to write in place of a method.
pub(super) fn of_method(name: &str) -> Option<&'static str> {
    Some(match name {
        "get" | "get_mut" | "first" | "last" => {
            "test the index, then take the element: `if i < a.len() { .. a[i] .. }`"
        }
        "find" | "rfind" | "split" | "lines" | "trim" | "parse" | "to_string" => {
            "go over its bytes in a loop, by an index below `s.len()`: `s.as_bytes()[i]`"
        }
        "swap" => "keep one of the two under a name: `let x = a[i]; a[i] = a[j]; a[j] = x;`",
        "fill" | "copy_from_slice" | "clone_from_slice" | "copy_within" | "reverse" | "sort" | "sort_unstable"
        | "contains" | "starts_with" | "ends_with" | "binary_search" | "concat" => {
            "write a loop over the indices, in a function of the file"
        }
        "split_at_mut" | "split_first_mut" | "split_last_mut" => {
            "hand on the slice as it is, with the indices of its parts"
        }
        "split_first" | "split_last" | "split_at" => "take the parts one by one: `a[0]`, `&a[1..]`",
        "take" | "replace" => "keep the value under a name, and assign the new one: `let x = o; o = None;`",
        "map" | "and_then" | "or_else" | "filter" | "ok_or" | "map_err" | "unwrap_or_else" | "unwrap_or_default"
        | "is_some_and" | "copied" | "cloned" | "as_ref" | "as_mut" | "as_deref" => "write a `match`",
        _ => return None,
    })
}

/// What to write in place of a macro.
pub(super) fn of_macro(name: &str) -> Option<&'static str> {
    Some(match name {
        "matches" => "write a `match` whose arms are `true` and `false`",
        "vec" => "write an array, whose length is known when compiling, or have the caller hand over a slice",
        _ => return None,
    })
}

/// What to write in place of a function, named by its path's last part.
pub(super) fn of_function(path: &str) -> Option<&'static str> {
    let last = path.rsplit("::").next()?;
    Some(match last {
        "swap" if path.contains("mem::") => "keep one of the two under a name: `let x = a; a = b; b = x;`",
        "replace" | "take" if path.contains("mem::") => {
            "keep the value under a name, and assign the new one: `let x = *a; *a = b;`"
        }
        _ => return None,
    })
}
