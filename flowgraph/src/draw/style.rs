//! The look of drawings: one table of rules with the colors for light and dark grounds.
//!
//! Green, red and blue are the bluish green, vermilion and blue of Okabe and Ito's palette, which people with any kind
//! of color blindness can tell apart, darkened (or lightened) until they can be read as text.

/// Selector, property, on light ground, on dark ground.
type Rule = (&'static str, &'static str, &'static str, &'static str);

const RULES: &[Rule] = &[
    (".ground", "fill", "#f6f7f9", "#111419"),
    ("text", "fill", "#24292f", "#d3dae2"),
    (".dim", "fill", "#7b8490", "#7d8794"),
    (".source", "fill", "#68727e", "#8b95a1"),
    (".name", "fill", "#68727e", "#98a2ae"),
    (".op", "fill", "#24292f", "#e4e9ef"),
    (".const", "fill", "#5b4a00", "#e3cf8a"),
    (".string", "fill", "#5b4a00", "#e3cf8a"),
    (".block", "fill", "#24292f", "#e4e9ef"),
    (".g", "fill", "#00704a", "#45d39b"),
    (".r", "fill", "#b83f0a", "#ff9160"),
    (".b", "fill", "#0059b3", "#74b4ff"),
    (".emit", "fill", "#b83f0a", "#ff9160"),
    (".paper", "fill", "#ffffff", "#1b2027"),
    (".paper.trap", "fill", "#fcf0ee", "#2b1d1e"),
    (".paper.exit", "fill", "#f3f1ea", "#26241d"),
    (".head", "fill", "#e9edf2", "#272e38"),
    (".head.entry", "fill", "#dbe6f4", "#233449"),
    (".head.return", "fill", "#dfe9e0", "#24352a"),
    (".head.trap", "fill", "#f6d9d4", "#4a2725"),
    (".head.exit", "fill", "#e9e3cf", "#3d3825"),
    (".frame", "stroke", "#b9c2cc", "#414b58"),
    (".frame.trap", "stroke", "#dca79f", "#7a433e"),
    (".rule", "stroke", "#d5dbe2", "#343d49"),
    (".row.emit", "fill", "#fdf3ec", "#2b2320"),
    (".bar", "fill", "#d8652b", "#e07a45"),
    (".row.promote", "fill", "#ffeab3", "#4d3d0e"),
    (".row.local", "fill", "#d9e4f5", "#22375a"),
    (".row.global", "fill", "#ded5f6", "#3d2c66"),
    (".mark", "fill", "#3f3a66", "#d5cdf5"),
    (".line", "stroke", "#6a7480", "#8993a0"),
    (".line.back", "stroke", "#7a3fc0", "#b48cf2"),
    (".arrow", "fill", "#6a7480", "#8993a0"),
    (".arrow.back", "fill", "#7a3fc0", "#b48cf2"),
    (".lit", "stroke", "#ffdf5d", "#6b5600"),
    (".line.lit", "stroke", "#d08700", "#ffc53d"),
    (".frame.lit", "stroke", "#d08700", "#ffc53d"),
    (".hit", "stroke", "#9fd3ff", "#0b4f86"),
];

/// What is the same on both grounds.
const SHAPE: &str = "text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;white-space:pre}\
.small{font-size:10.5px}.letter{font-size:8.5px;font-weight:700}.title{font-size:15px;font-weight:700}\
.block,.emit{font-weight:700}.name{font-style:italic}.mark{font-weight:700;letter-spacing:.06em}\
.frame{fill:none;stroke-width:1}.frame.entry,.frame.return{stroke-width:1.6}.rule{stroke-width:1}\
.line{fill:none;stroke-width:1.3}.line.back{stroke-width:2}\
.value.lit,.hit{stroke-width:5px;stroke-linejoin:round;paint-order:stroke}.line.lit{stroke-width:2.6}.frame.lit{stroke-width:2}";

/// The color of `selector` on light ground.
pub(super) fn light(selector: &str) -> &'static str {
    RULES.iter().find(|r| r.0 == selector).map_or("#24292f", |r| r.2)
}

/// The rules of a drawing, for both grounds. Selectors are all prefixed with `scope`.
pub(super) fn css(scope: &str) -> String {
    let rules = |pick: fn(&Rule) -> &'static str| -> String {
        RULES.iter().map(|r| format!("{scope}{}{{{}:{}}}", r.0, r.1, pick(r))).collect()
    };
    format!("{SHAPE}{}@media(prefers-color-scheme:dark){{{}}}", rules(|r| r.2), rules(|r| r.3))
}
