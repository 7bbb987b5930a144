#![no_main]
hueshift_fuzz::target!(GRAPH_TEXT);
