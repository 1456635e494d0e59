package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
)

// page is the data of a template; see package web.
type page struct {
	Lang, LangTag string
	Root, Home    string
	Writes        bool // somebody may send scores
	Anonymous     bool // also without a token
	Texts         map[string]string
	Style         template.CSS
	Tops          []string   // numbers of entries that the page of a board offers
	AvatarOrigins string     // of other sites, see Config
	Missing       missing    // what does not exist
	Front         bool       // it is the front page
	MinFiltered   int        // the number of cards from which the front page has a filter
	Shows         []navLink  // the pages of events at the head of the page
	AllShows      []navLink  // all, if there are more, in a list on the front page
	AllShowsPath  string     // of the list; "" for none
	BlankCard     cardView   // for the script, with a row and a face
	Skeletons     []cardView // in place of cards that are not known
	Settings      settings   // of the reader
	First         firstView  // what the page shows before its script runs
}

// firstView is what a page shows before its script runs. The parts that a page does not use are zero, and so is
// all of it in the empty page.
type firstView struct {
	Title        string // for people
	Description  string
	URL, Card    string // addresses of the page and of its card; "" if the server does not know its own
	Board        *boardView
	Me, MeName   string // the followed member, and its name or id
	Final        bool   // the board is of a closed period
	Most         int    // entries that a list can show
	IsFamily     bool
	Nav          []navLink
	HasPeriods   bool               // the board has periods, so there is room for links to them
	HasCards     bool               // Cards are known
	Cards        []cardView         // of the front page, or of a family
	Parts        []string           // placeholders of a family
	Note         string             // about a member
	Definitions  []definition.Board // for the script
	Story        *storyView
	StoryPath    string // of the board's story; "" if it records no history
	Member       *memberView
	Show         *showView // of an event
	Star         *starView
	Fans         [2]*boardView     // of the star: for long, and for a short time
	Labels       string            // the language of labels; "" for that of the page
	HasCountdown bool              // there is a time that is left
	Data         map[string]string // attributes data-… of <html>
	Look         lookView          // of an overlay
}

// boardView is a <live-leaderboard> with its first rows.
type boardView struct {
	Board, Top, Me, Around string
	Goal                   string // of the followed member; "" for none
	Unit                   string // of scores; "" for none
	HasPeriod, HasEnd      bool   // the element has a line about them
	Rows                   []rowView
	Below                  []rowView
	Room                   bool // for the followed member's row, should it leave the first entries
	Lines                  int  // rows for which an overlay has room: a few also while the board has fewer
	IsEmpty                bool // the board has no entries: the element has a note
	Snapshot, Standing     jsontext.Value
	columnsView
}

// storyView is the story of a board as of its last step.
type storyView struct {
	BoardPath string
	Recorded  bool
	Places    []string // ranks for which the chart has a line
	Rows      []rowView
	columnsView
}

// memberView is a member and the boards on which it stands.
type memberView struct {
	Member   string
	Portrait portraitView
	Boards   []memberBoardView
	Shows    []navLink // its pages as a star
}

// memberBoardView is the place of a member on a board.
type memberBoardView struct {
	Board, Title, Path, Rank string
	scoreView
	HasHistory bool
}

// rowView is one entry.
type rowView struct {
	Member, Rank, Name string
	Portrait           portraitView
	HasGap             bool // the element adds the gap to the place above
	scoreView
	Length int   // of Score, in characters
	Podium int64 // 1 to 3; 0: none
	Me     bool
}

// scoreView is a score: Columns on a board with columns, otherwise Score, which ends with a space before a unit.
type scoreView struct {
	Score, ScoreUnit string
	Columns          []columnView
}

// navLink is a link to a board in the list of boards, or to the page of an event.
type navLink struct {
	Board, Title, Path string
	Icon               portraitView
	Current            string // aria-current: "page", "true" for the family of the board, or ""
}

// portraitView is a circle with the first letter of a name, and with an image if the page may show it. The zero value is
// no circle.
type portraitView struct {
	Initial, Image string
	Hue            int // see hueOf
}

