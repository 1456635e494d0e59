package pages_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

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
	require.Contains(t, n.Do("GET", "/stars?lang=zh", "").Body, "<title>明星送花 · Rankcast</title>")
}
