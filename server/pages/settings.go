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

func settingsOf(r *http.Request) (s settings) {
	cookie, err := r.Cookie(settingsCookie)
	if err != nil {
		return s
	}
	chosen, _ := url.ParseQuery(cookie.Value) // what it cannot read is not set
	one := func(name string, values ...string) string {
		if value := chosen.Get(name); slices.Contains(values, value) {
			return value
		}
		return ""
	}
	return settings{Theme: one("theme", "light", "dark"), Motion: one("motion", "calm"), Density: one("density", "compact")}
}
