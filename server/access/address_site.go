package access

import (
	"net/http"
	"regexp"
	"strings"
)

// sitePrefix matches a path below which a proxy serves the site: /scores or /games/scores.
var sitePrefix = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// Site returns the scheme and the prefix of the address under which a client sees the site: "https" or "http",
// and "" or a path such as "/scores". Without TLS they are what the last trusted proxy writes: the scheme in
// X-Forwarded-Proto, or else in Forwarded, and the prefix in X-Forwarded-Prefix. Site ignores these headers of
// any other peer, and values that are neither scheme nor prefix.
func (a *Addresses) Site(r *http.Request) (scheme, prefix string) {
	scheme = "http"
	if r.TLS != nil {
		scheme = "https"
	}
	peer, ok := parseNode(r.RemoteAddr)
	if !ok || !a.isTrusted(peer) {
		return scheme, ""
	}
	reported := lastElement(r.Header[forwardedProto])
	if len(r.Header[forwardedProto]) == 0 {
		reported = forwardedParameter(lastElement(r.Header[forwardedHeader]), "proto")
	}
	if reported = strings.ToLower(reported); reported == "http" || reported == "https" {
		scheme = reported
	}
	if reported = strings.TrimRight(lastElement(r.Header[forwardedPrefix]), "/"); sitePrefix.MatchString(reported) {
		prefix = reported
	}
	return scheme, prefix
}

// lastElement is the last element of the lines of a header that is a list; "" for none.
func lastElement(lines []string) string {
	for element := range elementsFromRight(lines) {
		return element
	}
	return ""
}
