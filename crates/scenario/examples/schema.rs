//! Prints the JSON Schema of scenario files, or with `catalog` the list of
//! mechanisms, or with `tables` the reference's tables.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let text = match std::env::args().nth(1).as_deref() {
        Some("catalog") => serde_json::to_string_pretty(&lasthop_scenario::catalog())?,
        Some("tables") => lasthop_scenario::reference_tables(),
        _ => serde_json::to_string_pretty(&lasthop_scenario::schema())?,
    };
    writeln!(std::io::stdout(), "{text}")
}
