package pages

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// portrait is the circle of a member.
func (f *filler) portrait(id, name, image string) portraitView {
	v := portraitView{Initial: initialOf(name), Hue: hueOf(id)}
	if f.mayShow(image) {
		v.Image = image
	}
	return v
}

// initialOf is the first letter or number of a name, or else its first character. web/testdata/portraits.json has what it and
// web/kit/portrait.js return, also for hueOf.
func initialOf(name string) string {
	for i, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return cases.Upper(language.Und).String(name[i : i+utf8.RuneLen(r)])
		}
	}
	_, size := utf8.DecodeRuneInString(name)
	return name[:size]
}

// hueOf is the hue of a member's color, 0 to 359.
func hueOf(id string) int {
	hash := 0
	for _, b := range []byte(id) {
		hash = (31*hash + int(b)) % 360
	}
	return 137 * hash % 360 // ids that follow each other have colors far apart
}

// mayShow reports whether the policy of the page allows an image: one of this server, or of an origin that the
// configuration names; see setAvatar in web/kit/portrait.js.
func (f *filler) mayShow(image string) bool {
	u, err := url.Parse(image)
	switch {
	case err != nil || image == "":
		return false
	case u.Scheme == "" && u.Host == "":
		return strings.HasPrefix(image, "/") && !strings.HasPrefix(image, "/\\")
	}
	return slices.Contains(f.site.cfg.AvatarOrigins, strings.ToLower(u.Scheme+"://"+u.Host))
}
