//! The committed objects are those of the committed sources, and cost the
//! verifier what they cost when they were reviewed.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use lasthop_ebpf::verified_instructions;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// objects/manifest.json, written by build-objects.sh.
#[derive(Debug, PartialEq, Deserialize)]
struct Manifest {
    compiler: String,
    sources: String,
    objects: BTreeMap<String, String>,
}

/// objects/verifier.json.
#[derive(Serialize, Deserialize)]
struct Costs {
    kernel: String,
    /// Instructions walked through, by `object/program`.
    verified_instructions: BTreeMap<String, u32>,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn manifest(folder: &Path) -> Manifest {
    let text = std::fs::read(folder.join("manifest.json")).expect("manifest.json");
    serde_json::from_slice(&text).expect("a manifest")
}

/// The hash build-objects.sh puts into every object: each file of bpf/, in the
/// order of their names, as its name, a newline and its content.
fn source_hash() -> String {
    let files = std::fs::read_dir(folder("bpf")).expect("bpf/");
    let mut files: Vec<_> = files.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let mut text = Vec::new();
    for file in files {
        text.extend_from_slice(file.file_name().expect("a name").as_encoded_bytes());
        text.push(b'\n');
        text.extend(std::fs::read(&file).expect("a source"));
    }
    hex(&text)
}

#[test]
fn objects_are_built_from_these_sources() {
    let manifest = manifest(&folder("objects"));
    let sources = source_hash();
    assert_eq!(manifest.sources, sources, "bpf/ has changed: run make bpf");
    assert_eq!(manifest.objects.len(), 3);
    let mark = format!("lasthop-source-sha256={sources}");
    for (name, hash) in &manifest.objects {
        let object = std::fs::read(folder("objects").join(name)).expect("the object");
        assert_eq!(
            hash,
            &hex(&object),
            "{name} is not the object build-objects.sh wrote"
        );
        assert!(
            object.windows(mark.len()).any(|window| window == mark.as_bytes()),
            "{name} was built from other sources: run make bpf"
        );
    }
}

#[test]
fn the_same_compiler_builds_the_same_objects() {
    let test = "the_same_compiler_builds_the_same_objects";
    let committed = manifest(&folder("objects"));
    let found = [
        "clang", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16",
    ]
    .into_iter()
    .find(|clang| {
        let output = Command::new(clang).arg("--version").output();
        output.is_ok_and(|output| output.stdout.starts_with(committed.compiler.as_bytes()))
    });
    let Some(clang) = found else {
        support::skip(test, &format!("needs {}", committed.compiler));
        return;
    };
    let strip = clang.replace("clang", "llvm-strip");
    let scratch = std::env::temp_dir().join(format!("lasthop-objects-{}", std::process::id()));
    let output = Command::new(folder("build-objects.sh"))
        .arg(&scratch)
        .envs([("CLANG", clang), ("LLVM_STRIP", &strip)])
        .output()
        .expect("build-objects.sh runs");
    let built = output.status.success().then(|| manifest(&scratch));
    let _ = std::fs::remove_dir_all(&scratch);
    assert_eq!(
        built,
        Some(committed),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_verifier_walks_as_far_as_recorded() {
    let test = "the_verifier_walks_as_far_as_recorded";
    if support::skipped(test) {
        return;
    }
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .expect("osrelease")
        .trim()
        .to_owned();
    let costs = verified_instructions().expect("every object loads");
    let now = Costs {
        kernel,
        verified_instructions: costs
            .into_iter()
            .map(|cost| {
                (
                    format!("{}/{}", cost.object, cost.program),
                    cost.verified_instructions,
                )
            })
            .collect(),
    };
    let file = folder("objects").join("verifier.json");
    if std::env::var_os("LASTHOP_BLESS").is_some() {
        let text = serde_json::to_string_pretty(&now).expect("JSON") + "\n";
        std::fs::write(&file, text).expect("objects/verifier.json can be written");
    }
    let text = std::fs::read(&file).expect("objects/verifier.json");
    let recorded: Costs = serde_json::from_slice(&text).expect("recorded costs");
    if recorded.kernel == now.kernel {
        assert_eq!(
            now.verified_instructions, recorded.verified_instructions,
            "if meant, record it: run this test with LASTHOP_BLESS=1"
        );
    } else {
        // Another verifier walks other paths; what must hold is the order of magnitude.
        support::skip(
            test,
            &format!(
                "exact comparison needs kernel {}; compared within 4x",
                recorded.kernel
            ),
        );
        assert!(
            recorded
                .verified_instructions
                .keys()
                .eq(now.verified_instructions.keys())
        );
        for (program, recorded) in &recorded.verified_instructions {
            let now = now.verified_instructions[program];
            assert!(
                now <= recorded * 4,
                "{program}: {now} instructions, {recorded} recorded"
            );
        }
    }
}

#[test]
fn the_probe_finds_everything_here_or_says_what_is_missing() {
    let features = lasthop_ebpf::probe();
    let names: Vec<_> = features.iter().map(|feature| feature.name).collect();
    assert_eq!(names, ["btf", "divack", "tcx", "clsact", "per-ack", "tcp-trace"]);
    assert!(features.iter().all(|feature| !feature.reason.is_empty()));
    if !support::skipped("the_probe_finds_everything_here_or_says_what_is_missing") {
        let missing: Vec<_> = features.iter().filter(|feature| !feature.available).collect();
        // What the tests of the programs themselves need.
        assert!(missing.iter().all(|feature| feature.name == "tcx"), "{missing:?}");
    }
}
