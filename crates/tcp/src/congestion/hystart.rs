//! HyStart (RFC 9406); being written.
