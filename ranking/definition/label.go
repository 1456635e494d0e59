package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"
)

// Label is a text for people: one for all languages, under the key "", or one for each of some languages.
// The other keys are language tags in canonical form (BCP 47), such as zh and pt-BR. A nil Label means no text.
// Definitions write the first form as a string, and the second as an object.
type Label map[string]string

// maxLanguages bounds the languages of a Label.
const maxLanguages = 20

// In returns the text for a language tag. If l lacks the language, the text is that of a shorter tag, such as
// zh for zh-TW. After that come another tag of the language, English, and the first tag in byte order.
// In returns "" only for a nil Label. The function textIn of web/kit/format.js chooses by the same rule.
func (l Label) In(tag string) string { return l[l.TagFor(tag)] }

// TagFor returns the tag of the text that In returns; "" for a text for all languages, and for none.
func (l Label) TagFor(tag string) string {
	if _, ok := l[""]; ok || len(l) == 0 {
		return ""
	}
	tags := slices.Sorted(maps.Keys(l))
	find := func(matches func(string) bool) (string, bool) {
		i := slices.IndexFunc(tags, func(t string) bool { return matches(strings.ToLower(t)) })
		if i < 0 {
			return "", false
		}
		return tags[i], true
	}
	wanted := strings.ToLower(tag)
	for shorter := wanted; shorter != ""; {
		if found, ok := find(func(t string) bool { return t == shorter }); ok {
			return found
		}
		cut := strings.LastIndexByte(shorter, '-')
		shorter = shorter[:max(cut, 0)]
	}
	base, _, _ := strings.Cut(wanted, "-")
	if found, ok := find(func(t string) bool { return strings.HasPrefix(t, base+"-") }); ok {
		return found
	}
	if found, ok := find(func(t string) bool { return t == "en" || strings.HasPrefix(t, "en-") }); ok {
		return found
	}
	return tags[0]
}

// MarshalJSON writes l as definitions do, with the languages in byte order.
func (l Label) MarshalJSON() ([]byte, error) {
	if text, ok := l[""]; ok {
		return json.Marshal(text)
	}
	return json.Marshal(map[string]string(l), json.Deterministic(true))
}

// UnmarshalJSON reads the output of MarshalJSON.
func (l *Label) UnmarshalJSON(b []byte) error {
	v, err := parseJSON("", b)
	if err != nil {
		return err
	}
	return l.read(v)
}

const wantLabel = "a text, or an object with a text for each language, such as {en: Stars, zh: 明星}"

// read reads a Label. normalize checks its languages.
func (l *Label) read(v Value) error {
	if v.Kind == '"' {
		var text string
		err := ReadText(v, &text)
		*l = Label{"": text}
		return err
	}
	if v.Kind != '{' {
		return v.Want(wantLabel)
	}
	if len(v.Fields) == 0 {
		return v.Refuse("is an empty object; want " + wantLabel)
	}
	*l = make(Label, len(v.Fields))
	for _, f := range v.Fields {
		if f.Name == "" {
			return f.Refuse(notALanguage)
		}
		var text string
		if err := ReadText(f.Value, &text); err != nil {
			return err
		}
		(*l)[f.Name] = text
	}
	return nil
}

const notALanguage = "is not a language; want a tag such as en, zh or pt-BR"

// normalize puts the tags of l into canonical form, and makes a Label without texts nil. textFault returns the fault
// of one text, or "".
func (l *Label) normalize(field string, textFault func(text string) string) error {
	if len(*l) > maxLanguages {
		return Invalid(field, fmt.Sprintf("has %d languages; want at most %d", len(*l), maxLanguages))
	}
	if _, all := (*l)[""]; all && len(*l) > 1 {
		return Invalid(field, "has a text for all languages beside others; want one of the two")
	}
	var normal Label
	for tag, text := range l.each {
		path := labelPath(field, tag)
		if tag != "" {
			parsed, err := language.Parse(tag)
			if err != nil || parsed == language.Und {
				return Invalid(path, notALanguage)
			}
			tag = parsed.String()
		}
		if reason := textFault(text); reason != "" {
			return Invalid(path, reason)
		}
		if _, again := normal[tag]; again {
			return Invalid(path, "is given twice, as "+tag)
		}
		if normal == nil {
			normal = make(Label, len(*l))
		}
		normal[tag] = text
	}
	*l = normal
	return nil
}

// each yields the tags, in byte order, and their texts.
func (l Label) each(yield func(tag, text string) bool) {
	for _, tag := range slices.Sorted(maps.Keys(l)) {
		if !yield(tag, l[tag]) {
			return
		}
	}
}

// labelPath is the path of one text of a Label in an error.
func labelPath(field, tag string) string {
	if tag == "" {
		return field
	}
	return FieldPath(field, tag)
}

// lengthFault is TextFault for a text of at most so many characters.
func lengthFault(text string, most int) string {
	if reason := TextFault(text, utf8.UTFMax*most); reason != "" {
		return reason
	}
	if n := utf8.RuneCountInString(text); n > most {
		return fmt.Sprintf("has %d characters; want at most %d", n, most)
	}
	return ""
}

// Fill returns l with the value of each placeholder in the place of the placeholder, as in "Fans of {star}". Only
// the title and the description of a family have placeholders.
func (l Label) Fill(value func(placeholder string) string) Label {
	filled := make(Label, len(l))
	for tag, text := range l {
		t, err := parsePlaceholders(text)
		if err != nil { // Normalize refuses such a text on a family
			filled[tag] = text
			continue
		}
		filled[tag] = t.expand(value)
	}
	return filled
}
