/* The host of an executable that hueshift has made: enters its code and says how that ended.

   Before this text stand HUESHIFT_MAX_VALUES and HUESHIFT_SLOT_BYTES, of which the layout of the context is made. After it
   stands what belongs to the program:

     static int program_arguments(int argc, char **argv, uint64_t *words);    the words of the entry's parameters
     static void program_result(FILE *out, const uint64_t *words);            what it prints when it has returned
     static void program_after(FILE *out);                                    and the memory that it may have changed
     static void program_trap(FILE *out, uint64_t site, const uint64_t *words);   what it says of a trap
     static int64_t program_host(struct context *, uint64_t function, uint64_t site);   what its code asks its host for

   Exit codes are those of `hueshift run`: 0 it has returned, 1 it has trapped, 2 it was called wrongly. */

#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The stack of the program, and how much of it is left to what its code calls. */
#define STACK_BYTES ((size_t)256 << 20)
#define STACK_RESERVE ((size_t)512 << 10)

/* What code and host share: `Context` of jitcodegen's abi.rs. */
struct context {
    uint64_t exit_cell, guard, stack_limit, slot_top, values[HUESHIFT_MAX_VALUES];
    uint64_t merge_points_left, slot_limit, frame, trap_site, exit_site;
    int64_t (*call_helper)(struct context *, uint64_t function, uint64_t site);
    int64_t (*merge_point)(struct context *, uint64_t site);
    int64_t (*finish_exit)(struct context *);
    void (*clear)(void *, uint64_t);
    int64_t (*check_access)(struct context *, uint64_t address, uint64_t bytes, uint64_t site);
    void *host;
    uint64_t results[HUESHIFT_MAX_VALUES];
};

extern int64_t hueshift_enter(struct context *) __attribute__((visibility("hidden")));

enum { RETURNED = 0, TRAPPED = 1 };
enum { CODE_DONE = 0, CODE_GUEST = 1, CODE_USAGE = 2 };

static int program_arguments(int argc, char **argv, uint64_t *words);
static void program_result(FILE *out, const uint64_t *words);
static void program_after(FILE *out);
static void program_trap(FILE *out, uint64_t site, const uint64_t *words);
static int64_t program_host(struct context *, uint64_t function, uint64_t site);

/* ---- numbers in, as the command reads them: 7, -7, 0x7, -0x7 */

static int parse_number(const char *text, int64_t *out) {
    while (*text == ' ' || (*text >= '\t' && *text <= '\r')) text++;
    int negative = *text == '-';
    text += negative;
    if (*text < '0' || *text > '9') return 0;
    unsigned base = text[0] == '0' && text[1] == 'x' ? 16 : 10;
    if (base == 16) text += 2;
    unsigned __int128 magnitude = 0;
    int digits = 0;
    for (;; text++, digits++) {
        unsigned digit = *text >= '0' && *text <= '9'   ? (unsigned)(*text - '0')
                         : *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a' + 10)
                         : *text >= 'A' && *text <= 'F' ? (unsigned)(*text - 'A' + 10)
                                                        : base;
        if (digit >= base) break;
        magnitude = magnitude * base + digit;
        if (magnitude > (unsigned __int128)1 << 64) return 0;
    }
    while (*text == ' ' || (*text >= '\t' && *text <= '\r')) text++;
    if (!digits || *text) return 0;
    __int128 value = negative ? -(__int128)magnitude : (__int128)magnitude;
    *out = (int64_t)value;
    return *out == value;
}

/* ---- values out, as Rust prints them: `debug` is {:?}, otherwise {} */

static void show_text(FILE *out, const char *text) { fputs(text, out); }
static void show_bool(FILE *out, uint64_t word) { fputs(word ? "true" : "false", out); }
static void show_signed(FILE *out, uint64_t word) { fprintf(out, "%" PRId64, (int64_t)word); }
static void show_unsigned(FILE *out, uint64_t word) { fprintf(out, "%" PRIu64, word); }

static void show_utf8(FILE *out, uint32_t c) {
    if (c < 0x80) {
        putc((int)c, out);
    } else if (c < 0x800) {
        putc((int)(0xC0 | c >> 6), out), putc((int)(0x80 | (c & 63)), out);
    } else if (c < 0x10000) {
        putc((int)(0xE0 | c >> 12), out), putc((int)(0x80 | (c >> 6 & 63)), out), putc((int)(0x80 | (c & 63)), out);
    } else {
        putc((int)(0xF0 | c >> 18), out), putc((int)(0x80 | (c >> 12 & 63)), out);
        putc((int)(0x80 | (c >> 6 & 63)), out), putc((int)(0x80 | (c & 63)), out);
    }
}

