#!/usr/bin/env bash
# Draws a picture compiled and by what `gcc -O2` makes of it as C, three times in turns: equal images, and the time of a pixel.
#   ci/picture.sh [FILE.vm [SIZE]]
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:-examples/picture/pictures/face.vm} size=${2:-128}
command -v gcc >/dev/null || { echo "there is no gcc: skipped"; exit 0; }
cargo build --release --quiet -p hueshift-cli -p picture
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target/release/picture --c "$file" >"$work/picture.c"
gcc -O2 -fno-math-errno -ffp-contract=off "$work/picture.c" -o "$work/c" -lm
for _ in 1 2 3; do
    "$work/c" "$size" "$work/c.pgm"
    target/release/picture "$file" "$size" "$work/compiled.pgm"
    cmp "$work/c.pgm" "$work/compiled.pgm"
done
echo "the images are equal"
