//! Runs a scenario's variants on the real stack and in the simulator, and
//! prints the flows side by side: `cell SCENARIO [--ebpf] [name=value …]`.

use std::error::Error;

use lasthop_kernel::{Options, run_cell};
use lasthop_record::CellRecord;
use lasthop_scenario::{LoadOptions, load};

fn known(count: Option<u64>) -> String {
    count.map_or_else(|| "–".to_owned(), |count| count.to_string())
}

#[allow(clippy::print_stdout)]
fn show(engine: &str, variant: &str, seed: u64, record: &CellRecord) {
    for row in &record.flows {
        println!(
            "{engine:6} {variant:24} seed {seed} flow {} time {:.4} s goodput {:.3} Mbit/s data {} rtx {} fast {} rto {} acks {} divided {}",
            row.flow,
            row.transfer_time_s(),
            row.goodput_bps() / 1e6,
            known(row.data_packets),
            known(row.retransmissions),
            known(row.fast_retransmits),
            known(row.timeouts),
            known(row.acks_sent),
            row.divided_acks,
        );
    }
    println!(
        "       samples {} packets {} events {:?}",
        record.samples.len(),
        record.packets.len(),
        record
            .events
            .iter()
            .map(|e| (e.kind, e.t.as_secs_f64()))
            .take(12)
            .collect::<Vec<_>>()
    );
    println!("       {:?}", record.totals);
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let file = words.next().ok_or("name a scenario file")?;
    let mut load_options = LoadOptions::default();
    let mut options = Options::default();
    for word in words {
        match word.split_once('=') {
            Some((name, value)) => load_options.sets.push((name.into(), value.into())),
            None if word == "--ebpf" => options.ebpf = true,
            None => return Err(format!("what is {word}?").into()),
        }
    }
    let plan = load(&std::fs::read_to_string(&file)?, &file, &load_options)
        .map_err(|errors| format!("{errors:?}"))?;
    for variant in &plan.variants {
        for &seed in plan.seeds.iter().take(2) {
            show("kernel", &variant.name, seed, &run_cell(variant, seed, &options)?);
            show("sim", &variant.name, seed, &lasthop_sim::run_cell(variant, seed)?);
        }
    }
    Ok(())
}