/* One character of what stands between quotes. Rust escapes more beyond ASCII than is done here. */
static void show_escaped(FILE *out, uint32_t c, char quote) {
    switch (c) {
        case 0: fputs("\\0", out); break;
        case '\t': fputs("\\t", out); break;
        case '\n': fputs("\\n", out); break;
        case '\r': fputs("\\r", out); break;
        case '\\': fputs("\\\\", out); break;
        default:
            if (c == (uint32_t)quote) putc('\\', out);
            if (c < 0x20 || (c >= 0x7F && c < 0xA0)) fprintf(out, "\\u{%x}", (unsigned)c);
            else show_utf8(out, c);
    }
}

static void show_char(FILE *out, uint64_t word, int debug) {
    if (!debug) {
        show_utf8(out, (uint32_t)word);
        return;
    }
    putc('\'', out);
    show_escaped(out, (uint32_t)word, '\'');
    putc('\'', out);
}

static double parsed(const char *text, int single) { return single ? (double)strtof(text, NULL) : strtod(text, NULL); }

/* The shortest digits that mean x and no other number, without a point; *exponent is that of the first. */
static int shortest(double x, int single, char *digits, int *exponent) {
    for (int count = 1; count <= 17; count++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", count - 1, x);
        *exponent = atoi(strchr(text, 'e') + 1);
        digits[0] = text[0];
        if (count > 1) memcpy(digits + 1, text + 2, (size_t)count - 1);
        digits[count] = 0;
        if (parsed(text, single) == x) return count;
        /* Below a power of two numbers lie closer than above it: the nearest text may be too far off, its neighbour not. */
        int last = count - 1;
        while (last >= 0 && digits[last] == '9') last--;
        if (last < 0) continue;
        char next[40];
        memcpy(next, digits, (size_t)count + 1);
        next[last]++;
        memset(next + last + 1, '0', (size_t)(count - 1 - last));
        snprintf(text, sizeof text, "%c.%se%d", next[0], next + 1, *exponent);
        if (parsed(text, single) == x) {
            memcpy(digits, next, (size_t)count + 1);
            return count;
        }
    }
    return 17;
}

static void show_number(FILE *out, double x, int single, int debug) {
    if (x != x) {
        fputs("NaN", out);
        return;
    }
    if (signbit(x)) putc('-', out);
    x = fabs(x);
    if (isinf(x)) {
        fputs("inf", out);
        return;
    }
    if (x == 0) {
        fputs(debug ? "0.0" : "0", out);
        return;
    }
    char digits[40];
    int exponent, count = shortest(x, single, digits, &exponent);
    if (debug && (single ? (float)x < 1e-4f || (float)x >= 1e16f : x < 1e-4 || x >= 1e16)) {
        putc(digits[0], out);
        if (count > 1) putc('.', out), fputs(digits + 1, out);
        fprintf(out, "e%d", exponent);
        return;
    }
    if (exponent < 0) {
        fputs("0.", out);
        for (int i = -1; i > exponent; i--) putc('0', out);
        fputs(digits, out);
        return;
    }
    for (int i = 0; i <= exponent; i++) putc(i < count ? digits[i] : '0', out);
    if (count > exponent + 1) putc('.', out), fputs(digits + exponent + 1, out);
    else if (debug) fputs(".0", out);
}

static void show_f64(FILE *out, uint64_t word, int debug) {
    double x;
    memcpy(&x, &word, 8);
    show_number(out, x, 0, debug);
}

static void show_f32(FILE *out, uint64_t word, int debug) {
    uint32_t low = (uint32_t)word;
    float x;
    memcpy(&x, &low, 4);
    show_number(out, x, 1, debug);
}

/* A &str between quotes. */
static void show_str(FILE *out, const unsigned char *at, uint64_t len) {
    putc('"', out);
    for (uint64_t i = 0; i < len; i++) {
        if (at[i] < 0x80) show_escaped(out, at[i], '"');
        else putc(at[i], out);
    }
    putc('"', out);
}

#define LOAD(name, type, wide)                          \
    static uint64_t name(const unsigned char *at) {     \
        type value;                                     \
        memcpy(&value, at, sizeof value);               \
        return (uint64_t)(wide)value;                   \
    }
