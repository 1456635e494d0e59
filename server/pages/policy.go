package pages

import "strings"

// policyField is the field of an answer that says what its page may load, and who may frame it.
const policyField = "Content-Security-Policy"

// policyOf limits a page to content of this server, and to avatars of some other origins. Only pages of frameOrigins
// may frame it. styleHash allows the styles in the page; "" for none. Package origin has checked the origins, so none
// ends a directive.
func policyOf(avatarOrigins, frameOrigins []string, styleHash string) string {
	ancestors := "'none'"
	if len(frameOrigins) > 0 {
		ancestors = strings.Join(frameOrigins, " ")
	}
	images := strings.Join(append([]string{"'self'"}, avatarOrigins...), " ")
	styles := "'self'"
	if styleHash != "" {
		styles += " '" + styleHash + "'"
	}
	return "default-src 'none'; script-src 'self'; style-src " + styles + "; img-src " + images + "; connect-src 'self'; font-src 'self'; manifest-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + ancestors
}
