//! Runs a command between two hosts on one wire, for measuring the engine:
//! `wire DELAY RATE MODE SECONDS SERVER-COMMAND -- CLIENT-COMMAND`
//! (RATE may be `none`; MODE is `packets`, `split` (bursts are read) or `join`
//! (bursts are read and written)). `{server}` stands for the server's address.

use std::error::Error;
use std::time::Duration;

use lasthop_kernel::{
    Addresses, Clock, DelayLine, Driver, Host, HostSettings, Keeper, Program, RouteSettings, RunDir, Settings,
};
use lasthop_path::{LinkConfig, QueueLimit, WiredConfig};
use lasthop_units::{parse_rate, parse_span};

fn host(name: &str, addresses: Addresses, offload: bool) -> HostSettings {
    HostSettings {
        name: name.into(),
        addresses,
        mtu: 1500,
        offload,
        route: RouteSettings::default(),
        sysctls: Vec::new(),
    }
}

fn program(words: &[String], server: Addresses) -> Program {
    let fill = |word: &String| {
        word.replace("{server}", &server.v4.to_string())
            .replace("{server6}", &server.v6.to_string())
    };
    Program {
        command: words.iter().map(|word| fill(word).into()).collect(),
        variables: Vec::new(),
        terminal: false,
    }
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [delay, rate, mode, rest @ ..] = words.as_slice() else {
        return Err("see the source for usage".into());
    };
    let middle = rest.iter().position(|word| word == "--").ok_or("-- is missing")?;
    let link = LinkConfig {
        delay: parse_span(delay)?,
        rate: if rate == "none" {
            None
        } else {
            Some(parse_rate(rate)?)
        },
        queue: if rate == "none" {
            QueueLimit::Unlimited
        } else {
            QueueLimit::Packets(100)
        },
        ..LinkConfig::default()
    };
    let run = RunDir::create()?;
    let (offload, join) = (mode != "packets", mode == "join");
    let (server_at, client_at) = (Addresses::of(0, 0), Addresses::of(1, 0));
    let (server, server_tun) = Host::build(host("server", server_at, offload))?;
    let (client, client_tun) = Host::build(host("client", client_at, offload))?;
    let keeper = Keeper::start(&run, [&server, &client].into_iter(), None)?;
    let wire = WiredConfig {
        downlink: link.clone(),
        uplink: link,
    };
    let settings = Settings {
        join,
        ..Settings::default()
    };
    let driver = Driver::start(
        DelayLine::new(&wire, 1),
        vec![server_tun, client_tun],
        Clock::start(),
        settings,
    )?;
    let mut background = None;
    if middle > 0 {
        background = Some(keeper.spawn(&server, program(&rest[..middle], server_at))?);
        std::thread::sleep(Duration::from_millis(300));
    }
    let output = keeper
        .spawn(&client, program(&rest[middle + 1..], server_at))?
        .wait_with_output()?;
    print!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    if let Some(mut child) = background {
        child.kill()?;
        child.wait()?;
    }
    let (line, report) = driver.stop()?;
    println!("{report:?}\ndropped {:?}", line.dropped());
    Ok(())
}
