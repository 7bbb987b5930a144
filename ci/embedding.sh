#!/usr/bin/env bash
# What the macro costs: rustc's check of the largest bundled interpreter with it and without, and the time from a changed line
# of an embedded interpreter to its output. Best of several.
# usage: ci/embedding.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never
folder=$(mktemp -d)
source=examples/calculator/src/lib.rs
cp "$source" "$folder/saved.rs"
trap 'cp "$folder/saved.rs" "$source"; rm -rf "$folder"' EXIT

best() { # ROUNDS COMMAND...: milliseconds of the fastest round
    local rounds=$1 best=999999 from took
    shift
    for ((i = 0; i < rounds; i++)); do
        from=$(date +%s%N)
        "$@" >/dev/null
        took=$((($(date +%s%N) - from) / 1000000))
        ((took < best)) && best=$took
    done
    echo "$best"
}

largest=$(find interpreters -mindepth 2 -name '*.rs' ! -name loader.rs ! -path '*/src/*' ! -path '*/tests/*' -printf '%s %p\n' | sort -n | tail -1 | cut -d' ' -f2)
cp "$largest" "$folder/lang.rs"
library=$(cargo build -q -p hueshift --message-format=json | grep -o '[^"]*/libhueshift\.rlib' | tail -1)
echo 'hueshift::interpreter_file!("lang.rs", pub mod lang);' >"$folder/with.rs"
echo 'pub mod lang;' >"$folder/without.rs"
check() { # NAME
    CARGO_MANIFEST_DIR=$folder rustc --edition 2024 --crate-type lib --emit metadata -A warnings \
        --extern "hueshift=$library" -L "dependency=$(dirname "$library")/deps" --out-dir "$folder" "$folder/$1.rs"
}
with=$(best 10 check with)
without=$(best 10 check without)
echo "checking $largest ($(wc -l <"$largest") lines): $with ms with the macro, $without ms without: it adds $((with - without)) ms"

edited() { # one line of the interpreter changes, to what it never was
    round=$((round + 1))
    sed "s/depth >= 16/depth >= 16 + 0 * $round/" "$folder/saved.rs" >"$source"
    cargo run -q -p calculator
}
round=0
cargo run -q -p calculator >/dev/null
echo "cargo run of the calculator after a change of one line of its interpreter: $(best 5 edited) ms"
unchanged() { cargo run -q -p calculator; }
echo "the same without a change: $(best 5 unchanged) ms"
