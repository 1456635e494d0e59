package definition

import (
	"net/url"
	"slices"
	"strings"
)

// MaxImageBytes bounds the address of an image.
const MaxImageBytes = 512

// ImageFault returns the fault of the address of an image, or "". Such an address is a path that starts with one
// slash, or a URL with one of the schemes and without a user, in 1 to MaxImageBytes bytes. Pages load it, so it may hold
// only the location of an image. want says in the answer what the address should be.
func ImageFault(address, want string, schemes ...string) string {
	if reason := TextFault(address, MaxImageBytes); reason != "" {
		return reason
	}
	if strings.ContainsAny(address, " \\\"<>") {
		return `contains a space or one of \ " < >; ` + want
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "is not a URL; " + want
	case u.Scheme == "" && (!strings.HasPrefix(address, "/") || u.Host != "" || strings.HasPrefix(address, "//")):
		return "is neither; " + want
	case u.Scheme == "":
		return ""
	case !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || u.User != nil:
		return want + ", without a user"
	}
	return ""
}
