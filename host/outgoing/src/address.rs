//! Addresses that requests may go to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// A range of addresses: `10.1.0.0/16`, `fd00::/8`, or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpRange(IpNet);

/// The reason why a text is not a range of addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a range of addresses such as `127.0.0.0/8`, `fd00::/8` or `10.1.2.3`")]
pub struct IpRangeError(String);

impl FromStr for IpRange {
    type Err = IpRangeError;

    fn from_str(text: &str) -> Result<Self, IpRangeError> {
        let range = text.parse::<IpNet>().ok();
        let single = || text.parse::<IpAddr>().ok().map(IpNet::from);
        range
            .or_else(single)
            .map(|range| Self(range.trunc()))
            .ok_or_else(|| IpRangeError(text.to_owned()))
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The use of addresses that are forbidden unless an operator permits them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Loopback,
    LinkLocal,
    Multicast,
    Unspecified,
    Metadata,
    Reserved,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "a loopback address",
            Self::LinkLocal => "a link-local address",
            Self::Multicast => "a multicast address",
            Self::Unspecified => "an unspecified address",
            Self::Metadata => "the address of a cloud's metadata service",
            Self::Reserved => "a reserved address",
        })
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(segments: [u16; 8], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::from_segments(segments), length)
}

/// Forbidden IPv4 addresses, from IANA's registry of special-purpose addresses and the documentation of clouds. Private
/// addresses (RFC 1918) are permitted, because receivers are usually inside the same network.
const FORBIDDEN_V4: &[(Ipv4Net, Use)] = &[
    (v4(0, 0, 0, 0, 8), Use::Unspecified),
    (v4(127, 0, 0, 0, 8), Use::Loopback),
    // AWS, Azure, Google, OpenStack and others.
    (v4(169, 254, 169, 254, 32), Use::Metadata),
    (v4(169, 254, 0, 0, 16), Use::LinkLocal),
    // Alibaba.
    (v4(100, 100, 100, 200, 32), Use::Metadata),
    // Azure's host agent.
    (v4(168, 63, 129, 16, 32), Use::Metadata),
    // Oracle's former address.
    (v4(192, 0, 0, 192, 32), Use::Metadata),
    (v4(192, 0, 0, 0, 24), Use::Reserved),
    (v4(224, 0, 0, 0, 4), Use::Multicast),
    (v4(240, 0, 0, 0, 4), Use::Reserved),
];

/// Forbidden IPv6 addresses, from the same sources.
const FORBIDDEN_V6: &[(Ipv6Net, Use)] = &[
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), Use::Unspecified),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), Use::Loopback),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), Use::LinkLocal),
    // Site-local addresses, which RFC 3879 abolished.
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), Use::Reserved),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), Use::Multicast),
    // AWS.
    (
        v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128),
        Use::Metadata,
    ),
    // Google.
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), Use::Metadata),
    // Discard prefix.
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), Use::Reserved),
];

/// The reason why an address is forbidden; `None` if it is permitted. Also considers IPv4 addresses that are embedded
/// in an IPv6 address, because the network may translate them.
pub(crate) fn forbidden(address: IpAddr, permitted: &[IpRange]) -> Option<Use> {
    let is_permitted = |address: IpAddr| {
        permitted
            .iter()
            .any(|IpRange(range)| range.contains(&address))
    };
    if is_permitted(address) {
        return None;
    }
    match address {
        IpAddr::V4(address) => forbidden_v4(address),
        IpAddr::V6(address) => {
            let embedded = embedded(address);
            let own = forbidden_v6(address).filter(|_| embedded.iter().all(Option::is_none));
            own.or_else(|| {
                let embedded = embedded.into_iter().flatten();
                let mut refused = embedded.filter(|address| !is_permitted(IpAddr::V4(*address)));
                refused.find_map(forbidden_v4)
            })
        }
    }
}

fn forbidden_v4(address: Ipv4Addr) -> Option<Use> {
    let found = FORBIDDEN_V4.iter();
    let mut found = found.filter(|(range, _)| range.contains(&address));
    found.next().map(|(_, reason)| *reason)
}

fn forbidden_v6(address: Ipv6Addr) -> Option<Use> {
    let found = FORBIDDEN_V6.iter();
    let mut found = found.filter(|(range, _)| range.contains(&address));
    found.next().map(|(_, reason)| *reason)
}

