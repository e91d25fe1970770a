//! Every example loads, and means what its comments say.

use std::fs;
use std::path::PathBuf;

use lasthop_path::{ErrorModel, QueueLimit};
use lasthop_scenario::spec::{ElementKind, Sampling, Via, WorkloadKind};
use lasthop_scenario::{LoadOptions, Plan, ScenarioErrors, load};
use lasthop_tcp::{DelayedAck, ReceiveBuffer, Recovery};
use lasthop_units::{BitRate, Direction, Span};

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/examples")
}

fn options(sets: &[(&str, &str)]) -> LoadOptions {
    let sets = sets
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    LoadOptions { sets, seeds: None }
}

fn example(name: &str, sets: &[(&str, &str)]) -> Result<Plan, ScenarioErrors> {
    let text = fs::read_to_string(examples().join(name)).expect("the example exists");
    load(&text, name, &options(sets))
}

fn loaded(name: &str, sets: &[(&str, &str)]) -> Plan {
    example(name, sets).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_example_loads() {
    let mut names: Vec<PathBuf> = fs::read_dir(examples())
        .expect("there is a folder of examples")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 2);
    for path in names {
        let text = fs::read_to_string(&path).expect("a readable file");
        let file = path.file_name().expect("a name").to_string_lossy();
        let plan = load(&text, &file, &LoadOptions::default()).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(!plan.variants.is_empty() && !plan.seeds.is_empty());
        assert_eq!(
            Some(plan.name.as_str()),
            path.file_stem().and_then(|stem| stem.to_str())
        );
    }
}

#[test]
fn the_dumbbell_is_the_reference_simulators() {
    let plan = loaded("dumbbell.toml", &[]);
    assert_eq!(plan.variants.len(), 1);
    assert_eq!(plan.variants[0].name, "base");
    let world = &plan.variants[0].world;
    assert_eq!(world.duration, Span::from_secs(100));
    assert_eq!(world.record.samples, Sampling::EveryAck);
    let ElementKind::Wired(bottleneck) = &world.path[1].kind else {
        panic!("a wire")
    };
    assert_eq!(bottleneck.downlink.rate, Some(BitRate::from_bps(10_000_000)));
    assert_eq!(bottleneck.downlink.delay, Span::from_ms(50));
    assert_eq!(bottleneck.downlink.queue, QueueLimit::Packets(100));
    assert_eq!(bottleneck.uplink.queue, QueueLimit::Unlimited);
    assert!(bottleneck.downlink.errors.is_empty() && bottleneck.uplink.errors.is_empty());
    let server = &world.hosts[0];
    assert_eq!((server.name.as_str(), server.tcp.smss), ("server", 1000));
    assert_eq!(server.tcp.recovery, Recovery::Sack);
    assert_eq!(
        world.hosts[1].tcp.receive_buffer,
        ReceiveBuffer::Fixed { bytes: 10_000_000 }
    );
    assert_eq!(world.hosts[1].tcp.delayed_ack, DelayedAck::Off);
}

#[test]
fn losses_are_set_from_outside() {
    let sets = [
        ("loss", "0.01"),
        ("ack_loss", "0.02"),
        ("gilbert", "0.01,0.3"),
        ("drops", "20,21"),
    ];
    let plan = loaded("dumbbell.toml", &sets);
    let ElementKind::Wired(bottleneck) = &plan.variants[0].world.path[1].kind else {
        panic!("a wire")
    };
    assert_eq!(bottleneck.downlink.errors.len(), 4);
    assert_eq!(
        bottleneck.downlink.errors[0],
        ErrorModel::PerPacket { probability: 0.01 }
    );
    let gilbert = ErrorModel::GilbertElliott {
        p_good_to_bad: 0.01,
        p_bad_to_good: 0.3,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    assert_eq!(bottleneck.downlink.errors[2], gilbert);
    assert_eq!(
        bottleneck.downlink.errors[3],
        ErrorModel::DropList {
            packets: vec![20, 21]
        }
    );
    assert_eq!(
        bottleneck.uplink.errors[1],
        ErrorModel::PerPacket { probability: 0.02 }
    );
}

#[test]
fn an_error_model_keeps_its_place_whatever_the_others_are() {
    // Models draw from streams numbered by place: switching uniform loss on
    // must not change what the burst model draws.
    for loss in ["0.0", "0.01"] {
        let plan = loaded("dumbbell.toml", &[("loss", loss), ("gilbert", "0.01,0.3")]);
        let ElementKind::Wired(bottleneck) = &plan.variants[0].world.path[1].kind else {
            panic!("a wire")
        };
        assert_eq!(bottleneck.downlink.errors[2].name(), "gilbert-elliott");
    }
}

#[test]
fn every_sender_and_personality_can_be_chosen() {
    let senders = "tahoe,reno,newreno,sack,cubic,vegas,westwood,veno";
    let plan = loaded("dumbbell.toml", &[("sender", senders)]);
    let names: Vec<&str> = plan
        .variants
        .iter()
        .map(|variant| variant.name.as_str())
        .collect();
    assert_eq!(names[0], "sender=tahoe");
    assert_eq!(names.len(), 8);
    assert_eq!(plan.variants[4].world.hosts[0].tcp.congestion.name(), "cubic");
    for personality in lasthop_tcp::Personality::names() {
        let plan = loaded(
            "dumbbell.toml",
            &[("personality", personality), ("delayed_ack", "true")],
        );
        let client = &plan.variants[0].world.hosts[1];
        assert_eq!(
            (client.personality.as_str(), client.tcp.smss),
            (personality, 1000)
        );
        assert_ne!(client.tcp.delayed_ack, DelayedAck::Off);
    }
}

#[test]
fn two_lists_make_all_combinations() {
    let plan = loaded("dumbbell.toml", &[("sender", "reno,sack"), ("loss", "0.0,0.01")]);
    let names: Vec<&str> = plan
        .variants
        .iter()
        .map(|variant| variant.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "sender=reno,loss=0",
            "sender=reno,loss=0.01",
            "sender=sack,loss=0",
            "sender=sack,loss=0.01"
        ]
    );
}

