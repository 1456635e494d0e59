// Package origin knows the origins of other sites whose pages may use the server (--origins), and tells an
// operator of those that may not.
package origin

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rankcast/server/internal/refusal"
)

// Any allows all origins, also the opaque one.
const Any = "*"

// Opaque is the origin of pages from files and of sandboxed frames (HTML, "opaque origin"). Any site can open a sandboxed
// frame, so Opaque allows them all.
const Opaque = "null"

// files is the origin of pages from files in older WebViews of Android, and in apps that are made with them.
const files = "file://"

// List holds the origins that the server allows. New makes it. All methods may be called concurrently.
type List struct {
	allowed  []string
	isOwn    func(host string) bool
	refusals *refusal.Log
}

// New makes a List of origins that Check accepts. isOwn reports whether --hosts names a host, and may be called
// concurrently; nil stands for no hosts. log names the origins that the server refuses.
func New(allowed []string, isOwn func(host string) bool, log *slog.Logger) *List {
	return &List{allowed: allowed, isOwn: isOwn, refusals: refusal.NewLog(log, "pages of many origins")}
}

// None reports whether the list is empty: only the server's own pages are allowed.
func (l *List) None() bool { return len(l.allowed) == 0 }

// HasAny reports whether the list allows all origins.
func (l *List) HasAny() bool { return slices.Contains(l.allowed, Any) }

// Allows reports whether the list names an origin, or allows all.
func (l *List) Allows(origin string) bool {
	return slices.ContainsFunc(l.allowed, func(known string) bool { return known == Any || strings.EqualFold(known, origin) })
}

// lostHost reports whether a page of the server itself sent a request, and a proxy dropped its Host: --hosts
// names the host of the page, and not that of the request.
func (l *List) lostHost(r *http.Request) bool {
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && l.isOwn != nil && l.isOwn(u.Host) && !l.isOwn(r.Host)
}

// Refusal says that the server does not allow the origin of a request, and what would allow it. The text has at
// most maxBytes bytes of UTF-8, and no long origin.
func (l *List) Refusal(r *http.Request, maxBytes int) string {
	switch origin := refusal.Printable(r.Header.Get("Origin")); {
	case l.lostHost(r):
		return "the proxy must pass on Host: the server's --hosts names the host of this page"
	case origin == Opaque:
		return "origin null is not allowed: add null to the server's --origins, for files and sandboxed frames of all sites"
	case Check(origin) != nil:
		return "this page's origin is not allowed: only the server's --origins '*' allows it, and all sites"
	default:
		if text := "origin not allowed: add " + origin + " to the server's --origins"; len(text) <= maxBytes {
			return text
		}
	}
	return "this page's origin is not allowed: the server's log has the --origins that allows it"
}

// LogRefusal logs that the server has refused a page of the origin of a request, once for each origin in an hour,
// with the flag that would allow it.
func (l *List) LogRefusal(r *http.Request) {
	origin := refusal.Printable(r.Header.Get("Origin"))
	const refused = "the server refused a page of another site; "
	flag := "--origins " + strings.Join(append(slices.Clone(l.allowed), origin), ",")
	switch {
	case l.lostHost(r):
		l.refusals.Warn(origin, "the server refused a page of its own: the proxy must pass on Host, which --hosts names", "origin",
			origin, "host", refusal.Printable(r.Host))
	case origin == Opaque:
		l.refusals.Warn(origin, refused+"the flag allows pages of files to read and watch, and with them any site, in a sandboxed frame",
			"origin", origin, "flag", flag)
	case Check(origin) != nil:
		l.refusals.Warn(origin, refused+"--origins cannot name its origin; the flag allows the pages of all sites to read and watch",
			"origin", origin, "flag", "--origins '"+Any+"'")
	default:
		l.refusals.Warn(origin, refused+"the flag allows it to read and watch", "origin", origin, "flag", flag)
	}
}

// IsForeign reports whether a page of another site sent the request. A request without an Origin
// comes from a program, or from a page of this server.
func IsForeign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	// A page without TLS is of another origin: anybody on the way may have written it.
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) || !isWeb(u) || r.TLS != nil && u.Scheme != "https"
}

