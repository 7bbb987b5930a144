#!/usr/bin/env bash
# The engine on aarch64 and riscv64: cross-compiles the tests that matter and runs them under qemu's user-mode emulation.
#
#   ci/isa.sh [--full | --brief] [--time SECONDS] [aarch64] [riscv64]     both machines, unless some are named
#   ci/isa.sh --within SECONDS …                                stops when the time is over: no failure, but it says what is missing
#   ci/isa.sh --build [aarch64] [riscv64]                       only builds the tests
#   ci/isa.sh --set-up                                          only gets the tools
#
# Without --full it runs a fixed part of the suite, with --brief a smaller one, for CI; docs/isas.md lists what is in which,
# and what has passed so far.
#
# What it needs, it gets from Debian 12's packages: qemu-user and the two C compilers are installed (that takes root), and
# qemu 10 of the backports and a cross-compiling rustc 1.96 are unpacked beside the machine's own, which stay as they are:
# Debian has the standard library for aarch64 ready, and its source, from which cargo builds that for riscv64. (qemu 7.2, which
# Debian 12 has, was seen to crash where many threads come and go. Where there is no other, it is used.) A toolchain that has a target's
# standard library already (`rustup target add aarch64-unknown-linux-gnu riscv64gc-unknown-linux-gnu`) is used as it is.
# Tools and builds are kept in target/isa, or in the directory that HUESHIFT_ISA_DIR names. CARGO names the cargo to use.
set -euo pipefail
cd "$(dirname "$0")/.."

size=part within=false set_up_only=false build_only=false limit=5400 machines=()
while (($#)); do
    case $1 in
        --full) size=all ;;
        --brief) size=brief ;;
        --within) within=true limit=$2 && shift ;;
        --set-up) set_up_only=true ;;
        --build) build_only=true ;;
        --time) limit=$2 && shift ;;
        aarch64 | riscv64) machines+=("$1") ;;
        *) echo "ci/isa.sh: unknown argument $1 (see the head of the script)" >&2 && exit 2 ;;
    esac
    shift