#[test]
fn the_cell_runs_the_workload_asked_for() {
    let plan = loaded("wlan.toml", &[("stations", "5")]);
    let world = &plan.variants[0].world;
    assert_eq!(world.hosts[1].count, 5);
    assert_eq!(world.workloads.len(), 1);
    assert!(matches!(
        world.workloads[0].kind,
        WorkloadKind::Udp {
            rate: None,
            payload_bytes: 1470
        }
    ));
    let plan = loaded(
        "wlan.toml",
        &[("workload", "tcp"), ("direction", "downlink"), ("standard", "b")],
    );
    let world = &plan.variants[0].world;
    assert!(matches!(
        world.workloads[0].kind,
        WorkloadKind::Bulk {
            bytes: None,
            sender_opens: true,
            ..
        }
    ));
    assert_eq!(world.workloads[0].direction, Direction::Downlink);
    let ElementKind::Wifi(wifi) = &world.path[1].kind else {
        panic!("a radio")
    };
    assert_eq!(wifi.data_rate, BitRate::from_bps(11_000_000));
}

#[test]
fn seeds_can_be_asked_for() {
    let text = fs::read_to_string(examples().join("wlan.toml")).expect("the example exists");
    let plan = load(
        &text,
        "wlan.toml",
        &LoadOptions {
            sets: Vec::new(),
            seeds: Some(3),
        },
    );
    assert_eq!(plan.expect("a plan").seeds, [1, 2, 3]);
}

#[test]
fn a_wrong_override_names_the_parameter_and_what_is_allowed() {
    let refused = |name, value| {
        example("dumbbell.toml", &[(name, value)])
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused("sendr", "reno").lines().next(),
        Some(
            "error: --set sendr=reno: unknown parameter \"sendr\"; allowed: sender, personality, flows, queue, \
             window, loss, ack_loss, gilbert, drops, delayed_ack, duration, stagger, bytes, rate, delay, \
             payload, samples, packets; did you mean \"sender\"?"
        )
    );
    assert_eq!(
        refused("sender", "newrno").trim_end(),
        "error: --set sender=newrno: parameter \"sender\": unknown value \"newrno\"; allowed: tahoe, reno, \
         newreno, sack, cubic, vegas, westwood, veno; did you mean \"newreno\"?"
    );
    assert_eq!(
        refused("loss", "1.5").trim_end(),
        "error: --set loss=1.5: parameter \"loss\": 1.5 is too large; at most 1 is allowed"
    );
    assert_eq!(
        refused("window", "many").trim_end(),
        "error: --set window=many: parameter \"window\": expected a whole number of segments, found \"many\""
    );
    assert_eq!(
        refused("duration", "20").trim_end(),
        "error: --set duration=20: parameter \"duration\": expected a time such as \"250 ms\" \
         (ns, us, ms, s, min, h), found \"20\""
    );
}

/// The part of the reference below this line is generated.
const MARKER: &str = "<!-- generated from the table of keys; do not edit below -->\n";

