//! Any text is either a plan or a list of errors, never a panic.
#![no_main]

use lasthop_scenario::{LoadOptions, load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = load(text, "fuzz.toml", &LoadOptions::default());
});
