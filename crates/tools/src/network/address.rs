//! Which addresses are the public internet's.
//!
//! An allow list for IPv6 (global unicast, less what is set aside) and the registered special blocks for IPv4, plus the
//! addresses at which clouds tell secrets to their machines. Invariant: what is doubtful isn't public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address isn't reached, or nothing when it is a public one.
pub(crate) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => blocked_v4(address),
        IpAddr::V6(address) => blocked_v6(address),
    }
}

/// First address, length of the prefix, what it is.
const BLOCKED_V4: [(Ipv4Addr, u32, &str); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private network"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "a carrier's network"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "this machine"),
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a cloud's machine data"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local or a cloud's machine data"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private network"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "set aside"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "set aside"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private network"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "a test network"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "set aside or broadcast"),
];

/// Set aside inside global unicast.
const BLOCKED_V6: [(Ipv6Addr, u32, &str); 4] = [
    // Also tunnels that carry an IPv4 address.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "set aside or a tunnel"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "a tunnel"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
];

fn blocked_v4(address: Ipv4Addr) -> Option<&'static str> {
    let inside = |(block, length, _): &&(Ipv4Addr, u32, _)| {
        (address.to_bits() ^ block.to_bits()).leading_zeros() >= *length
    };
    BLOCKED_V4.iter().find(inside).map(|(_, _, what)| *what)
}

fn blocked_v6(address: Ipv6Addr) -> Option<&'static str> {
    if address.to_ipv4_mapped().is_some() {
        return Some("an IPv4 address in disguise");
    }
    const GLOBAL: u128 = 0b001;
    if address.to_bits() >> 125 != GLOBAL {
        return Some("not a public IPv6 address");
    }
    let inside = |(block, length, _): &&(Ipv6Addr, u32, _)| {
        (address.to_bits() ^ block.to_bits()).leading_zeros() >= *length
    };
    BLOCKED_V6.iter().find(inside).map(|(_, _, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a51_only_public_addresses_are_reached() {
        let check = |address: &str, public: bool| {
            assert_eq!(not_public(address.parse().unwrap()).is_none(), public, "{address}");
        };
        for public in [
            "1.1.1.1",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "169.253.255.255",
            "198.17.255.255",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001:80e::200e",
            "2001:4860:4860::8888",
        ] {
            check(public, true);
        }
        for own in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.251",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b:1::a00:1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::fb",
        ] {
            check(own, false);
        }
    }
}