#[test]
fn the_reference_lists_every_key() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.md");
    let text = fs::read_to_string(&path).expect("the reference");
    let (written, generated) = text.split_once(MARKER).expect("the marker");
    let tables = lasthop_scenario::reference_tables();
    if std::env::var_os("LASTHOP_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{written}{MARKER}{tables}")).expect("a writable reference");
    } else {
        assert!(
            generated == tables,
            "run this test with LASTHOP_UPDATE_DOCS=1 to renew docs/scenario.md"
        );
    }
}

#[test]
fn the_example_in_the_reference_loads() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.md");
    let text = fs::read_to_string(&path).expect("the reference");
    let start = text.find("```toml\n").expect("an example") + 8;
    let end = start + text[start..].find("```").expect("its end");
    let plan = load(&text[start..end], "example.toml", &LoadOptions::default());
    let plan = plan.unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(plan.variants.len(), 2);
    assert_eq!(plan.variants[0].world.handovers.len(), 1);
}

#[test]
fn a_parameter_keeps_an_item_or_leaves_it_out() {
    let plan = loaded("web.toml", &[]);
    let workloads: Vec<usize> = plan
        .variants
        .iter()
        .map(|variant| variant.world.workloads.len())
        .collect();
    assert_eq!(workloads, [1, 2, 2]);
    assert_eq!(plan.variants[1].world.workloads[1].direction, Direction::Downlink);
    assert_eq!(plan.variants[2].world.workloads[1].direction, Direction::Uplink);
}

#[test]
fn a_variants_parameters_given_back_make_the_same_world() {
    for name in ["dumbbell.toml", "wlan.toml", "roam.toml", "web.toml"] {
        let sets: &[(&str, &str)] = match name {
            "dumbbell.toml" => &[("drops", "20,21"), ("gilbert", "1e-3,0.25"), ("loss", "0.0,1e-7")],
            "wlan.toml" => &[("workload", "udp,tcp"), ("delay", "1 ms,0.005 s")],
            _ => &[],
        };
        for variant in loaded(name, sets).variants {
            let back: Vec<(&str, &str)> = variant
                .parameters
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            let again = loaded(name, &back);
            assert_eq!(again.variants.len(), 1);
            assert_eq!(again.variants[0].name, "base");
            assert_eq!(again.variants[0].parameters, variant.parameters);
            assert_eq!(
                format!("{:?}", again.variants[0].world),
                format!("{:?}", variant.world)
            );
        }
    }
}

#[test]
fn a_congestion_control_takes_its_parameters() {
    let text = |control: &str| {
        format!(
            "duration = \"1 s\"\n[hosts.server]\nsender = \"sack\"\ncongestion_control = {control}\n[hosts.client]\n\
             [[path]]\ntype = \"wired\"\nname = \"wire\"\n[[workloads]]\ntype = \"bulk\"\n"
        )
    };
    let control = |control: &str| {
        let plan = load(&text(control), "x.toml", &LoadOptions::default());
        plan.unwrap_or_else(|errors| panic!("{errors}")).variants[0]
            .world
            .hosts[0]
            .tcp
            .congestion
    };
    assert_eq!(control("\"cubic\""), lasthop_tcp::CongestionConfig::cubic());
    let lasthop_tcp::CongestionConfig::Cubic(cubic) =
        control("{ type = \"cubic\", beta = 0.8, hystart = false }")
    else {
        panic!("CUBIC")
    };
    assert_eq!(
        (cubic.beta_permille, cubic.c_permille, cubic.hystart),
        (800, 400, false)
    );
}

#[test]
fn where_an_agent_runs_can_be_a_parameter() {
    let text = r#"
        duration = "1 s"
        [parameters]
        via = { default = "userspace", help = "Where divacks run." }
        [hosts.server]
        [hosts.client]
        [[path]]
        name = "wire"
        type = "wired"
        rate = "10 Mbit/s"
        delay = "10 ms"
        [[agents]]
        type = "divacks"
        at = "client"
        via = "$via"
        [[agents]]
        type = "divacks"
        at = "client"
        [[workloads]]
        type = "bulk"
        bytes = "1 MB"
        [vary]
        via = ["userspace", "ebpf"]
    "#;
    let plan = load(text, "via.toml", &options(&[])).unwrap_or_else(|errors| panic!("{errors}"));
    let ways = |variant: usize| -> Vec<Option<Via>> {
        let agents = &plan.variants[variant].world.agents;
        agents.iter().map(|agent| agent.via).collect()
    };
    assert_eq!(ways(0), [Some(Via::Userspace), None]);
    assert_eq!(ways(1), [Some(Via::Ebpf), None]);
}
