//! The library of Z3, opened when this runs: nothing is needed to build, and nothing is lost where there is none.
//!
//! Of its interface three functions are enough, since it reads SMT-LIB text (`z3_api.h`: `Z3_mk_config`,
//! `Z3_mk_context`, `Z3_eval_smtlib2_string`).

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_uint, c_void};

/// Where it is looked for.
const NAMES: &[&str] = &["libz3.so.4", "libz3.so", "libz3.so.4.13", "libz3.dylib", "libz3.dll"];

/// Z3, opened.
#[derive(Debug)]
pub(super) struct Library(libloading::Library);

impl Library {
    /// The first that is found.
    pub fn find() -> Result<Library, String> {
        // SAFETY: Z3's initializers set up its own memory and nothing else.
        let open = |name: &&str| unsafe { libloading::Library::new(*name) }.ok();
        let found = NAMES.iter().find_map(open).map(Library);
        found.ok_or_else(|| format!("no Z3 is found ({})", NAMES[0]))
    }

    /// Its version.
    pub fn version(&self) -> String {
        let mut parts: [c_uint; 4] = [0; 4];
        // SAFETY: the type is that of `z3_api.h`; the four places live as long as the call.
        unsafe {
            if let Ok(get) = self
                .0
                .get::<unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint, *mut c_uint)>(b"Z3_get_version")
            {
                let [a, b, c, d] = &mut parts;
                get(a, b, c, d);
            }
        }
        format!("Z3 {}.{}.{}", parts[0], parts[1], parts[2])
    }

    /// What it says to a script; and, if that is `sat`, to what is asked then.
    pub fn eval(&self, script: &str, then: &str) -> String {
        // SAFETY: the types are those of `z3_api.h`. The context lives until it is deleted at the end; what `eval`
        // gives belongs to it and is copied before the next call.
        unsafe {
            let functions = (
                self.0.get::<unsafe extern "C" fn() -> *mut c_void>(b"Z3_mk_config"),
                self.0.get::<unsafe extern "C" fn(*mut c_void) -> *mut c_void>(b"Z3_mk_context"),
                self.0.get::<unsafe extern "C" fn(*mut c_void)>(b"Z3_del_config"),
                self.0.get::<unsafe extern "C" fn(*mut c_void)>(b"Z3_del_context"),
                self.0.get::<unsafe extern "C" fn(*mut c_void, *const c_char) -> *const c_char>(
                    b"Z3_eval_smtlib2_string",
                ),
                self.0.get::<unsafe extern "C" fn(*mut c_void, *const c_void)>(b"Z3_set_error_handler"),
            );
            let (Ok(config), Ok(context), Ok(drop_config), Ok(drop_context), Ok(eval), Ok(on_error)) = functions else {
                return "unknown: this library has not all that is needed".to_owned();
            };
            let config = config();
            let z3 = context(config);
            drop_config(config);
            // Errors are told in what it says.
            on_error(z3, std::ptr::null());
            let say = |text: &str| match CString::new(text) {
                Ok(text) => {
                    let said = eval(z3, text.as_ptr());
                    if said.is_null() { String::new() } else { CStr::from_ptr(said).to_string_lossy().into_owned() }
                }
                Err(_) => String::new(),
            };
            let mut said = say(script);
            if said.trim() == "sat" {
                said.push_str(&say(then));
            }
            drop_context(z3);
            said
        }
    }
}
