package pages

import (
	"net/http"
	"net/url"
	"slices"
)

// settingsCookie holds the settings of a reader, as a query: theme=dark&motion=calm. The page sets it by script; see
// web/assets/shared/settings.js. The server renders the settings, so that a page looks right from its first paint.
const settingsCookie = "rankcast-settings"

// settingsStyle is the style sheet of the pages with the menu of settings.
const settingsStyle = "shared/settings.css"

// settings are attributes data-… of <html>; "" is the default.
type settings struct {
	Theme, Motion, Density string
}

// Media is the media query of what a page has for one theme, light or dark. See apply in web/assets/shared/settings.js.
func (s settings) Media(theme string) string {
	switch s.Theme {
	case "":
		return "(prefers-color-scheme: " + theme + ")"
	case theme:
		return "all"
	}
	return "not all"
}

// themes, motions and densities are the values of settings besides the default.
var themes, motions, densities = []string{"light", "dark"}, []string{"calm"}, []string{"compact"}

func settingsOf(r *http.Request) (s settings) {
	cookie, err := r.Cookie(settingsCookie)
	if err != nil {
		return s
	}
	chosen, _ := url.ParseQuery(cookie.Value) // what it cannot read is not set
	one := func(name string, values []string) string {
		if value := chosen.Get(name); slices.Contains(values, value) {
			return value
		}
		return ""
	}
	return settings{one("theme", themes), one("motion", motions), one("density", densities)}
}

// lookOf returns the settings that a page without rows follows.
func lookOf(r *http.Request) settings {
	s := settingsOf(r)
	s.Density = ""
	return s
}
