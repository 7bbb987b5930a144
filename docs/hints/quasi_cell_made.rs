use hueshift::prelude::*;

pub struct Settings {
    pub step: QuasiCell<i64>,
}

pub fn reset(settings: &mut Settings) {
    settings.step = QuasiCell::new(7);
}
