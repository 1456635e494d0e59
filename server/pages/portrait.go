package pages

import (
	"hash/fnv"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// portraitOf is the portrait of a member of an id and a name; see web/assets/stars/portrait.js.
func (f *filler) portraitOf(id, name, avatar string) *portraitView {
	hash := fnv.New32a()
	hash.Write([]byte(id))
	p := &portraitView{Initial: initialOf(name), Hue: hash.Sum32() % 360}
	if f.mayShow(avatar) {
		p.Avatar = avatar
	}
	return p
}

// initialOf is the first letter of a name.
func initialOf(name string) string {
	for i, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return strings.ToUpper(name[i : i+utf8.RuneLen(r)])
		}
	}
	return ""
}

// mayShow reports whether the policy of the page allows an avatar: one of this server, or of an origin that the
// configuration names; see setAvatar in web/kit/rows.js.
func (f *filler) mayShow(avatar string) bool {
	u, err := url.Parse(avatar)
	switch {
	case err != nil || avatar == "":
		return false
	case u.Scheme == "" && u.Host == "":
		return strings.HasPrefix(avatar, "/") && !strings.HasPrefix(avatar, "/\\")
	}
	return slices.Contains(f.site.cfg.AvatarOrigins, strings.ToLower(u.Scheme+"://"+u.Host))
}
