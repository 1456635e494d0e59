package pages_test

import (
	"encoding/json"
	"fmt"
	"image/png"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// All pages lead to the manifest by which a device installs the site, and to an icon for iOS, from wherever a proxy serves
// them. The manifest starts at the front page, and its icons have the sizes that it says.
func TestSiteCanBeInstalled(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, boards...)
	links := regexp.MustCompile(`<link rel="(?:manifest|apple-touch-icon)" href="([^"]+)">`)
	for _, path := range []string{"/", "/boards/stars", "/boards/stars/story", "/stars", "/docs/start", "/overlay/stars", "/no/such/page"} {
		page := n.Do("GET", path, "", "Accept", "text/html")
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "manifest-src 'self'", path)
		at, err := url.Parse("https://host/below" + path)
		require.NoError(t, err)
		var leadsTo []string
		for _, link := range links.FindAllStringSubmatch(page.Body, -1) {
			to, err := at.Parse(link[1])
			require.NoError(t, err)
			leadsTo = append(leadsTo, to.String())
		}
		require.ElementsMatch(t, []string{"https://host/below/manifest.webmanifest", "https://host/below/assets/shared/icon-ios.png"},
			leadsTo, path)
	}

	a := n.Do("GET", "/manifest.webmanifest", "")
	require.Equal(t, 200, a.Status)
	require.Equal(t, "application/manifest+json", a.Header.Get("Content-Type"))
	var m struct {
		Name, Display string
		StartURL      string `json:"start_url"`
		Icons         []struct{ Src, Type, Sizes, Purpose string }
	}
	require.NoError(t, json.Unmarshal([]byte(a.Body), &m))
	require.Equal(t, "Rankcast", m.Name)
	require.Equal(t, "standalone", m.Display)
	require.Equal(t, "./", m.StartURL)
	drawn := make(map[string]bool)
	for _, icon := range m.Icons {
		picture := n.Do("GET", "/"+icon.Src, "")
		require.Equal(t, 200, picture.Status, icon.Src)
		require.Equal(t, icon.Type, picture.Header.Get("Content-Type"), icon.Src)
		if icon.Type == "image/png" {
			size, err := png.DecodeConfig(strings.NewReader(picture.Body))
			require.NoError(t, err)
			require.Equal(t, icon.Sizes, fmt.Sprintf("%dx%d", size.Width, size.Height), icon.Src)
			drawn[icon.Sizes+" "+icon.Purpose] = true
		}
	}
	require.Equal(t, map[string]bool{"192x192 ": true, "512x512 ": true, "512x512 maskable": true}, drawn)
}
