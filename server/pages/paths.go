package pages

import (
	"net/url"
	"strings"
)

// BoardPath is the path of the page of a board, relative to the root of the site: boards/fans:s17.
func BoardPath(board string) string { return "boards/" + encodeSegment(board) }

// StoryPath is the path of the story of a board, relative to the root of the site: boards/fans:s17/story.
func StoryPath(board string) string { return BoardPath(board) + "/story" }

// MemberPath is the path of the page of a member, relative to the root of the site: members/star/s17.
func MemberPath(kind, member string) string {
	return "members/" + encodeSegment(kind) + "/" + encodeSegment(member)
}

// ShowPath is the path of the page of an event, or of one of its stars, relative to the root of the site: show/gift/s17. star
// is "" for the page of the event.
func ShowPath(event, star string) string {
	if star == "" {
		return "show/" + encodeSegment(event)
	}
	return "show/" + encodeSegment(event) + "/" + encodeSegment(star)
}

// CardPath is the path of the card of a board, a PNG of 1200 × 630 pixels, relative to the root of the site:
// boards/fans:s17/card.png. The tags og:image and twitter:image of a page name it after Config.SiteURL.
func CardPath(board string) string { return BoardPath(board) + "/card.png" }

// encodeSegment makes a name one segment of a path, with ":", "@" and "," as they are: see encodeSegment in
// web/assets/shared/links.js.
func encodeSegment(name string) string {
	return strings.ReplaceAll(url.PathEscape(name), "%2C", ",")
}
