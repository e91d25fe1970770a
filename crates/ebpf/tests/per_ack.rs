//! The congestion control that counts ACKs: how its window answers divided
//! ACKs, beside the kernel's own that does not; recovery; its registration.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use lasthop_ebpf::{Growth, PerAck};
use support::client::{INITIAL, MSS, Server};

/// The kernel's congestion state after a loss is noticed.
const RECOVERY: u8 = 3;

/// The congestion controls the kernel lists.
fn available() -> Vec<String> {
    let list = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    list.expect("the kernel's list")
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// The window after the first round trip, each of whose segments is
/// acknowledged by `n` divacks and a full ACK.
fn window_after_one_round(congestion_control: &str, n: u32) -> u32 {
    let server = Server::new();
    let connection = server.sending(congestion_control);
    assert_eq!(connection.cwnd(), INITIAL);
    connection.ack_divided(0..INITIAL, n);
    connection.cwnd()
}

#[test]
fn slow_start_grows_by_n_plus_one_per_segment() {
    if support::skipped("slow_start_grows_by_n_plus_one_per_segment") {
        return;
    }
    let per_ack = PerAck::register(Growth::Always).expect("register");
    for n in [0, 1, 4, 64] {
        assert_eq!(
            window_after_one_round(per_ack.name(), n),
            INITIAL + INITIAL * (n + 1),
            "n = {n}"
        );
        assert_eq!(
            window_after_one_round("reno", n),
            2 * INITIAL,
            "the kernel counts segments; n = {n}"
        );
    }
}

#[test]
fn it_repeats_in_the_second_round() {
    if support::skipped("it_repeats_in_the_second_round") {
        return;
    }
    let per_ack = PerAck::register(Growth::Always).expect("register");
    let server = Server::new();
    let connection = server.sending(per_ack.name());
    connection.ack_divided(0..INITIAL, 2);
    assert_eq!(connection.cwnd(), 40);
    connection.await_data(50 * MSS);
    connection.ack_divided(INITIAL..50, 2);
    assert_eq!(connection.cwnd(), 40 + 40 * 3, "a factor of n + 2 per round trip");
}

#[test]
fn duplicates_and_window_updates_do_not_grow_it() {
    if support::skipped("duplicates_and_window_updates_do_not_grow_it") {
        return;
    }
    let per_ack = PerAck::register(Growth::Always).expect("register");
    let server = Server::new();
    let connection = server.sending(per_ack.name());
    connection.ack(MSS);
    connection.ack(MSS);
    connection.ack(500);
    assert_eq!(connection.cwnd(), INITIAL + 1);
}

#[test]
fn only_a_sender_held_back_by_its_window_grows_when_so_asked() {
    if support::skipped("only_a_sender_held_back_by_its_window_grows_when_so_asked") {
        return;
    }
    for (growth, expected) in [(Growth::Always, INITIAL + 3 * 5), (Growth::WhenLimited, INITIAL)] {
        let per_ack = PerAck::register(growth).expect("register");
        let server = Server::new();
        let mut connection = server.connect(40_000, per_ack.name());
        // Far less than the window allows.
        connection.write(3 * MSS as usize);
        connection.await_data(3 * MSS);
        connection.ack_divided(0..3, 4);
        assert_eq!(connection.cwnd(), expected, "{growth:?}");
    }
    let per_ack = PerAck::register(Growth::WhenLimited).expect("register");
    assert_eq!(
        window_after_one_round(per_ack.name(), 4),
        INITIAL + INITIAL * 5,
        "held back by its window"
    );
}

#[test]
fn recovery_is_the_kernels_and_avoidance_counts_acks() {
    if support::skipped("recovery_is_the_kernels_and_avoidance_counts_acks") {
        return;
    }
    let per_ack = PerAck::register(Growth::Always).expect("register");
    let server = Server::new();
    let connection = server.sending(per_ack.name());
    connection.lose_first();
    let info = connection.info();
    assert_eq!(
        (info.tcpi_ca_state, info.tcpi_snd_ssthresh),
        (RECOVERY, INITIAL / 2)
    );
    // Everything of the first round arrives, the retransmission too.
    connection.ack(INITIAL * MSS);
    let info = connection.info();
    assert_eq!(
        (info.tcpi_ca_state, info.tcpi_snd_cwnd),
        (0, INITIAL / 2),
        "recovery ends at ssthresh"
    );
    // The rounds after it, one byte per ACK: 1/cwnd each.
    for ack in 1..=5 {
        assert_eq!(connection.cwnd(), 5);
        connection.ack(INITIAL * MSS + ack);
    }
    for ack in 6..=11 {
        assert_eq!(connection.cwnd(), 6);
        connection.ack(INITIAL * MSS + ack);
    }
    assert_eq!(connection.cwnd(), 7);
}

#[test]
fn registrations_have_names_of_their_own_and_go_with_their_handle() {
    if support::skipped("registrations_have_names_of_their_own_and_go_with_their_handle") {
        return;
    }
    let one = PerAck::register(Growth::Always).expect("register");
    let two = PerAck::register(Growth::WhenLimited).expect("register");
    let names = [one.name().to_owned(), two.name().to_owned()];
    assert_ne!(names[0], names[1]);
    assert!(
        names
            .iter()
            .all(|name| name.len() < 16 && available().contains(name))
    );
    drop(one);
    assert!(goes(&names[0]) && available().contains(&names[1]));
    drop(two);
    assert!(goes(&names[1]));
}

/// Whether a name goes from the list soon: the kernel removes a congestion
/// control after a grace period of its own.
fn goes(name: &String) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        !available().contains(name)
    })
}

/// Not a test of its own: the process that the next one kills.
#[test]
#[ignore = "run by a_killed_process_leaves_no_registration"]
fn hold_a_registration() {
    let per_ack = PerAck::register(Growth::Always).expect("register");
    eprintln!("registered {}", per_ack.name());
    loop {
        std::thread::park();
    }
}

#[test]
fn a_killed_process_leaves_no_registration() {
    if support::skipped("a_killed_process_leaves_no_registration") {
        return;
    }
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "hold_a_registration", "--ignored", "--nocapture"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a second process");
    let lines = BufReader::new(child.stderr.take().expect("its output")).lines();
    let name = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("registered ").map(str::to_owned))
        .expect("the name");
    assert!(available().contains(&name));
    child.kill().expect("SIGKILL");
    child.wait().expect("its end");
    // The kernel lets go of a dead process's descriptors soon, not at once.
    let gone = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !available().contains(&name)
    });
    assert!(gone, "{name} is still registered");
}
