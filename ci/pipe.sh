#!/usr/bin/env bash
# A compiler is its graph: what a printed compiler graph specializes to is what the compiler in memory specializes to, on every
# scenario; and a compiler graph with one op changed is another compiler. Guests find their input at its end, as they do
# behind a compiler that comes by standard input.
# usage: ci/pipe.sh path/to/hueshift
set -euo pipefail
cd "$(dirname "$0")/.."
hueshift=$1
direct=$(mktemp) piped=$(mktemp) compiler=$(mktemp) errors=$(mktemp)
trap 'rm -f "$direct" "$piped" "$compiler" "$errors"' EXIT

# All of the workspace, so that nothing is built again with other features.
cargo build -q --workspace --example scenarios

equal=0 refused=0 different=0
while IFS=$'\x1f' read -r -u 3 file entry args green policy; do
    greens=()
    [[ -z $green ]] || greens=(--green "$green")
    with=(--entry "$entry" --args "$args" --policy "$policy" --emit residual)
    code=0
    "$hueshift" spec "$file" "${with[@]}" "${greens[@]}" </dev/null >"$direct" 2>"$errors" || code=$?
    if ((code == 2)); then
        refused=$((refused + 1))
        continue
    fi
    code=0
    { "$hueshift" graph "$file" --stage compiler --entry "$entry" "${greens[@]}" |
        "$hueshift" spec --compiler-graph - "${with[@]}"; } >"$piped" 2>"$errors" || code=$?
    if ((code <= 1)) && cmp -s "$direct" "$piped"; then
        equal=$((equal + 1))
    else
        different=$((different + 1))
        echo "$file $entry $args (green: ${green:-none}, $policy): exit code $code"
        cat "$errors"
        diff "$direct" "$piped" | head -n 20 || true
    fi
done 3< <("${CARGO_TARGET_DIR:-target}/debug/examples/scenarios")
echo "piped and direct: $equal equal, $different different ($refused not in the language yet)"
if ((different > 0 || equal == 0)); then exit 1; fi

program=(--entry plus_minus --args 0xA5A,3,32,10)
"$hueshift" graph plus_minus --stage compiler >"$compiler"
result() { "$hueshift" spec --compiler-graph - "${program[@]}" --json | sed -n 's/.*"result": *"\([^"]*\)".*/\1/p'; }
as_printed=$(result <"$compiler")
changed=$(sed 's/emit int_add/emit int_mul/' "$compiler" | result)
echo "plus_minus 0xA5A 32 10: $as_printed; with its int_add emitted as int_mul: $changed"
[[ $as_printed == 42 && $changed == 3100 ]]
