#!/usr/bin/env bash
# Tracing stopped at every step, and every guard made to fail on its first, second and hundredth execution, those that are
# never reached in states made up for them: results, memory and traps must stay those of the evaluator, and every guard must
# have been forced.
# usage: ci/exits.sh path/to/hueshift
set -euo pipefail
cd "$(dirname "$0")/.."
hueshift=$1
output=$(mktemp)
trap 'rm -f "$output"' EXIT
commands=0 runs=0 wrong=0 reached=0 forced=0 made_up=0

disturb() { # SWEEP SUBCOMMAND ARGUMENTS...
    local sweep=$1 subcommand=$2 code=0 line
    shift 2
    "$hueshift" "$subcommand" --jit "$sweep=all" "$@" <<<"${input-}" >"$output" 2>&1 || code=$?
    commands=$((commands + 1))
    local counted='^guards\([0-9]+\): ([0-9]+), forced\([0-9]+\): ([0-9]+)$' ran='^([0-9]+) runs, 0 wrong$'
    local in_all='^guards\(([0-9]+), reached ([0-9]+), made up ([0-9]+)\) = forced\(([0-9]+)\)$'
    local done=0 equal=1 all=0
    while IFS= read -r line; do
        if [[ $line =~ $counted ]]; then
            reached=$((reached + BASH_REMATCH[1])) forced=$((forced + BASH_REMATCH[2]))
            [[ ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]] || equal=0
        elif [[ $line =~ $in_all ]]; then
            made_up=$((made_up + BASH_REMATCH[3])) all=1
            [[ ${BASH_REMATCH[1]} == "${BASH_REMATCH[4]}" ]] || equal=0
        elif [[ $line =~ $ran ]]; then
            runs=$((runs + BASH_REMATCH[1])) done=1
        fi
    done <"$output"
    [[ $sweep == abort-at ]] || ((all)) || equal=0
    if ((code != 0 || done == 0 || equal == 0)); then
        wrong=$((wrong + 1))
        echo "hueshift $subcommand --jit $sweep=all $*: exit code $code"
        head -n 20 "$output"
    fi
}

function_of() { # FILE ENTRY ARGS OPTIONS...: a function, disturbed in both ways
    disturb abort-at spec "$1" --entry "$2" --args "$3" --policy tracing "${@:4}"
    disturb force-guard spec "$1" --entry "$2" --args "$3" --policy tracing "${@:4}"
}

guest() { # INTERPRETER PROGRAM ARGUMENT-FOR-ABORTS ARGUMENT-FOR-GUARDS
    disturb abort-at run "$1" "$2" --mode jit -- "$3"
    disturb force-guard run "$1" "$2" --mode jit -- "$4"
}

scenarios=tests/scenarios
function_of interpreters/plus_minus/plus_minus.rs plus_minus 0xA5A,3,32,10 --green 0,1
# Effects of a function that is not looked into happen once.
function_of $scenarios/nasty/control_given.rs guards_with_effects '1,9,[0,0,0]'
function_of $scenarios/splits_merges/shortcuts.rs skipped_effects '1,-1,[5,5]'
# So do reading and writing: what is written must be the same.
input=$'\1\2\3\4\5\6\7\10\11' function_of $scenarios/host/io.rs echo '",.<",0,1'
function_of $scenarios/host/io.rs until_trap '5,[1,2,3]'
# Exclusive memory, traps, loops over reds.
function_of $scenarios/exclusive_refs/fields_given.rs register_frame '{regs: [1,2,3,4], pc: 9}'
function_of $scenarios/traps/given.rs marks_then_trap '[0,0,0],4'
function_of $scenarios/toys/tiny1.rs brainfuck '"+>>+",[0,0]' --green 0
# Two guards that are one.
function_of tests/resume/one_exit.rs main 0,150 --green 0
function_of tests/resume/one_exit.rs main 1,150 --green 0
guest tl factorial 3 120
guest tlr factorial 3 120
input=so disturb abort-at run bf reverse --mode jit -- 10
input=no disturb force-guard run bf reverse --mode jit -- 10
input=so disturb abort-at run bf_ast reverse --mode jit -- 10
input=no disturb force-guard run bf_ast reverse --mode jit -- 10
disturb abort-at run regex number --mode jit -- -0.5e+10
disturb force-guard run regex number --mode jit -- -0.5e+10
disturb force-guard run bf off_the_tape --mode jit -- 10
# Guards in fragments that compiled code has taken in: only a made-up state comes there.
disturb force-guard run tl collatz --mode jit -- 27

echo "exits: $commands commands, $runs runs, $wrong wrong; guards reached: $reached, forced: $forced; made up: $made_up"
((wrong == 0 && reached > 0 && reached == forced && made_up > 0))
