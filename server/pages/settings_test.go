package pages_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A page comes with the settings that the reader has chosen, so that nothing changes when its script runs. What no menu
// offers is not set, and no reader gets the page of another one.
func TestPagesHaveTheSettingsOfTheReader(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, boards...)
	defineGift(t, n)
	root := regexp.MustCompile(`<html [^>]*>`)
	for _, path := range []string{"/", "/boards/stars", "/boards/fans:%7Bstar%7D", "/show/gift", "/show/gift/s17", "/boards/stars/story",
		"/members/star/s17", "/boards/stars@1999-W01"} {
		for cookie, want := range map[string]string{
			"": `<html lang="en">`,
			"rankcast-settings=theme=dark&motion=calm&density=compact&sound=on": `<html lang="en" data-theme="dark" ` +
				`data-motion="calm" data-density="compact">`,
			"other=1; rankcast-settings=theme=light":                                `<html lang="en" data-theme="light">`,
			`rankcast-settings=theme="><script>&motion=none&density=%zz&theme=dark`: `<html lang="en">`,
		} {
			a := n.Do("GET", path, "", "Cookie", cookie, "Accept", browserAccepts)
			require.Equal(t, want, root.FindString(a.Body), "%s: %s", path, cookie)
			require.Contains(t, a.Header.Get("Vary"), "Cookie", path)
		}
	}
	// Pages without rows and the menu follow the rest.
	for _, path := range []string{"/boards/nosuch", "/nosuch", "/docs/start", "/docs/how"} {
		for cookie, want := range map[string]string{
			"": `<html lang="en">`,
			"rankcast-settings=theme=dark&motion=calm&density=compact": `<html lang="en" data-theme="dark" data-motion="calm">`,
			"rankcast-settings=theme=light":                            `<html lang="en" data-theme="light">`,
		} {
			a := n.Do("GET", path, "", "Cookie", cookie, "Accept", browserAccepts)
			require.Equal(t, want, root.FindString(a.Body), "%s: %s", path, cookie)
			require.Contains(t, strings.Join(a.Header.Values("Vary"), ", "), "Cookie", path)
			require.Equal(t, "no-cache", a.Header.Get("Cache-Control"), path)
		}
	}
	// The browser's own bars have the color of that theme.
	bars := regexp.MustCompile(`<meta name="theme-color" content="#\w+" data-theme="(light|dark)" media="([^"]+)">`)
	for cookie, want := range map[string][2]string{
		"": {"(prefers-color-scheme: light)", "(prefers-color-scheme: dark)"}, "rankcast-settings=theme=dark": {"not all", "all"},
		"rankcast-settings=theme=light": {"all", "not all"},
	} {
		for _, path := range []string{"/", "/show/gift", "/docs/start", "/nosuch"} {
			found := bars.FindAllStringSubmatch(n.Do("GET", path, "", "Cookie", cookie, "Accept", browserAccepts).Body, -1)
			require.Len(t, found, 2, path)
			require.Equal(t, []string{"light", want[0], "dark", want[1]}, slices.Concat(found[0][1:], found[1][1:]), "%s: %s", path, cookie)
		}
	}
	for _, path := range []string{"/overlay/stars", "/embed/stars"} {
		require.NotContains(t, root.FindString(n.Do("GET", path, "", "Cookie", "rankcast-settings=density=compact").Body), "density", path)
	}
}

// A link says what language a page is in, or else its reader's browser does.
func TestPageLanguage(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	etags := make(map[string]string)
	for _, c := range []struct{ query, accepts, want string }{
		{"", "", "en"},
		{"", "en-GB,en;q=0.9", "en"},
		{"", "zh", "zh-Hans"},
		{"", "zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"},
		{"", "zh-TW", "zh-Hans"},
		{"", "zh-HK,en;q=0.1", "zh-Hans"},
		{"", "zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7", "zh-Hans"},
		{"", "zh-SG,en;q=0.9", "zh-Hans"},
		{"", "zh-Hant-TW,zh-Hant;q=0.9", "zh-Hans"},
		{"", "en;q=0.5,zh;q=0.6", "zh-Hans"},
		{"", "de,zh;q=0.8,en;q=0.7", "zh-Hans"},
		{"", "de,en;q=0.8,zh;q=0.7", "en"},
		{"", "zh;q=0", "en"},
		{"", "fr", "en"},
		{"", "ja", "en"},
		{"", "*", "en"},
		{"", "no language;;q=", "en"},
		{"?lang=zh", "en", "zh-Hans"},
		{"?lang=en", "zh", "en"},
		{"?board=stars&lang=zh", "", "zh-Hans"},
		{"?lang=de", "zh", "zh-Hans"},
		{"?lang=ZH", "", "en"},
		{"?lang=", "zh", "zh-Hans"},
		{"?lang=zh-Hans", "", "en"},
	} {
		a := n.Do("GET", "/"+c.query, "", "Accept-Language", c.accepts)
		require.Equal(t, 200, a.Status)
		require.Equal(t, c.want, a.Header.Get("Content-Language"), c)
		require.Contains(t, a.Body, `<html lang="`+c.want+`">`)
		etags[c.want] = a.Header.Get("ETag")
	}
	require.NotEqual(t, etags["en"], etags["zh-Hans"])
	require.Contains(t, n.Do("GET", "/members/star/s17?lang=zh", "", "Accept", browserAccepts).Body, "成员")
}
