package access

import (
	"iter"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// The headers in which a proxy reports its client, in the form of http.Header's keys.
const (
	forwardedFor    = "X-Forwarded-For"
	forwardedHeader = "Forwarded"
	forwardedProto  = "X-Forwarded-Proto"
	forwardedPrefix = "X-Forwarded-Prefix"
)

// IsLocal reports whether a program on the machine of the node sent a request for itself. A proxy on that machine does not: its
// clients may be anywhere.
func IsLocal(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded-") || slices.Contains([]string{forwardedHeader, "Via", "X-Real-Ip"}, name) {
			return false
		}
	}
	peer, ok := parseNode(r.RemoteAddr)
	return ok && peer.IsLoopback()
}

// elementsFromRight splits the lines of a header that is a list at its commas, and gives the last element
// first. A comma within quotes does not separate. It starts at the right because only the right end is sure
// to be written by a proxy: a quote that a client has left open must not swallow that end.
func elementsFromRight(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := len(lines) - 1; i >= 0; i-- {
			rest := lines[i]
			for {
				comma := lastOutsideQuotes(rest, ',')
				if !yield(strings.Trim(rest[comma+1:], " \t")) {
					return
				}
				if comma < 0 {
					break
				}
				rest = rest[:comma]
			}
		}
	}
}

// lastOutsideQuotes is the index of the last separator that no quoted string holds; -1 for none.
func lastOutsideQuotes(s string, separator byte) int {
	quoted := false
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == '"' && !escaped(s[:i]):
			quoted = !quoted
		case s[i] == separator && !quoted:
			return i
		}
	}
	return -1
}

// escaped reports whether a backslash escapes the character that follows s.
func escaped(s string) bool { return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1 }

// forwardedForNode is the node of an element of X-Forwarded-For.
func forwardedForNode(element string) string { return element }

// forwardedNode is the node of an element of Forwarded: the value of its parameter for.
func forwardedNode(element string) string { return forwardedParameter(element, "for") }

// forwardedParameter is the value of a parameter of an element of Forwarded (RFC 7239, section 4); "" without one.
func forwardedParameter(element, parameter string) string {
	for element != "" {
		semicolon := lastOutsideQuotes(element, ';')
		name, value, _ := strings.Cut(strings.Trim(element[semicolon+1:], " \t"), "=")
		if strings.EqualFold(name, parameter) {
			if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
				value = value[1 : n-1]
			}
			return value
		}
		element = element[:max(semicolon, 0)]
	}
	return ""
}

// parseNode reads an address with or without a port: 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1]:80.
// It drops the zone, which means nothing here, and returns an IPv4 address that is mapped into IPv6 as IPv4.
func parseNode(node string) (netip.Addr, bool) {
	if inside, ok := strings.CutPrefix(node, "["); ok {
		address, port, closed := strings.Cut(inside, "]")
		if !closed || port != "" && port[0] != ':' {
			return netip.Addr{}, false
		}
		node = address
	} else if strings.Count(node, ":") == 1 {
		node, _, _ = strings.Cut(node, ":")
	}
	ip, err := netip.ParseAddr(node)
	return ip.Unmap().WithZone(""), err == nil
}
