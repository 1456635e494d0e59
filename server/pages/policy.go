package pages

import "strings"

// policyField is the field of an answer that says what its page may load, and who may frame it.
const policyField = "Content-Security-Policy"

// inlineStyles allows any style that is added to a page. An overlay needs that: OBS adds the CSS of a browser source to
// the page as a style element, of which the server knows neither hash nor nonce.
const inlineStyles = "unsafe-inline"

// ownOrigin is the source expression for this server.
const ownOrigin = "'self'"

// policyOf limits a page to content of this server, and to avatars of some other origins. Only pages of frameOrigins
// may frame it. styles allows the styles in the page: their hash, or inlineStyles; "" for none. frames allows the frames
// in the page: ownOrigin; "" for none. Package origin has checked the origins, so none ends a directive.
func policyOf(avatarOrigins, frameOrigins []string, styles, frames string) string {
	ancestors := "'none'"
	if len(frameOrigins) > 0 {
		ancestors = strings.Join(frameOrigins, " ")
	}
	images := strings.Join(append([]string{"'self'"}, avatarOrigins...), " ")
	if styles != "" {
		styles = " '" + styles + "'"
	}
	if frames != "" {
		frames = "; frame-src " + frames
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'" + styles + "; img-src " + images +
		"; connect-src 'self'; font-src 'self'; manifest-src 'self'" + frames + "; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + ancestors
}