/// The IPv4 addresses in an IPv6 address, by the forms of RFC 4291, 6052, 8215, 3056, 4380 and 5214.
fn embedded(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // `::` and `::1` are no IPv4 addresses.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => [None, None],
        // Compatible, mapped and translated addresses, the well-known prefix of NAT64, and ISATAP.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low]
        // 6to4.
        | [0x2002, high, low, ..] => [v4(high, low), None],
        // The local prefix of NAT64, which a network divides as it likes: the forms of /48 and /96.
        [0x64, 0xff9b, 1, high, middle, rest, last_high, last_low] => {
            let [_, third] = middle.to_be_bytes();
            let [fourth, _] = rest.to_be_bytes();
            let low = u16::from_be_bytes([third, fourth]);
            // The parts that a form does not use are zero.
            let as_48 = v4(high, low).filter(|address| !address.is_unspecified());
            let as_96 = v4(last_high, last_low).filter(|address| !address.is_unspecified());
            [as_48, as_96]
        }
        // Teredo: the server, and the client, whose bits are inverted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            [v4(server_high, server_low), v4(!high, !low)]
        }
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(address: &str, permitted: &[&str]) -> Option<Use> {
        let permitted: Vec<IpRange> = permitted.iter().map(|text| text.parse().unwrap()).collect();
        forbidden(address.parse().unwrap(), &permitted)
    }

    #[test]
    fn addresses_are_forbidden_by_their_use() {
        for (address, reason) in [
            ("127.0.0.1", Use::Loopback),
            ("127.255.255.254", Use::Loopback),
            ("0.0.0.0", Use::Unspecified),
            ("0.1.2.3", Use::Unspecified),
            ("169.254.169.254", Use::Metadata),
            ("169.254.0.1", Use::LinkLocal),
            ("100.100.100.200", Use::Metadata),
            ("168.63.129.16", Use::Metadata),
            ("192.0.0.192", Use::Metadata),
            ("192.0.0.8", Use::Reserved),
            ("224.0.0.1", Use::Multicast),
            ("239.255.255.250", Use::Multicast),
            ("255.255.255.255", Use::Reserved),
            ("::", Use::Unspecified),
            ("::1", Use::Loopback),
            ("fe80::1", Use::LinkLocal),
            ("febf::1", Use::LinkLocal),
            ("fec0::1", Use::Reserved),
            ("ff02::1", Use::Multicast),
            ("fd00:ec2::254", Use::Metadata),
            ("fd20:ce::254", Use::Metadata),
            // Compatible and mapped.
            ("::127.0.0.1", Use::Loopback),
            ("::ffff:127.0.0.1", Use::Loopback),
            ("::ffff:169.254.169.254", Use::Metadata),
            ("::ffff:0:127.0.0.1", Use::Loopback),
            // NAT64.
            ("64:ff9b::127.0.0.1", Use::Loopback),
            ("64:ff9b::a9fe:a9fe", Use::Metadata),
            ("64:ff9b:1:7f00:0:100::", Use::Loopback),
            ("64:ff9b:1::169.254.169.254", Use::Metadata),
            // 6to4.
            ("2002:7f00:1::1", Use::Loopback),
            ("2002:a9fe:a9fe::", Use::Metadata),
            // Teredo: server, client.
            ("2001:0:7f00:1::1", Use::Loopback),
            ("2001:0:808:808::5601:5601", Use::Metadata),
            // ISATAP.
            ("2001:db8::5efe:127.0.0.1", Use::Loopback),
            ("2001:db8::200:5efe:169.254.169.254", Use::Metadata),
        ] {
            assert_eq!(refusal(address, &[]), Some(reason), "{address}");
        }
    }

    #[test]
    fn public_and_private_addresses_are_permitted() {
        for address in [
            "8.8.8.8",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "2606:4700::1111",
            "fd12:3456::1",
            "::ffff:10.0.0.1",
            "64:ff9b::8.8.8.8",
            "64:ff9b:1::8.8.8.8",
            "64:ff9b:1:808:8:800::",
            "2002:808:808::1",
            "2001:db8::200:5efe:10.0.0.1",
        ] {
            assert_eq!(refusal(address, &[]), None, "{address}");
        }
    }

    #[test]
    fn an_operator_permits_ranges() {
        assert_eq!(refusal("127.0.0.1", &["127.0.0.0/8"]), None);
        assert_eq!(refusal("::ffff:127.0.0.1", &["127.0.0.1"]), None);
        assert_eq!(refusal("::1", &["::1"]), None);
        assert_eq!(refusal("::1", &["127.0.0.0/8"]), Some(Use::Loopback));
        let metadata = refusal("169.254.169.254", &["127.0.0.0/8", "10.0.0.0/8"]);
        assert_eq!(metadata, Some(Use::Metadata));
    }

    #[test]
    fn an_invalid_range_is_refused_with_the_correct_form() {
        for text in ["", "10.0.0.0/33", "localhost", "10.0.0", "::/129"] {
            let error = text.parse::<IpRange>().unwrap_err().to_string();
            assert!(error.contains("127.0.0.0/8"), "{error}");
        }
    }
}
