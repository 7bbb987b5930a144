#![no_main]
hueshift_fuzz::target!(BRAINFUCK);
