//! Prints what this machine can run.

#[allow(clippy::print_stdout)]
fn main() -> Result<(), lasthop_kernel::Error> {
    if let Some(status) = lasthop_kernel::ensure_privileges()? {
        std::process::exit(status);
    }
    for finding in lasthop_kernel::doctor() {
        let mark = if finding.available { "ok  " } else { "LACK" };
        println!("{mark} {:22} {} {}", finding.name, finding.detail, finding.remedy);
    }
    Ok(())
}
