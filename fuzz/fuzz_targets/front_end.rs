#![no_main]
hueshift_fuzz::target!(FRONT_END);
