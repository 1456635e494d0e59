// Package host knows the hosts in whose name the server answers (--hosts). A page whose own name resolves
// to the server's address, by DNS rebinding, sends its own name as the Host of a request. It is of the
// same origin for its browser, so nothing but that name tells it from the server's own pages.
package host

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"rankcast/server/internal/refusal"
)

// local is the name of this machine (RFC 6761, section 6.3). Browsers resolve it and the names below it
// to loopback addresses, whatever DNS says.
const local = "localhost"

// List holds the hosts that the server allows. New makes it. All methods may be called concurrently.
type List struct {
	flag     []string
	allowed  []pattern
	refusals *refusal.Log
}

// pattern is one host of --hosts.
type pattern struct {
	name string // ".example.com" stands for all names below example.com
	port string // "" for any
}

// New makes a List of hosts that Check accepts. log names the hosts that the server refuses.
func New(allowed []string, log *slog.Logger) *List {
	l := &List{flag: allowed, refusals: refusal.NewLog(log, "requests for many hosts")}
	for _, text := range allowed {
		if p, err := parse(text); err == nil {
			l.allowed = append(l.allowed, p)
		}
	}
	return l
}

// Allows reports whether the Host of a request is localhost, a name below it, an IP literal, or a host
// that the list names. The port counts only where the list has one. Allows refuses an empty Host.
func (l *List) Allows(host string) bool {
	name, port, ok := split(strings.ToLower(host))
	if !ok {
		return false
	}
	return matches(local, name) || matches("."+local, name) || l.names(name, port) || isIP(name)
}

// Valid reports whether the Host of a request is a host with an optional port.
func Valid(host string) bool {
	_, _, ok := split(strings.ToLower(host))
	return ok
}

// Names reports whether the list itself names the Host of a request.
func (l *List) Names(host string) bool {
	name, port, ok := split(strings.ToLower(host))
	return ok && l.names(name, port)
}

func (l *List) names(name, port string) bool {
	return slices.ContainsFunc(l.allowed, func(p pattern) bool { return matches(p.name, name) && (p.port == "" || p.port == port) })
}

// Refusal says that the server does not answer in the name of a host, and what would change that.
func (l *List) Refusal(host string) string {
	const want = "; want localhost, an IP address or a host that the server's flag --hosts names"
	if host == "" {
		return "is missing" + want
	}
	return fmt.Sprintf("is %q%s", refusal.Printable(host), want)
}

// LogRefusal logs that the server has refused a request for a host, once for each host in an hour, with
// the flag that would allow it.
func (l *List) LogRefusal(host string) {
	host = refusal.Printable(host)
	const refused = "the server refused a request for another host; "
	if Check(host) != nil {
		l.refusals.Warn(host, refused+"--hosts cannot name it", "host", host)
		return
	}
	name, _, _ := split(host)
	l.refusals.Warn(host, refused+"if that is a name of this server, the flag allows it",
		"host", host, "flag", "--hosts "+strings.Join(append(slices.Clone(l.flag), name), ","))
}

// matches reports whether a pattern's name covers a name. Both are in lower case.
func matches(pattern, name string) bool {
	if strings.HasPrefix(pattern, ".") {
		return strings.HasSuffix(name, pattern)
	}
	return name == pattern
}

// maxName bounds a host name, in bytes, as DNS does (RFC 1035, section 2.3.4).
const maxName = 253

// isHostname reports whether a name consists of one or more labels: letters, digits, _ and, within a label, -.
// Each request has a Host, for which a regular expression would take 1 µs.
func isHostname(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
				return false
			}
		}
	}
	return true
}

// split takes a Host in lower case apart: host [":" port] (RFC 9110, section 7.2). A name loses the dot
// at its end, and an IPv6 address its brackets. ok is false for what is not a host.
func split(host string) (name, port string, ok bool) {
	if inner, isIPv6 := strings.CutPrefix(host, "["); isIPv6 {
		if name, port, ok = strings.Cut(inner, "]"); !ok {
			return "", "", false
		}
		if ip, err := netip.ParseAddr(name); err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", "", false
		}
		if port != "" && port[0] != ':' {
			return "", "", false
		}
		port = strings.TrimPrefix(port, ":")
	} else {
		name, port, _ = strings.Cut(host, ":")
		if name = strings.TrimSuffix(name, "."); len(name) > maxName || !isHostname(name) {
			return "", "", false
		}
	}
	return name, port, port == "" || isPort(port)
}

// isPort reports whether text is a port, without leading zeros.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == text
}

func isIP(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// Check returns an error for a value of --hosts that is not a host with an optional port. A host may
// begin with "*.", which stands for all names below it.
func Check(text string) error {
	_, err := parse(text)
	return err
}

func parse(text string) (pattern, error) {
	if strings.Contains(text, "://") {
		return pattern{}, errors.New("want a host without a scheme, such as scores.example.com")
	}
	host, below := strings.CutPrefix(strings.ToLower(text), "*.")
	name, port, ok := split(host)
	if !ok || strings.HasSuffix(host, ":") || below && isIP(name) {
		return pattern{}, errors.New("is not a host; want scores.example.com, *.example.com or scores.example.com:8443, " +
			"international names as xn--…")
	}
	if below {
		name = "." + name
	}
	return pattern{name, port}, nil
}
