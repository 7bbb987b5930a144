use hueshift::prelude::*;

#[portal(greens(pc), reds(acc))]
fn lives_across(mut pc: i64, mut acc: i64) -> i64 {
    let mut count = acc; //~ portal_local
    let limit = pc * 2; //~ portal_local
    loop {
        merge_point!();
        count += 1;
        if pc > limit { return acc + count; }
        pc += 1;
    }
}

#[portal(greens(), reds(a))]
fn writes_before(a: &mut [i64]) -> i64 {
    a[0] = 1; //~ portal_effect
    merge_point!();
    a[0]
}

fn helper(x: i64) -> i64 { x }

#[portal(greens(x), reds())]
fn calls_before(x: i64) -> i64 {
    let y = helper(x); //~ portal_effect
    if y > 3 { return 0; }
    merge_point!();
    x
}

#[portal(greens(x), reds())]
fn no_merge_point(x: i64) -> i64 { x } //~ portal

#[portal(greens(x), reds())]
fn two_merge_points(x: i64) -> i64 {
    merge_point!();
    if x > 1 { return 2; }
    merge_point!(); //~ portal
    x
}

#[portal(greens(x, z), reds(x))] //~ bad_attribute //~ bad_attribute
fn badly_listed(x: i64, y: i64) -> i64 { //~ bad_attribute
    merge_point!();
    x + y
}

#[portal(green(x))] //~ bad_attribute
fn misspelled(x: i64) -> i64 {
    merge_point!();
    x
}

#[portal] //~ bad_attribute
fn without_parentheses(x: i64) -> i64 {
    merge_point!();
    x
}