// IsOwn reports whether a request comes from a page of this server, as far as its browser tells, or from no page. A socket,
// and a request that changes something, must prove it by a header that browsers set and pages cannot.
func IsOwn(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	site := r.Header.Get("Sec-Fetch-Site") // W3C, Fetch Metadata Request Headers; only to HTTPS and localhost
	switch {
	case site != "" && site != "same-origin" && !(site == "none" && reads):
		return false
	case r.Header.Get("Origin") != "":
		return !IsForeign(r)
	case r.Header.Get("Upgrade") != "":
		return false
	}
	return reads || site == "same-origin"
}

func isWeb(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

var (
	hostname = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$`)
	// appHost is the host of an app's origin: localhost, the id of an extension, or just a sign, as in app://-.
	appHost = regexp.MustCompile(`^[a-z0-9._-]+$`)
	// notOfPages are schemes that no page has as its origin. Browsers send null for a page of data: or about:.
	notOfPages = []string{"ws", "wss", "ftp", "data", "blob", "about", "javascript"}

	errNoOrigin = errors.New("want http:// or https:// and a host, an app's origin such as capacitor://localhost, file://, " +
		"null, or * for all origins")
)

// Check returns an error for a value that is neither an origin, in the form in which browsers send it,
// nor Any. The origin of an app has a scheme of its own: capacitor://localhost, tauri://localhost, app://-,
// chrome-extension:// and an id.
func Check(origin string) error {
	if origin == Any || origin == Opaque || origin == files {
		return nil
	}
	u, err := url.Parse(strings.ToLower(origin))
	if err == nil && strings.HasPrefix(origin, files) {
		return errors.New("want file://, and nothing after it; most browsers send null for a file")
	}
	if err != nil || u.Scheme == "" || u.Host == "" || slices.Contains(notOfPages, u.Scheme) {
		return explainNoOrigin(origin)
	}
	if u.Scheme+"://"+u.Host != strings.ToLower(origin) {
		return errors.New("want a scheme, a host and an optional port, and nothing after them")
	}
	host, port := u.Hostname(), u.Port()
	switch {
	case strings.HasPrefix(u.Host, "["):
		if ip, err := netip.ParseAddr(host); err != nil || ip.Zone() != "" || ip.String() != host {
			return fmt.Errorf("%q is not an IPv6 address in the form that browsers send", host)
		}
	case isWeb(u) && !hostname.MatchString(host):
		return fmt.Errorf("%q is not a host name; want one without wildcards, international names as xn--…", host)
	case !appHost.MatchString(host):
		return fmt.Errorf("%q is not the host of an app; want it without wildcards, as the app's pages send it in Origin", host)
	}
	if strings.HasSuffix(u.Host, ":") {
		return errors.New("has a colon without a port")
	}
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port) {
		return fmt.Errorf("port %s is not valid; want 1 to 65535", port)
	}
	if port != "" && port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		return fmt.Errorf("leave out :%s, as browsers do", port)
	}
	return nil
}

// explainNoOrigin says what to write in place of a value that is no origin.
func explainNoOrigin(origin string) error {
	scheme := "https://"
	if strings.Contains(origin, ":") { // a site with a port is likely one under development
		scheme = "http://"
	}
	if !strings.Contains(origin, "://") && strings.ContainsAny(origin, ".:") && Check(scheme+origin) == nil {
		return errors.New("has no scheme; want " + scheme + origin)
	}
	return errNoOrigin
}

// CheckFrames returns an error for a value that is not an origin whose pages may frame others. The policy of a page
// (CSP, frame-ancestors) cannot name pages of files.
func CheckFrames(origin string) error {
	if origin == Opaque || origin == files {
		return errors.New("a page of a file cannot show a frame: no policy can name it")
	}
	return Check(origin)
}

// CheckAvatars returns an error for a value that is not an origin whose images pages may show. The images of a page
// must not be read or changed on the way, so it is one by https, or of this machine.
func CheckAvatars(origin string) error {
	if origin == Any {
		return errors.New("name the sites: a profile could otherwise make each viewer's browser ask any site")
	}
	if err := Check(origin); err != nil {
		return err
	}
	u, err := url.Parse(strings.ToLower(origin))
	if err != nil {
		return err
	}
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	isLocal := host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && isLocal) {
		return errors.New("want https://; http:// only for localhost and loopback addresses")
	}
	return nil
}
