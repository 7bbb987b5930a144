#!/usr/bin/env bash
# Tracing stopped at every step, and every guard made to fail on its first, second and hundredth execution, those that are
# never reached in states made up for them: results, memory and traps must stay those of the evaluator, and every guard must
# have been forced: of functions, and of all bundled guest programs. Some of these have thousands of steps: of them a few are
# drawn to be stopped at each, by a seed that is printed and that EXITS_SEED sets; with --all, all of them are.
# usage: ci/exits.sh path/to/hueshift [--all]
set -euo pipefail
cd "$(dirname "$0")/.."
hueshift=$1
all=${2-}
seed=${EXITS_SEED-$((RANDOM))}
drawn=3
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

guest() { # INTERPRETER PROGRAM ARGUMENTS...: with ARGUMENTS, disturbed in both ways
    disturb abort-at run "$1" "$2" --mode jit -- "${@:3}"
    disturb force-guard run "$1" "$2" --mode jit -- "${@:3}"
}

# Programs of thousands of steps.
long=()
long_guest() { # as guest
    disturb force-guard run "$1" "$2" --mode jit -- "${@:3}"
    long+=("$*")
}

stop_long_guests() {
    local at guest
    RANDOM=$seed
    if [[ $all == --all ]]; then
        drawn=${#long[@]}
    else
        echo "exits: stopped at each step: $drawn of ${#long[@]} long programs, drawn by EXITS_SEED=$seed"
    fi
    for ((; drawn > 0; drawn--)); do
        at=$((RANDOM % ${#long[@]}))
        read -ra guest <<<"${long[at]}"
        unset "long[at]"
        long=("${long[@]}")
        disturb abort-at run "${guest[0]}" "${guest[1]}" --mode jit -- "${guest[@]:2}"
    done
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
# All bundled guest programs.
programs=0
while IFS=: read -r how interpreter program arguments; do
    programs=$((programs + 1))
    read -ra arguments <<<"$arguments"
    input=no "$how" "$interpreter" "$program" "${arguments[@]}"
done <<'PROGRAMS'
guest:plus_minus:plus_minus_plus:3 4
guest:plus_minus:all_plus:3 4
guest:plus_minus:nothing:3 4
guest:tl:square:5
guest:tl:factorial:5
guest:tl:fibonacci:7
guest:tl:fib_recursive:6
long_guest:tl:primes:8
long_guest:tl:nested:4
guest:tl:calls:4
long_guest:tl:collatz:7
long_guest:tl:collatz_total:5
long_guest:tl:checksum:4
guest:tl:table:1
guest:tl:stack:9
guest:tl:underflow:0
guest:tlr:square:5
guest:tlr:factorial:5
guest:tlr:fibonacci:7
long_guest:tlr:primes:8
long_guest:tlr:sieve:10
guest:tlr:nested:4
guest:tlr:calls:4
guest:tlr:gcd:42
guest:tlr:no_registers:1
guest:bf:hello:30
guest:bf:reverse:10
long_guest:bf:rot13:30
long_guest:bf:squares:30
long_guest:bf:sierpinski:30
guest:bf:off_the_tape:10
guest:bf_ast:hello:30
guest:bf_ast:reverse:10
long_guest:bf_ast:rot13:30
long_guest:bf_ast:squares:30
long_guest:bf_ast:sierpinski:30
guest:bf_ast:off_the_tape:10
guest:regex:number:-0.5e+10
guest:regex:date:on:2026-11-21
guest:regex:word:zwei
PROGRAMS
input=no stop_long_guests
bundled=$("$hueshift" interpreters | grep -c '^    [^ ]*  ')
if ((programs != bundled)); then
    echo "exits: there are $bundled bundled programs, $programs of them are disturbed here"
    wrong=$((wrong + 1))
fi
# Executions to the hundredth, and guards in fragments that compiled code has taken in: only a made-up state comes there.
disturb force-guard run tl factorial --mode jit -- 120
disturb force-guard run tlr factorial --mode jit -- 120
disturb force-guard run tl collatz --mode jit -- 27

echo "exits: $commands commands, $runs runs, $wrong wrong; guards reached: $reached, forced: $forced; made up: $made_up"
((wrong == 0 && reached > 0 && reached == forced && made_up > 0))