// cardView is a card of the front page, or of a family.
type cardView struct {
	Board, Title, Path    string
	Portrait              portraitView // the icon of the board, or the member that it is of
	Rows                  []rowView
	Faces                 []faceView // of a family
	IsFamily, Unavailable bool
	columnsView
}

// faceView is a link to an instance of a family.
type faceView struct {
	Board, Name, Path string
	Portrait          portraitView
}

// starView is the star of the page of an event.
type starView struct {
	Name     string
	Portrait portraitView
}

// pageTemplate is the template of a page in one language.
type pageTemplate struct {
	template  *template.Template
	locale    locale
	texts     map[string]string
	fixed     page // what is the same in all answers
	styleHash string
	// hasSettings says that the page has the menu of settings, and shows what the reader has chosen.
	hasSettings bool
}

// newPageTemplate parses the template of a page, and renders the page once without rows, so that no later request
// finds an error in it.
func newPageTemplate(files fs.FS, p pageFile, l locale, avatarOrigins string) (*pageTemplate, error) {
	parsed, texts, err := parsePage(files, p.file, l)
	if err != nil {
		return nil, err
	}
	style, hash, err := readStyle(files, p.root, p.styles)
	if err != nil {
		return nil, err
	}
	t := &pageTemplate{template: parsed, hasSettings: slices.Contains(p.styles, settingsStyle), locale: l, texts: texts,
		styleHash: hash, fixed: page{
			Lang: l.name, LangTag: l.tag, Root: p.root, Home: p.root, Texts: textsOf(p, texts), Style: style, Tops: dashboardTops,
			AvatarOrigins: avatarOrigins, Front: p.path == "/", MinFiltered: minFiltered,
			BlankCard: cardView{Rows: make([]rowView, 1), Faces: make([]faceView, 1)}, Skeletons: make([]cardView, 6),
		}}
	_, err = t.render(t.fixed)
	return t, err
}

// textsOf returns the texts that a page's script gets. Only the builder gets its own texts, because they are many.
func textsOf(p pageFile, texts map[string]string) map[string]string {
	if p.path == builderPath {
		return texts
	}
	texts = maps.Clone(texts)
	maps.DeleteFunc(texts, func(key, _ string) bool { return strings.HasPrefix(key, "builder_") })
	return texts
}

// parsePage parses the template of a page in one language, and reads that language's texts. Executing the
// template fails if the page uses an unknown text.
func parsePage(files fs.FS, file string, l locale) (*template.Template, map[string]string, error) {
	texts, err := l.readTexts(files)
	if err != nil {
		return nil, nil, err
	}
	text := func(key string) (string, error) {
		if text, there := texts[key]; there {
			return text, nil
		}
		return "", fmt.Errorf("texts/%s.json has no %q", l.name, key)
	}
	t, err := template.New(file).Funcs(template.FuncMap{"text": text}).ParseFS(files, "pages/shared.html", "pages/"+file)
	return t, texts, err
}

// readStyle joins style sheets of assets/, whose relative URLs lead from the page through root, and returns also the source
// expression that allows them in a policy (Content Security Policy Level 3, section 2.3.1).
func readStyle(files fs.FS, root string, names []string) (style template.CSS, hash string, err error) {
	var b strings.Builder
	for _, name := range names {
		content, err := fs.ReadFile(files, path.Join("dist/assets", name))
		if err != nil {
			return "", "", err
		}
		b.WriteString(strings.ReplaceAll(string(content), "url(", "url("+root+path.Join("assets", path.Dir(name))+"/"))
	}
	sum := sha256.Sum256([]byte(b.String()))
	return template.CSS(b.String()), "sha256-" + base64.StdEncoding.EncodeToString(sum[:]), nil
}

func (t *pageTemplate) render(data page) (*asset, error) {
	d, err := renderAsset(t.template, t.locale, data, filledLevel)
	if err != nil {
		return nil, err
	}
	d.addVary("Accept-Language")
	if t.hasSettings {
		d.addVary("Cookie")
	}
	return d, nil
}
