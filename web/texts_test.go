package web_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/web"
)

// Each language has a text for each key, with the same placeholders.
func TestTextsAreTheSameInEachLanguage(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(web.Files, "texts/*.json")
	require.NoError(t, err)
	require.Equal(t, []string{"texts/en.json", "texts/zh.json"}, files)
	placeholder := regexp.MustCompile(`\{[^{}]*\}`)
	places := func(text string) []string {
		found := placeholder.FindAllString(text, -1)
		slices.Sort(found)
		return found
	}
	all := make(map[string]map[string]string)
	for _, file := range files {
		all[file] = readTexts(t, file)
	}
	english := all["texts/en.json"]
	for file, texts := range all {
		require.Equal(t, slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(texts)), file)
		for key, text := range texts {
			require.NotEmpty(t, strings.TrimSpace(text), "%s: %s", file, key)
			require.Equal(t, places(english[key]), places(text), "%s: %s", file, key)
			require.NotRegexp(t, `[{}]`, regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(text, ""), "%s: %s", file, key)
			for one, other := range map[string]string{"_one": "_other", "_other": "_one"} {
				if stem, counts := strings.CutSuffix(key, one); counts {
					require.Contains(t, texts, stem+other, "%s: %s", file, key)
				}
			}
		}
	}
}

func readTexts(t *testing.T, file string) (texts map[string]string) {
	b, err := web.Files.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &texts), file)
	return texts
}

// The kit's own words are the English texts that the pages have for it, so that a translator
// translates one file.
func TestTextsHaveTheKitsWords(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("kit/format.js")
	require.NoError(t, err)
	words := make(map[string]string)
	for _, word := range regexp.MustCompile(`(?m)^  (\w+): '(.*)',$`).FindAllSubmatch(source, -1) {
		words["kit_"+string(word[1])] = string(word[2])
	}
	require.NotEmpty(t, words)
	for key, text := range readTexts(t, "texts/en.json") {
		if strings.HasPrefix(key, "kit_") {
			require.Equal(t, words[key], text, key)
			delete(words, key)
		}
	}
	require.Empty(t, words, "words of the kit that texts/en.json does not have")
}
