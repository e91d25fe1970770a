//! A command in a scenario's client: `shell SCENARIO HOST [COMMAND …]`.

use std::error::Error;

use lasthop_kernel::{HttpServer, Options, Session, ensure_privileges, shell};
use lasthop_scenario::{LoadOptions, load};

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(status) = ensure_privileges()? {
        std::process::exit(status);
    }
    let mut words = std::env::args().skip(1);
    let (Some(file), Some(host)) = (words.next(), words.next()) else {
        return Err("shell SCENARIO HOST [COMMAND …]".into());
    };
    let plan = load(&std::fs::read_to_string(&file)?, &file, &LoadOptions::default())
        .map_err(|errors| format!("{errors:?}"))?;
    let world = plan
        .variants
        .iter()
        .map(|variant| &variant.world)
        .find(|world| lasthop_kernel::capability(world).is_ok())
        .ok_or("no variant can be played")?;
    let session = Session::open(world, 1, &Options::default())?;
    let server = HttpServer::start(&session, "server", 80, None)?;
    let status = shell(&session, &host, words.map(Into::into).collect(), |status| {
        eprintln!("{status:?}");
    })?;
    drop((server, session));
    std::process::exit(status);
}
