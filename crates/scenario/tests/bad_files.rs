//! Bad scenario files, each with its exact errors in a snapshot.

use std::fs;
use std::path::PathBuf;

use lasthop_scenario::{LoadOptions, load};

#[test]
fn every_bad_file_is_refused_with_its_errors() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("there is a folder of bad files")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 20, "{} files", files.len());
    for path in files {
        let text = fs::read_to_string(&path).expect("a readable file");
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let errors = load(&text, &format!("{stem}.toml"), &LoadOptions::default())
            .map(|plan| plan.variants.len())
            .expect_err(&stem);
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(stem, errors.to_string());
        });
    }
}
