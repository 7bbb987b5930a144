//! What the front end makes of the dialect is what rustc makes of it: the same source is compiled into this test and
//! lifted, and both are run on the same arguments.

#[path = "frontend/harness.rs"]
mod harness;
#[path = "frontend/programs.rs"]
mod programs;
