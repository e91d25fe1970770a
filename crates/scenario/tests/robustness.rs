//! No text and no option makes the loader panic, and errors point into the text.

use std::path::PathBuf;

use lasthop_scenario::{LoadOptions, load};
use proptest::prelude::*;

fn check(text: &str, sets: &[(String, String)]) {
    let options = LoadOptions {
        sets: sets.to_vec(),
        seeds: None,
    };
    match load(text, "fuzz.toml", &options) {
        Ok(plan) => {
            assert!(!plan.variants.is_empty() && !plan.seeds.is_empty());
            for variant in &plan.variants {
                assert!(!variant.world.path.is_empty() && !variant.world.workloads.is_empty());
            }
        }
        Err(errors) => {
            assert!(!errors.errors.is_empty());
            let lines = text.lines().count().max(1);
            for error in &errors.errors {
                assert!(!error.message.is_empty());
                assert!(error.place.as_ref().is_none_or(|place| place.line <= lines + 1));
            }
            assert!(errors.to_string().starts_with("error: "));
        }
    }
}

fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios/examples")
        .join(name);
    std::fs::read_to_string(path).expect("the example exists")
}

/// Words a broken scenario is likely to contain.
const WORDS: &[&str] = &[
    "[[path]]",
    "[hosts.server]",
    "[hosts.client]",
    "[parameters]",
    "[vary]",
    "[[variants]]",
    "[record]",
    "type = \"wired\"",
    "type = \"wifi\"",
    "name = \"x\"",
    "duration = \"1 s\"",
    "= ",
    "\"$x\"",
    "x = [1, 2]",
    "\"-1 ms\"",
    "\"99999999999999999999 s\"",
    "{",
    "}",
    "[",
    "]",
    "\n",
    "\n",
    "\n",
    "when = { x = 1 }",
    "rate = \"1e9 bit/s\"",
    "nan",
    "-inf",
    "1979-05-27",
    "µ",
    "\"\"",
    "'''",
    "a.b.c = 1",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_text(text in "\\PC{0,200}") {
        check(&text, &[]);
    }

    #[test]
    fn likely_words(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..30)) {
        check(&words.concat(), &[]);
        check(&words.join("\n"), &[]);
    }

    #[test]
    fn an_example_with_a_piece_replaced(
        name in proptest::sample::select(vec!["dumbbell.toml", "wlan.toml", "roam.toml"]),
        at in 0.0..1.0_f64,
        length in 0_usize..40,
        piece in proptest::sample::select(WORDS),
    ) {
        let text: Vec<char> = example(name).chars().collect();
        let start = (at * text.len() as f64) as usize;
        let end = (start + length).min(text.len());
        let changed: String =
            text[..start].iter().copied().chain(piece.chars()).chain(text[end..].iter().copied()).collect();
        check(&changed, &[]);
    }

    #[test]
    fn arbitrary_overrides(
        name in proptest::sample::select(vec!["sender", "loss", "drops", "gilbert", "window", "duration", "x"]),
        value in "\\PC{0,20}|[0-9., -]{0,20}",
    ) {
        check(&example("dumbbell.toml"), &[(name.to_owned(), value)]);
    }
}

#[test]
fn deep_nesting_is_refused_not_overflowed() {
    check(&format!("x = {}", "[".repeat(100_000)), &[]);
    check(&format!("x = {}{}", "[".repeat(5_000), "]".repeat(5_000)), &[]);
    check(&format!("{} = 1", vec!["a"; 20_000].join(".")), &[]);
    check(&format!("[{}]", vec!["a"; 20_000].join(".")), &[]);
}
