#!/usr/bin/env bash
# The commands of the README and their like, on the built command: exit code, and a line of what they print.
# usage: ci/commands.sh path/to/hueshift
set -euo pipefail
cd "$(dirname "$0")/.."
hueshift=$1
output=$(mktemp) program=$(mktemp)
trap 'rm -f "$output" "$program"' EXIT
checked=0 wrong=0

expect() { # CODE TEXT ARGUMENTS...: the command ends with CODE and prints TEXT
    local code=0 wanted=$1 text=$2
    shift 2
    "$hueshift" "$@" >"$output" 2>&1 || code=$?
    checked=$((checked + 1))
    if ((code != wanted)) || ! grep -qF -- "$text" "$output"; then
        wrong=$((wrong + 1))
        echo "hueshift $*: exit code $code, wanted $wanted and the text: $text"
        head -n 20 "$output"
    fi
}

plus_minus=interpreters/plus_minus/plus_minus.rs
a5a=(--entry plus_minus --args 0xA5A,3,32,10)

expect 0 plus_minus interpreters
expect 0 '"result": "42"' spec "$plus_minus" "${a5a[@]}" --green 0,1 --json
expect 0 'return v2' spec "$plus_minus" "${a5a[@]}" --green 0,1 --emit residual
expect 0 'function' spec "$plus_minus" "${a5a[@]}" --green 0,1 --emit clif
expect 0 '"result": "42"' spec "$plus_minus" "${a5a[@]}" --green 0,1 --policy tracing --json
expect 0 'concrete' why "$plus_minus" plus_minus::op
for stage in flow colored compiler; do
    for format in text dot svg html; do
        expect 0 plus_minus graph plus_minus --stage "$stage" --format "$format"
    done
done
for mode in eval interp aot; do
    expect 0 42 run plus_minus interpreters/plus_minus/programs/plus_minus_plus.asm --mode "$mode" -- 32 10
    expect 0 168 run tl interpreters/tl/programs/primes.asm --mode "$mode" -- 1000
    expect 0 168 run tlr interpreters/tlr/programs/primes.asm --mode "$mode" -- 1000
    expect 0 'Hello, World!' run bf interpreters/brainfuck/programs/hello.b --mode "$mode"
    expect 0 'Hello, World!' run bf_ast hello --mode "$mode"
    expect 1 'index out of bounds: the len is 100 but' run bf off_the_tape --mode "$mode" -- 100
    expect 1 'stack underflow' run tl interpreters/tl/programs/underflow.asm --mode "$mode" -- 0
    expect 0 13 run regex date --mode "$mode" -- on:2026-11-21
done

log=$(mktemp)
trap 'rm -f "$output" "$program" "$log"' EXIT
expect 0 168 run tl primes --mode jit --jit threshold=20,bridge=5,versions=2,trace-steps=5000 --log "$log" -- 1000
expect 0 'Where time went' explain "$log"
expect 0 'code at' run tl primes --mode jit --jit threshold=20,background=no --stats -- 1000
expect 0 '"sizes": [{"key": "code, pc=' run tl primes --mode jit --jit threshold=20,background=no --stats=json -- 1000

expect 0 '(rule sub_add_same)' opt tests/optimizer/rules_of_integers.graph --explain
expect 0 'rules have fired' rules stats tests/optimizer/rules_of_integers.graph
printf 'half: int_floordiv(x, 2)\n    => int_rshift(x, 1)\n' >"$program"
expect 2 'the target int_rshift(x, 1) gives -1' rules check "$program"
printf 'half:   int_floordiv(x,2)\n    => int_rshift(x, 1)\n' >"$program"
expect 2 "isn't in its shape" rules fmt --check "$program"
printf 'half: int_floordiv(x, 2, y)\n    => int_rshft(z, 1)\n' >"$program"
expect 2 'int_rshft' rules check "$program"
printf 'same: float_max(x, x)\n    => x\nbits: float_to_bits(bits_to_float(x))\n    => x\n' >"$program"
if "$hueshift" rules mine docs/rules/mine.graph >/dev/null 2>&1; then
    expect 2 'proven: 1, exhaustive: 0, sorry: 0, refuted: 0' rules check "$program"
    expect 0 'int_mul(x, 7)' rules mine docs/rules/mine.graph
else
    expect 2 'no Z3 is found' rules mine docs/rules/mine.graph
    echo "no Z3: proofs and mining are not checked here"
fi

# What bad input gets.
expect 2 'this is no JSON' explain README.md
expect 1 'was said to be 8' spec docs/hints/known_result.rs --entry broken --args 4 --policy tracing --jit check-hints=1/1
expect 2 'from 1 on' run tl primes --mode jit --jit trace-steps=0 -- 1000
expect 2 '' spec no/such/file.rs --entry f
expect 2 '' spec "$plus_minus" --entry plus_minu --args 1
expect 2 '' spec "$plus_minus" --entry plus_minus --args 1,2
expect 2 '' spec "$plus_minus" --entry plus_minus --args 1,2,3,x
expect 2 '' spec "$plus_minus" "${a5a[@]}" --green 7
expect 2 'op' spec "$plus_minus" "${a5a[@]}" --green 1
expect 2 '' run no_such_interpreter x.asm
expect 2 '' run tl interpreters/tl/programs/primes.asm
expect 2 '' graph "$plus_minus" --stage no_such_stage
printf '+[\n ]]' >"$program"
expect 2 ':2:3]' run bf "$program"
expect 2 'cells' run bf hello -- 0

echo "commands: $checked checked, $wrong wrong"
((wrong == 0))
