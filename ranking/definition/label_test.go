package definition

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// The cases of the file hold for the kit too.
func TestLabelIn(t *testing.T) {
	t.Parallel()
	file := redistest.Must(os.ReadFile("testdata/labels.json"))(t)
	var cases []struct {
		Label Label  `json:"label"`
		Tag   string `json:"tag"`
		Want  string `json:"want"`
	}
	require.NoError(t, json.Unmarshal(file, &cases))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		require.Equal(t, c.Want, c.Label.In(c.Tag), "%v in %q", c.Label, c.Tag)
	}
	require.Empty(t, Label(nil).In("en"))
}

func TestNamesOfABoard(t *testing.T) {
	t.Parallel()
	d, err := ParseBoard("fans:{star}",
		[]byte(`{"title":{"zh":"{star}的粉丝","pt-br":"Fãs de {star}","en":"Fans of {star}"},"description":"Flowers of the day",`+
			`"icon":"https://example.org/fan.png","display":{"unit":{"en":"flowers","zh":"朵花"}}}`))
	require.NoError(t, err)
	require.Equal(t, Label{"zh": "{star}的粉丝", "pt-BR": "Fãs de {star}", "en": "Fans of {star}"}, d.Title)
	require.Equal(t, Label{"zh": "鹿见汀的粉丝", "pt-BR": "Fãs de 鹿见汀", "en": "Fans of 鹿见汀"}, d.Title.Fill(func(p string) string {
		require.Equal(t, "star", p)
		return "鹿见汀"
	}))
	b := redistest.Must(json.Marshal(d))(t)
	require.Contains(t, string(b),
		`"title":{"en":"Fans of {star}","pt-BR":"Fãs de {star}","zh":"{star}的粉丝"},"description":"Flowers of the day",`+
			`"icon":"https://example.org/fan.png"`)

	d, err = ParseBoard("plain", []byte(`{"title":"a {brace} is text here {"}`))
	require.NoError(t, err)
	require.Equal(t, "a {brace} is text here {", d.Title.In("zh"))
}

func TestNamesThatAreRefused(t *testing.T) {
	t.Parallel()
	for body, field := range map[string]string{
		`{"title":""}`:                                       "title",
		`{"title":7}`:                                        "title",
		`{"title":{}}`:                                       "title",
		`{"title":{"en":7}}`:                                 "title.en",
		`{"title":{"":"x"}}`:                                 `title[""]`,
		`{"title":{"klingon!":"x"}}`:                         `title["klingon!"]`,
		`{"title":{"und":"x"}}`:                              "title.und",
		`{"title":{"zh-cn":"x","zh-CN":"y"}}`:                "title.zh-cn",
		`{"title":{"en":"a\u0001b"}}`:                        "title.en",
		`{"title":"Fans of {fan}"}`:                          "title",
		`{"title":"Fans of {star"}`:                          "title",
		`{"description":{"zh":"{user}"}}`:                    "description.zh",
		`{"icon":"http://example.org/i.png"}`:                "icon",
		`{"icon":"javascript:alert(1)"}`:                     "icon",
		`{"icon":"//example.org/i.png"}`:                     "icon",
		`{"icon":"icon.png"}`:                                "icon",
		`{"display":{"unit":{"en":""}}}`:                     "display.unit.en",
		`{"display":{"unit":"seventeen letters"}}`:           "display.unit",
		`{"title":"` + strings.Repeat("花", 81) + `"}`:        "title",
		`{"description":"` + strings.Repeat("a", 401) + `"}`: "description",
	} {
		refused(t, redistest.ErrorOf(ParseBoard("fans:{star}", []byte(body))), field, body)
	}
	many := make(Label)
	for _, tag := range strings.Fields("aa ab af am ar az be bg bn bs ca cs cy da de el en eo es et eu") {
		many[tag] = "x"
	}
	refused(t, redistest.ErrorOf(Board{Name: "b", Title: many}.Normalize()), "title")
	refused(t, redistest.ErrorOf(Board{Name: "b", Title: Label{"": "x", "en": "y"}}.Normalize()), "title")
	for field, d := range map[string]Board{
		"title":           {Title: Label{"": "a\u202eb"}},
		"description.en":  {Description: Label{"en": "\u200b"}},
		"display.unit.zh": {Display: Display{Unit: Label{"zh": "\u2066"}}},
	} {
		d.Name = "b"
		_, err := d.Normalize()
		var fe *FieldError
		require.ErrorAs(t, err, &fe)
		require.Equal(t, field, fe.Field)
	}
}