LOAD(load_i8, int8_t, int64_t)
LOAD(load_i16, int16_t, int64_t)
LOAD(load_i32, int32_t, int64_t)
LOAD(load_u8, uint8_t, uint64_t)
LOAD(load_u16, uint16_t, uint64_t)
LOAD(load_u32, uint32_t, uint64_t)
LOAD(load_u64, uint64_t, uint64_t)

/* Not every program needs all of these. */
static void unused(void) __attribute__((unused));

/* ---- powers by squaring, in the order of the engine's own */

#define POWER(name, type)                                                   \
    __attribute__((visibility("hidden"))) type name(type x, int64_t n) {    \
        type square = x, product = 1;                                       \
        uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;                 \
        for (;;) {                                                          \
            if (left & 1) product *= square;                                \
            left >>= 1;                                                     \
            if (!left) return n < 0 ? 1 / product : product;                \
            square *= square;                                               \
        }                                                                   \
    }
POWER(hueshift_powi, double)
POWER(hueshift_powi_f32, float)

/* ---- input and output of the guest */

/* Standard output can't be written: that nobody reads it any more is no error. */
static void output_failed(void) {
    if (errno == EPIPE) _exit(CODE_DONE);
    fprintf(stderr, "standard output can't be written: %s\n", strerror(errno));
    _exit(CODE_USAGE);
}

static void put_byte(uint64_t b) {
    if (putc_unlocked((int)(b & 255), stdout) == EOF) output_failed();
}

static uint64_t get_byte(void) {
    static unsigned char buffer[1 << 16];
    static size_t at, end;
    if (at == end) {
        if (fflush(stdout)) output_failed();
        ssize_t got;
        do got = read(0, buffer, sizeof buffer);
        while (got < 0 && errno == EINTR);
        if (got < 0) {
            fprintf(stderr, "standard input can't be read: %s\n", strerror(errno));
            _exit(CODE_USAGE);
        }
        at = 0, end = (size_t)got;
        if (!end) return (uint64_t)-1;
    }
    return buffer[at++];
}

/* ---- running */

static int64_t no_merge_point(struct context *context, uint64_t site) { return (void)context, (void)site, 0; }
static int64_t no_exit(struct context *context) { return (void)context, TRAPPED; }
static void clear(void *at, uint64_t bytes) { memset(at, 0, bytes); }
static int64_t no_check(struct context *context, uint64_t address, uint64_t bytes, uint64_t site) {
    return (void)context, (void)address, (void)bytes, (void)site, RETURNED;
}

static struct context context;
static int64_t status;

static void *run(void *stack) {
    context.stack_limit = (uint64_t)(uintptr_t)stack + STACK_RESERVE;
    status = hueshift_enter(&context);
    return NULL;
}

static int out_of_memory(void) {
    fputs("there is no memory for the program's stack\n", stderr);
    return CODE_USAGE;
}

static void *reserve(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    int wrong = program_arguments(argc, argv, context.values);
    if (wrong) return wrong;
    char *slots = reserve(HUESHIFT_SLOT_BYTES), *stack = reserve(STACK_BYTES);
    if (!slots || !stack) return out_of_memory();
    context.slot_top = context.frame = (uint64_t)(uintptr_t)slots;
    context.slot_limit = context.slot_top + HUESHIFT_SLOT_BYTES;
    context.call_helper = program_host;
    context.merge_point = no_merge_point;
    context.finish_exit = no_exit;
    context.clear = clear;
    context.check_access = no_check;
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) || pthread_attr_setstack(&attributes, stack, STACK_BYTES) ||
        pthread_create(&thread, &attributes, run, stack) || pthread_join(thread, NULL))
        return out_of_memory();
    if (status == RETURNED) program_result(stdout, context.results);
    program_after(stdout);
    if (fflush(stdout) || ferror(stdout)) output_failed();
    if (status == RETURNED) return CODE_DONE;
    program_trap(stderr, context.trap_site, context.values);
    return CODE_GUEST;
}

static void unused(void) {
    (void)parse_number, (void)show_text, (void)show_bool, (void)show_signed, (void)show_unsigned, (void)show_char;
    (void)show_f64, (void)show_f32, (void)show_str, (void)load_i8, (void)load_i16, (void)load_i32, (void)load_u8;
    (void)load_u16, (void)load_u32, (void)load_u64, (void)put_byte, (void)get_byte;
}

/* ---- the program */
