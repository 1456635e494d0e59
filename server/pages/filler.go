package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rankcast/ranking/definition"
)

const (
	// dashboardTop, overlayTop, embedTop, showTop and fansTop are the numbers of entries on pages whose URL names none.
	dashboardTop, overlayTop, embedTop, showTop, fansTop = 10, 5, 10, 20, 10
	// dashboardAround is the number of neighbours on each side of a followed member below the list.
	dashboardAround = 2
)

// dashboardTops are the numbers of entries that the page of a board offers.
var dashboardTops = []string{"5", "10", "25", "50", "100", "200"}

// embedThemes are the themes of a board in a frame, wallThemes those of a wall. The first of each is the default.
var embedThemes, wallThemes = []string{"auto", "light", "dark"}, []string{"dark", "light"}

// placeholder matches a placeholder in the title of a family.
var placeholder = regexp.MustCompile(`\{\w+\}`)

// goals matches 1 to 10 goals, which may not be in order.
var goals = regexp.MustCompile(`^[0-9]{1,16}(,[0-9]{1,16}){0,9}$`)

// filler fills a page in with what its reader knows.
type filler struct {
	site     *Site
	address  string          // of the site; "" if it is not known
	query    url.Values      // of the page's URL
	ctx      context.Context // ends when the page must come without what is not read yet
	template *pageTemplate
	tag      string // the language of labels
	page     page
	board    string // the parameter of the path; "" for none
	// kind and member are the parameters of the path of a member's page, event and member those of the page of an event.
	kind, member, event string
	show                showState // of the event
	isMissing           bool      // what the page is about does not exist
}

// key names a filled page by all that it depends on, except the boards. Of the URL it has only what the page uses, so that
// other parameters make no further page.
func (f *filler) key(page, locale int) string {
	options := optionsOf(page, locale, f.page.Writes, f.page.Anonymous, f.site.reader.guard.Version(), f.board)
	switch pageFiles[page].path {
	case overlayPath:
		return options + optionsOf(f.look(), f.top(overlayTop, 1, 100), f.me("me"), f.goal())
	case embedPath:
		return options + optionsOf(f.oneOf("theme", embedThemes...), f.top(embedTop, 1, 100), f.me("me"), f.goal())
	case wallPath, wallsPath:
		return options + optionsOf(f.oneOf("theme", wallThemes...))
	}
	return options + optionsOf(f.address, f.language(), f.tag, f.dashboardTop(), f.me("me"), f.goal(), f.kind, f.member, f.event,
		f.page.Settings)
}

func optionsOf(options ...any) string { return fmt.Sprintf("%#v", options) }

// top returns the number of entries that the URL asks for, within bounds; see numberOf in
// web/assets/shared/url-options.js.
func (f *filler) top(otherwise, least, most int) int {
	n, err := strconv.Atoi(f.query.Get("top"))
	if err != nil {
		return otherwise
	}
	return min(max(n, least), most)
}

// oneOf returns the value of an option in the URL; the first value by default.
func (f *filler) oneOf(key string, values ...string) string {
	if asked := f.query.Get(key); slices.Contains(values, asked) {
		return asked
	}
	return values[0]
}

// goal returns the goals that the URL names for the followed member, as the element takes them (web/kit/goal.js); "" for none, and
// for what can be none.
func (f *filler) goal() string {
	goal := f.query.Get("goal")
	if f.followed() == "" || !goals.MatchString(goal) {
		return ""
	}
	before := 0
	for level := range strings.SplitSeq(goal, ",") {
		n, _ := strconv.Atoi(level) // it has 16 digits at most
		if n <= before || n > definition.MaxScore {
			return ""
		}
		before = n
	}
	return goal
}

// me returns the member that the URL follows; "" for none, and for what can be no member.
func (f *filler) me(parameter string) string {
	me := f.query.Get(parameter)
	if definition.CheckMember(me) != nil {
		return ""
	}
	return me
}

// followed returns the member that the board of the page follows; "" for none.
func (f *filler) followed() string {
	switch {
	case f.event != "":
		return f.star()
	case f.board == "":
		return ""
	}
	return f.me("me")
}

// star returns the star of the page of an event; "" for none, and for what can be no member.
func (f *filler) star() string {
	if definition.CheckMember(f.member) != nil {
		return ""
	}
	return f.member
}

// first starts the view of a page about a board; "" for none.
func (f *filler) first(board string) *firstView {
	v := &f.page.First
	v.Title = board
	v.Most = f.site.reader.maxTop
	if f.address != "" && board != "" {
		v.URL = f.address + BoardPath(board)
	}
	return v
}

