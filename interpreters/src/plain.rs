//! An interpreter as an ordinary Rust module, for rustc without any crate: the tests compare its meaning, and the
//! benchmarks its speed, with what hueshift makes of the same source.

use crate::Interpreter;

const PRELUDE: &str = include_str!("../../hueshift/src/prelude.rs");
const IO: &str = include_str!("../../hueshift/src/io.rs");

impl Interpreter {
    /// Two modules, `hueshift` (the prelude, and what it stands on) and `lang` (the dialect source, without the
    /// attributes that are for the front end only), to stand at the root of a crate.
    pub fn plain_rust(&self) -> String {
        let lines = |text: &str, keep: fn(&str) -> bool| {
            text.lines().filter(|line| keep(line.trim_start())).collect::<Vec<_>>().join("\n")
        };
        let keep: fn(&str) -> bool = |line| !line.starts_with("//!") && !line.starts_with("pub use hueshift_macros");
        let [prelude, io] = [PRELUDE, IO].map(|text| lines(text, keep));
        let source = lines(self.source, |line| !line.starts_with("#[portal"));
        let source = source.replace("use hueshift::", "use crate::hueshift::");
        format!(
            "mod hueshift {{ pub mod io {{\n{io}\n}} pub mod prelude {{\n{prelude}\n}} }}\nmod lang {{\n{source}\n}}\n"
        )
    }
}
