package pages

import (
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"
)

// locale is a language of the pages.
type locale struct {
	name string // value of ?lang, and name of the file of texts
	tag  string // BCP 47 tag for HTML and HTTP
}

// locales are all languages. The first is the default.
var locales = []locale{{"en", "en"}, {"zh", "zh-Hans"}}

// languageMatcher finds the best locale: the tags of locales in their order, then traditional Chinese,
// whose readers get simplified Chinese.
var languageMatcher = language.NewMatcher([]language.Tag{language.English, language.SimplifiedChinese, language.TraditionalChinese})

// localeOf returns the index of a request's locale: by ?lang, so that a link can set it, or else by
// Accept-Language.
func localeOf(r *http.Request) int {
	asked := r.URL.Query().Get("lang")
	if i := slices.IndexFunc(locales, func(l locale) bool { return l.name == asked }); i >= 0 {
		return i
	}
	tags, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return 0
	}
	_, i, _ := languageMatcher.Match(tags...)
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
