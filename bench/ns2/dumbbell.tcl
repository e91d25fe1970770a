# SACK senders over one bottleneck, without traces or monitors: what ns-2 needs
# for the bare work.
#   ns dumbbell.tcl FLOWS RATE DELAY QUEUE SECONDS
lassign $argv flows rate delay queue seconds

set ns [new Simulator]
ns-random 1

proc wire {a b rate delay forward backward} {
    global ns
    $ns duplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b $forward
    $ns queue-limit $b $a $backward
}

set left [$ns node]
set right [$ns node]
wire $left $right $rate $delay $queue 100000

set senders {}
for {set flow 0} {$flow < $flows} {incr flow} {
    set server [$ns node]
    set client [$ns node]
    wire $server $left 100Mb 1ms 1000000 1000000
    wire $right $client 100Mb 1ms 1000000 1000000

    set sender [new Agent/TCP/Sack1]
    $sender set window_ 10000
    $sender set packetSize_ 1000
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $server $sender
    $ns attach-agent $client $sink
    $ns connect $sender $sink

    set source [new Application/FTP]
    $source attach-agent $sender
    $ns at [expr {0.01 * $flow}] "$source start"
    lappend senders $sender
}

proc report {} {
    global senders seconds
    set acked 0
    set sent 0
    foreach sender $senders {
        incr acked [$sender set ack_]
        incr sent [$sender set ndatapack_]
    }
    puts "packets $sent goodput_bps [expr {$acked * 8000.0 / $seconds}]"
    exit 0
}
$ns at $seconds report
$ns run
