package pages

import "strings"

// policyField is the field of an answer that says what its page may load, and who may frame it.
const policyField = "Content-Security-Policy"

// inlineStyles allows any style that is added to a page. An overlay needs that: OBS adds the CSS of a browser source to
// the page as a style element, of which the server knows neither hash nor nonce.
const inlineStyles = "unsafe-inline"

// policyOf limits a page to content of this server, and to avatars of some other origins. Only pages of frameOrigins
// may frame it. styles allows the styles in the page: their hash, or inlineStyles; "" for none. Package origin has
// checked the origins, so none ends a directive.
func policyOf(avatarOrigins, frameOrigins []string, styles string) string {
	ancestors := "'none'"
	if len(frameOrigins) > 0 {
		ancestors = strings.Join(frameOrigins, " ")
	}
	images := strings.Join(append([]string{"'self'"}, avatarOrigins...), " ")
	if styles != "" {
		styles = " '" + styles + "'"
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'" + styles + "; img-src " + images +
		"; connect-src 'self'; font-src 'self'; manifest-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + ancestors
}