done
((${#machines[@]})) || machines=(aarch64 riscv64)
dir=${HUESHIFT_ISA_DIR:-target/isa}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cargo=${CARGO:-cargo}
started=$SECONDS

fail() { # MESSAGE...
    printf 'ci/isa.sh: %s\n' "$@" >&2
    exit 1
}

triple() { # MACHINE
    case $1 in
        aarch64) echo aarch64-unknown-linux-gnu ;;
        riscv64) echo riscv64gc-unknown-linux-gnu ;;
    esac
}

# ---- tools

has_std() { # TRIPLE: whether the machine's own toolchain has its standard library
    compgen -G "$(rustc --print target-libdir --target "$1" 2>/dev/null)/libstd-*.rlib" >/dev/null
}

# Packages that are installed, by the command that tells that they are.
install_packages() {
    local missing=() machine
    for machine in "${machines[@]}"; do
        command -v "qemu-$machine" >/dev/null || missing+=(qemu-user)
        command -v "$machine-linux-gnu-gcc" >/dev/null || missing+=("gcc-$machine-linux-gnu")
        [ -e "/usr/$machine-linux-gnu/include/stdio.h" ] || missing+=("libc6-dev-${machine/aarch64/arm64}-cross")
    done
    ((${#missing[@]})) || return 0
    command -v apt-get >/dev/null ||
        fail "not there: ${missing[*]}" "install what your system calls these; the script does so by itself with apt-get only"
    local as_root=()
    ((EUID == 0)) || as_root=(sudo)
    echo "installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" \
            >"$dir/apt.log" 2>&1 ||
        fail "apt-get could not install ${missing[*]} (it says why above, and in $dir/apt.log)" \
            "the first run needs the network, and root's rights; later ones need neither"
}

# The cross-compiling rustc, unpacked into $dir/rust.
unpack_rustc() {
    [ -e "$dir/rust/ready" ] && return 0
    command -v apt-get >/dev/null ||
        fail "the toolchain lacks the standard library of another machine, and there is no apt-get to get one with" \
            "with rustup: rustup target add aarch64-unknown-linux-gnu riscv64gc-unknown-linux-gnu"
    local debs="$dir/debs" arm="$dir/arm64" std llvm deb
    rm -rf "$dir/rust" && mkdir -p "$dir"/rust/{tree,bin} "$debs" "$arm"/{lists,cache/archives}/partial
    [ -n "$(apt-cache depends libstd-rust-web-dev 2>/dev/null)" ] || apt-get update -qq || true
    std=$(apt-cache depends libstd-rust-web-dev 2>/dev/null | grep -o 'libstd-rust-web-[0-9][0-9.]*' | head -n 1) || true
    [ -n "$std" ] || fail "apt-get offers no package libstd-rust-web-dev: this is not Debian 12, or there is no network" \
        "with rustup: rustup target add aarch64-unknown-linux-gnu riscv64gc-unknown-linux-gnu"
    llvm=$(apt-cache depends "$std" | grep -o 'libllvm[0-9]*' | head -n 1)
    local foreign=(-o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o "Dir::State::lists=$arm/lists"
        -o "Dir::Cache=$arm/cache" -o APT::Sandbox::User=root)
    echo "fetching rustc-web, its standard libraries and their source"
    (
        cd "$debs"
        apt-get download -qq rustc-web libstd-rust-web-dev rust-web-src "$std" "$llvm"
        apt-get "${foreign[@]}" update -qq
        apt-get "${foreign[@]}" download -qq libstd-rust-web-dev
    ) || fail "apt-get could not fetch the cross-compiling rustc: the first run needs the network"
    for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$dir/rust/tree"; done
    rm -rf "$debs" "$arm"
    cat >"$dir/rust/bin/rustc" <<WRAPPER
#!/bin/sh
LD_LIBRARY_PATH=$dir/rust/tree/usr/lib/$(uname -m)-linux-gnu exec $dir/rust/tree/usr/bin/rustc "\$@"
WRAPPER
    chmod +x "$dir/rust/bin/rustc"
    "$dir/rust/bin/rustc" --version >"$dir/rust/ready" || fail "the unpacked rustc doesn't run"
}

# qemu of the backports, unpacked into $dir/qemu.
unpack_qemu() {
    [ -e "$dir/qemu/ready" ] && return 0
    command -v apt-get >/dev/null || return 0
    rm -rf "$dir/qemu" && mkdir -p "$dir"/qemu/{lists,cache/archives}/partial
    local backports=(-o "Dir::Etc::SourceList=$dir/qemu/sources.list" -o Dir::Etc::SourceParts=-
        -o "Dir::State::lists=$dir/qemu/lists" -o "Dir::Cache=$dir/qemu/cache" -o APT::Sandbox::User=root)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm-backports main" \
        >"$dir/qemu/sources.list"
    echo "fetching qemu 10"
    (
        cd "$dir/qemu"
        apt-get "${backports[@]}" update -qq && apt-get "${backports[@]}" download -qq qemu-user
    ) >"$dir/qemu.log" 2>&1 && dpkg-deb -x "$dir"/qemu/qemu-user*.deb "$dir/qemu" &&
        "$dir/qemu/usr/bin/qemu-riscv64" --version >"$dir/qemu/ready" ||
        echo "no qemu of the backports ($dir/qemu.log says why): using the one that is installed"
    rm -rf "$dir"/qemu/{lists,cache,qemu-user*.deb}
}

emulator() { # MACHINE: the command that runs its programs
    local qemu="$dir/qemu/usr/bin/qemu-$1" cpu
    case $1 in
        aarch64) cpu=neoverse-n1 ;;
        riscv64) cpu=rv64 ;;
    esac
    if [ -e "$dir/qemu/ready" ]; then
        echo "$qemu -cpu $cpu -L /usr/$1-linux-gnu"
    else
        echo "qemu-$1 -L /usr/$1-linux-gnu"
    fi
}

install_packages
unpack_qemu
own_std=true
for machine in "${machines[@]}"; do has_std "$(triple "$machine")" || own_std=false; done
if ! $own_std; then
    unpack_rustc
    export RUSTC="$dir/rust/bin/rustc"
fi
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_RISCV64GC_UNKNOWN_LINUX_GNU_LINKER=riscv64-linux-gnu-gcc
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$(emulator aarch64)
CARGO_TARGET_RISCV64GC_UNKNOWN_LINUX_GNU_RUNNER=$(emulator riscv64)
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER CARGO_TARGET_RISCV64GC_UNKNOWN_LINUX_GNU_RUNNER
printf 'tools: %s, %s\n' "$("${RUSTC:-rustc}" --version)" "$($(emulator "${machines[0]}") --version | head -n 1)"
$set_up_only && exit 0

# ---- tests

# Under the emulator only code for the emulated machine is made, and tests about the machine's own tools are skipped.
export RUSTFLAGS="--cfg hueshift_host_only" HUESHIFT_EMULATED=1 CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never
log=$dir/tests.log
summary=""
# What runs for an hour is worth some more minutes of compiling.
faster=()
if [ $size = all ]; then
    faster=(--config 'profile.isa.package."*".opt-level=3' --config profile.isa.package.jitcodegen.debug-assertions=false)
    for crate in flowgraph hintannotator timeshifter jitcodegen hueshift; do
        faster+=(--config "profile.isa.package.$crate.opt-level=3")
    done
fi

left() { # what is left of the time
    local seconds=$((limit - (SECONDS - started)))
    echo $((seconds > 1 ? seconds : 1))
}

cargo_test() { # MACHINE ARGUMENTS...: cargo test for it
    local machine=$1 target build_std=() code=0
    shift
    target=$(triple "$machine")
    if ! $own_std && [ "$machine" = riscv64 ]; then
        build_std=(-Zbuild-std=std,panic_unwind)
        export RUSTC_BOOTSTRAP=1
    fi
    timeout "$(left)" "$cargo" "${faster[@]}" test "${build_std[@]}" --profile isa --target "$target" --target-dir "$dir/build" "$@" 2>&1 |
        tee -a "$log" || code=$?
    ((code != 124)) || $within || fail "$machine: not done after $limit s: cargo test $*"
    return $code
}

# One set of packages for every step: another set has other features, and the engine would be compiled again.
packages=(-p jitcodegen -p hueshift-interpreters -p hueshift-tests)
code_generator=(--test bounds --test control --test fragments --test host --test pure)
programs=(--test assembler --test brainfuck --test embedded --test examples --test regex --test guests --test resume --test chaos)
engines=(--test equation --test scenarios --test disturbed)

# The fixed part: all of the code generator, all programs, all scenarios; the equation and the disturbed runs in part.
part() { # MACHINE
    cargo_test "$1" "${packages[@]}" "${code_generator[@]}" "${programs[@]}" --test scenarios &&
        HUESHIFT_SEED=1 HUESHIFT_CASES=25 cargo_test "$1" "${packages[@]}" --test equation &&
        SCENARIOS=promotion cargo_test "$1" "${packages[@]}" --test disturbed -- --nocapture
}

# What CI has time for: what is closest to the machine, and what goes over from compiled code to the interpreter and back.
brief() { # MACHINE
    cargo_test "$1" "${packages[@]}" --test control --test fragments --test host --test resume &&
        HUESHIFT_SEED=1 HUESHIFT_CASES=25 cargo_test "$1" "${packages[@]}" --test equation &&
        SCENARIOS=promotion cargo_test "$1" "${packages[@]}" --test scenarios
}

all() { # MACHINE
    cargo_test "$1" --tests --no-fail-fast "${packages[@]}"
}

for machine in "${machines[@]}"; do
    : >"$log"
    began=$SECONDS
    printf '\n=== %s: building the tests\n' "$machine"
    case $size in
        all) tests=(--tests) ;;
        part) tests=("${code_generator[@]}" "${programs[@]}" "${engines[@]}") ;;
        brief) tests=(--test control --test fragments --test host --test resume --test equation --test scenarios) ;;
    esac
    code=0
    cargo_test "$machine" "${packages[@]}" "${tests[@]}" --no-run || code=$?
    if ((code == 124)); then
        summary+="$machine: NOT RUN: the $limit s were over while it was being built"$'\n'
        break
    fi
    ((code == 0)) || fail "$machine: the tests don't build"
    built=$SECONDS
    if $build_only; then
        summary+="$machine: built in $((built - began)) s"$'\n'
        continue
    fi
    printf '\n=== %s: running them\n' "$machine"
    $size "$machine" || code=$?
    ended=""
    case $code in
        0) ;;
        124) ended=", NOT DONE: the $limit s were over" ;;
        *) ended=" FAILED" ;;
    esac
    counts=$(awk '/^test result: /{ passed += $4; failed += $6; ignored += $8; runners++ }
        END { printf "%d runners: %d passed, %d failed, %d ignored", runners, passed, failed, ignored }' "$log")
    summary+="$machine: $counts; built in $((built - began)) s, run in $((SECONDS - built)) s$ended"$'\n'
    [ -z "$ended" ] || break
done
printf '\n=== closing lines, by machine\n%s' "$summary"
[[ $summary != *FAILED* ]] || fail "tests failed"
