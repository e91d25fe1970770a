//! Prints what this machine can run: `cargo run -p lasthop-ebpf --example probe`.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for feature in lasthop_ebpf::probe() {
        let mark = if feature.available { "yes" } else { "no" };
        writeln!(out, "{:<10} {mark:<4} {}", feature.name, feature.reason)?;
    }
    Ok(())
}
