package pages

import (
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"
)

// locale is a language that pages are in.
type locale struct {
	name string // in ?lang and of its file
	tag  string // as HTML and HTTP tell it
}

// locales are all of them. Whoever reads none of them gets the first.
var locales = []locale{{"en", "en"}, {"zh", "zh-Hans"}}

// readers finds the locale for readers: those of locales in their order and, as who reads
// any Chinese gets the one that there is, the other script after them.
var readers = language.NewMatcher([]language.Tag{language.English, language.SimplifiedChinese, language.TraditionalChinese})

// localeOf is the index of the locale that a request asks for: by ?lang, so that a link
// may say so, or else by the languages that its reader has told the browser.
func localeOf(r *http.Request) int {
	asked := r.URL.Query().Get("lang")
	if i := slices.IndexFunc(locales, func(l locale) bool { return l.name == asked }); i >= 0 {
		return i
	}
	tags, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return 0
	}
	_, i, _ := readers.Match(tags...)
	return min(i, len(locales)-1)
}

// readTexts reads the texts of a locale, by key.
func (l locale) readTexts(files fs.FS) (texts map[string]string, err error) {
	name := "texts/" + l.name + ".json"
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &texts); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return texts, nil
}
