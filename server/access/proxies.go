package access

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// The words of ParseProxies.
var namedProxies = map[string][]netip.Prefix{
	"loopback": {netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
	// Private addresses (RFC 1918, RFC 4193), and those that are valid on one link alone.
	"private": {
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
		netip.MustParsePrefix("169.254.0.0/16"),
		netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"),
	},
}

// ParseProxies reads the values of --trusted-proxies: addresses, CIDR prefixes, and the words loopback and
// private.
func ParseProxies(values []string) (all []netip.Prefix, err error) {
	for _, value := range values {
		value = strings.TrimSpace(value)
		if known, ok := namedProxies[strings.ToLower(value)]; ok {
			all = append(all, known...)
			continue
		}
		prefix, err := parseProxy(value)
		if err != nil {
			return nil, fmt.Errorf("%.100q: %w", value, err)
		}
		all = append(all, prefix)
	}
	return slices.Clip(all), nil
}

func parseProxy(value string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(value); err == nil {
		ip = ip.Unmap().WithZone("")
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(value)
	switch {
	case err != nil:
		return prefix, fmt.Errorf("want an address such as 10.0.0.5, a range such as 10.0.0.0/8, loopback or private")
	case prefix.Addr().Is4In6():
		return prefix, fmt.Errorf("write it as a range of IPv4")
	case prefix != prefix.Masked():
		return prefix, fmt.Errorf("has bits after its prefix; want %s", prefix.Masked())
	}
	return prefix, nil
}