// read reads a board into the view of its element, and names the page by it. It returns nil if the reader does.
func (f *filler) read(v *firstView, board string, top int, me string, around int) *boardState {
	b := f.site.reader.board(f.ctx, board, top, me, around)
	if b == nil {
		return nil
	}
	v.Title = cmp.Or(b.about.Title.In(f.tag), board)
	v.Description = b.about.Description.In(f.tag)
	v.Board = f.boardView(board, b, top, me)
	if v.URL != "" {
		v.Card = f.address + CardPath(board)
	}
	return b
}

// boardPage fills the page of one board.
func (f *filler) boardPage() {
	v := f.first(f.board)
	f.showsPage()
	v.Definitions = f.site.reader.definitions(f.ctx)
	v.Me = f.me("me")
	v.MeName = v.Me
	for _, d := range v.Definitions {
		if d.Name == f.board && d.Family() {
			v.Title, v.IsFamily = f.titleOf(d), true
			v.Description = placeholder.ReplaceAllString(d.Description.In(f.tag), "…")
			f.family(v, d)
		}
	}
	if b := f.read(v, f.board, f.dashboardTop(), v.Me, dashboardAround); b != nil {
		v.Board.Around, v.Final = strconv.Itoa(dashboardAround), b.final
		for _, row := range slices.Concat(b.rows, b.below) {
			if row.Member == v.Me {
				v.MeName = cmp.Or(row.Name, b.meName, row.Member)
			}
		}
		f.define(v, b.about.Definition)
		v.HasPeriods = b.about.Definition.Period != ""
		if b.about.Definition.History > 0 {
			v.StoryPath = f.page.Root + StoryPath(f.board) + queryOf("me", v.Me, "lang", f.language())
		}
	}
	for _, d := range v.Definitions {
		v.Nav = append(v.Nav, navLink{Board: d.Name, Title: f.titleOf(d), Path: f.link(d.Name), Icon: f.icon(d),
			Current: currentOf(d.Name, f.board)})
	}
}

// link is the path of the page of a board, with the reader's present choices, as boardURL in
// web/assets/dashboard/dashboard.js makes it.
func (f *filler) link(board string) string {
	top := strconv.Itoa(f.dashboardTop())
	if top == strconv.Itoa(dashboardTop) {
		top = ""
	}
	return f.page.Root + BoardPath(board) + queryOf("top", top, "me", f.me("me"), "lang", f.language())
}

// queryOf makes a query of pairs of a name and a value, without those of an empty value; "" for none.
func queryOf(pairs ...string) string {
	var q []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q = append(q, pairs[i]+"="+url.QueryEscape(pairs[i+1]))
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + strings.Join(q, "&")
}

// language is the language that the URL asks for; "" for that of the reader.
func (f *filler) language() string {
	names := []string{""}
	for _, l := range locales {
		names = append(names, l.name)
	}
	return f.oneOf("lang", names...)
}

// dashboardTop is the number of entries on the page of a board: one that the page offers.
func (f *filler) dashboardTop() int {
	top := f.top(dashboardTop, 1, 200)
	if !slices.Contains(dashboardTops, strconv.Itoa(top)) {
		return dashboardTop
	}
	return top
}

// define adds the definition of the page's own board, if it is not among the first ones.
func (f *filler) define(v *firstView, d definition.Board) {
	if !slices.ContainsFunc(v.Definitions, func(other definition.Board) bool { return other.Name == d.Name }) {
		v.Definitions = append(v.Definitions, d)
	}
}

// titleOf is the title of a board or family in a list; see titleOf in web/assets/shared/board-name.js.
func (f *filler) titleOf(d definition.Board) string {
	title := d.Title.In(f.tag)
	if d.Family() {
		title = placeholder.ReplaceAllString(title, "…")
	}
	return cmp.Or(title, d.Name)
}

// currentOf is the attribute aria-current of a link to the board or family of a definition, on the page of a board.
func currentOf(defined, board string) string {
	if defined == board {
		return "page"
	}
	instance, _, _ := strings.Cut(board, "@")
	base, placeholders, _ := strings.Cut(defined, ":")
	of, parts, _ := strings.Cut(instance, ":")
	if base == of && strings.Count(placeholders, ":") == strings.Count(parts, ":") && (placeholders == "") == (parts == "") {
		return "true"
	}
	return ""
}

// embed fills the page for frames of other sites.
func (f *filler) embed() {
	v := f.first(f.board)
	v.Data = map[string]string{"theme": f.oneOf("theme", embedThemes...)}
	f.read(v, f.board, f.top(embedTop, 1, 100), f.me("me"), 0)
}

// wall fills the page for large screens with the title of its board. Its script reads the boards: such a page stays open for days.
func (f *filler) wall() {
	v := f.first(f.board)
	v.Data = map[string]string{"theme": f.oneOf("theme", wallThemes...)}
	if f.board != "" {
		f.read(v, f.board, 1, "", 0)
	}
}
