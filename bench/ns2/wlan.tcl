# One SACK download over 802.11g at 54 Mbit/s, delayed ACKs: server - gateway -
# access point ~ station, without traces.
#   ns wlan.tcl DELAY SECONDS
lassign $argv delay seconds

# 802.11g without 802.11b stations near: OFDM with the short slot, and 6 us of
# signal extension after each frame, which ns-2 can only express in SIFS.
Mac/802_11 set CWMin_ 15
Mac/802_11 set CWMax_ 1023
Mac/802_11 set SlotTime_ 0.000009
Mac/802_11 set SIFS_ 0.000016
# Preamble and header last 20 us; ns-2 gives them as bits at PLCPDataRate_.
Mac/802_11 set PreambleLength_ 96
Mac/802_11 set PLCPHeaderLength_ 24
Mac/802_11 set PLCPDataRate_ 6.0e6
Mac/802_11 set dataRate_ 54.0e6
Mac/802_11 set basicRate_ 24.0e6
# RTS for frames longer than this: never.
Mac/802_11 set RTSThreshold_ 10000

set ns [new Simulator]
ns-random 1
# Wireless nodes insist on a trace file; nothing is written to it.
$ns trace-all [open /dev/null w]
$ns node-config -addressType hierarchical
AddrParams set domain_num_ 2
AddrParams set cluster_num_ {1 1}
AddrParams set nodes_num_ {2 2}

set topography [new Topography]
$topography load_flatgrid 100 100
create-god 2

set server [$ns node 0.0.0]
set gateway [$ns node 0.0.1]

$ns node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail/PriQueue -ifqLen 1000 -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topography -wiredRouting ON \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
set point [$ns node 1.0.0]
$point random-motion 0
$ns node-config -wiredRouting OFF
set station [$ns node 1.0.1]
$station random-motion 0
$station base-station [AddrParams addr2id [$point node-addr]]
foreach {node x} [list $point 10 $station 15] {
    $node set X_ $x
    $node set Y_ 10
    $node set Z_ 0
}

# Wires would trace each packet.
$ns set traceAllFile_ ""
$ns duplex-link $server $gateway 1000Mb 0.1ms DropTail
$ns duplex-link $gateway $point 1000Mb $delay DropTail
foreach {a b} [list $server $gateway $gateway $server $gateway $point $point $gateway] {
    $ns queue-limit $a $b 100000
}

set sender [new Agent/TCP/Sack1]
$sender set window_ 200
$sender set packetSize_ 1448
set sink [new Agent/TCPSink/Sack1/DelAck]
$ns attach-agent $server $sender
$ns attach-agent $station $sink
$ns connect $sender $sink
set source [new Application/FTP]
$source attach-agent $sender
$ns at 0.0 "$source start"

proc report {} {
    global sender seconds
    puts "packets [$sender set ndatapack_] goodput_bps [expr {[$sender set ack_] * 1448 * 8.0 / $seconds}]"
    exit 0
}
$ns at $seconds report
$ns run
