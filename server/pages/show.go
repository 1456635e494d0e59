package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v5"
	"golang.org/x/text/language"

	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
)

const (
	showPath = "/show/:event"
	starPath = "/show/:event/:member"
	// firstShowPath leads to the page of the first event that has one.
	firstShowPath = "/stars"
	// maxShowLinks bounds the links to pages of events at the head of a page. The front page lists all of more.
	maxShowLinks = 3
)

// showView is the page of an event, or of one of its stars: a star is a member of the show's board.
type showView struct {
	Event        definition.Event // also for the script
	Title        string
	BoardTitle   string
	Fans, Recent string // titles of the boards of the star
	Icon         string // of the board, in place of a flower; "" for none that the page may show
	Choices      []choiceView
	Langs        showLangs
}

// showLangs are the languages of labels on the page of an event; "" for that of the page, and for none.
type showLangs struct{ Title, Lead, BoardTitle, Fans, Recent, Unit string }

// choiceView is a button that sends a gift.
type choiceView struct {
	Amount  int64
	Number  string
	Unit    string     // "" for none
	Symbols []struct{} // flowers, or the icon as often
}

// showPage fills the page of an event, and that of one of its stars.
func (f *filler) showPage() {
	v := f.first("")
	v.Me = f.me("me")
	e := f.show.event
	if e == nil {
		return
	}
	show := &showView{Event: *e, Fans: e.Show.Fans, Recent: e.Show.Recent}
	star := f.star()
	b := f.read(v, e.Show.Board, showTop, star, 0)
	v.Definitions = f.show.definitions
	show.BoardTitle = cmp.Or(v.Title, e.Show.Board)
	show.Title = cmp.Or(e.Show.Title.In(f.tag), show.BoardTitle)
	show.Langs.Title = f.langOf(e.Show.Title)
	v.Show, v.Title = show, show.Title
	if f.tag != f.template.locale.tag {
		v.Labels = f.tag
	}
	if f.address != "" {
		v.URL = f.address + ShowPath(e.Name, star)
	}
	if b == nil {
		return
	}
	d := b.about.Definition
	show.Langs.BoardTitle, show.Langs.Lead, show.Langs.Unit = f.langOf(d.Title), f.langOf(d.Description), f.langOf(d.Display.Unit)
	if len(e.Show.Title) == 0 {
		show.Langs.Title = show.Langs.BoardTitle
	}
	if f.mayShow(d.Icon) {
		show.Icon = d.Icon
	}
	show.Choices = f.choices(e, d)
	for i, r := range b.rows {
		v.Board.Rows[i].HasGap = r.Rank > 1
	}
	v.HasCountdown, v.HasPeriods = v.Board.HasEnd && !b.final, d.Period != ""
	if star != "" {
		f.fillStar(v, b, star)
	}
}

// fillStar fills the page of a star in: the star, and the boards of its fans.
func (f *filler) fillStar(v *firstView, b *boardState, star string) {
	v.Star = &starView{Name: star}
	avatar := ""
	for _, row := range slices.Concat(b.rows, b.below) {
		if row.Member == star && row.Rank > 0 {
			v.Star.Name, avatar = cmp.Or(row.Name, star), row.Avatar
		}
	}
	v.Star.Portrait = f.portrait(star, v.Star.Name, avatar)
	v.Title = v.Star.Name + " · " + v.Show.Title
	fans, recent := v.Show.Event.ShownBoards(star)
	for i, board := range []string{fans, recent} {
		if board == "" {
			continue
		}
		title, lang := []*string{&v.Show.Fans, &v.Show.Recent}[i], []*string{&v.Show.Langs.Fans, &v.Show.Langs.Recent}[i]
		*title = board
		b := f.site.reader.board(f.ctx, board, fansTop, v.Me, 0)
		if b == nil {
			continue
		}
		named := b.about.Definition.Title.Fill(func(string) string { return v.Star.Name })
		*title, *lang = cmp.Or(named.In(f.tag), board), f.langOf(named)
		v.Fans[i] = f.boardView(board, b, fansTop, v.Me)
		v.Fans[i].Goal = "" // which is the star's
	}
}

// choices are the buttons that send an event; nil where the page cannot fill the event. See newButton in
// web/assets/show/gift-buttons.js.
func (f *filler) choices(e *definition.Event, d definition.Board) (buttons []choiceView) {
	amounts := choicesOf(e)
	for i, n := range amounts {
		symbols := 1 + (8*i+len(amounts)-1)/max(2*(len(amounts)-1), 1)
		number, unit := strconv.FormatInt(n, 10), ""
		if d.Columns == nil {
			number, unit, _ = strings.Cut(scoretext.Short(n, d.Display, f.tag), " ")
		}
		buttons = append(buttons, choiceView{n, number, unit, make([]struct{}, symbols)})
	}
	return buttons
}

// choicesOf are the amounts that a page offers; nil where the page cannot fill the event. readShow in web/assets/show/event.js
// chooses the same: web/testdata/choices.json has cases for both.
func choicesOf(e *definition.Event) []int64 {
	amount, fan, one := "", e.Sender, int64(1)
	for _, t := range e.Updates {
		field, _ := t.MemberField()
		switch t.Board {
		case e.Show.Board:
			if field == e.ShownField() {
				if n, err := strconv.ParseInt(string(t.Score), 10, 64); err == nil {
					one = n
				} else if name, is := definition.PlaceholderIn(string(t.Score)); is {
					amount = name
				}
			}
		case e.Show.Fans, e.Show.Recent:
			fan = cmp.Or(fan, field)
		}
	}
	if fan == "" || one < 1 || slices.ContainsFunc(e.FieldNames(), func(name string) bool {
		return name != e.ShownField() && name != fan && name != amount
	}) {
		return nil
	}
	rule := e.Rules[amount]
	switch {
	case amount == "":
		return []int64{one}
	case rule.Choices != nil:
		return rule.Choices
	}
	return usualChoices(rule)
}

// usualChoices are the amounts where the rule of the field names none. See choicesOf in web/assets/show/event.js.
func usualChoices(rule definition.FieldRule) (amounts []int64) {
	least, most := int64(1), int64(definition.MaxScore)
	if rule.Min != nil {
		least = max(*rule.Min, 1)
	}
	if rule.Max != nil {
		most = *rule.Max
	}
	for _, n := range []int64{1, 10, 99} {
		if least <= most/n {
			amounts = append(amounts, n*least)
		}
	}
	if len(amounts) == 1 && most > least {
		amounts = append(amounts, most)
	}
	return amounts
}

// serveFirstShow leads to the page of the first event that has one for viewers without a token, and of the star that the query
// names.
func (s *Site) serveFirstShow(c *echo.Context) error {
	shows, err := s.reader.shows(c.Request().Context())
	if err != nil {
		return err
	}
	if len(shows) == 0 {
		return s.serveMissing(c, missing{AnyShow: true}, echo.ErrNotFound)
	}
	query := c.QueryParams()
	path := ShowPath(shows[0].event.Name, query.Get("star"))
	query.Del("star")
	return redirect(c, http.StatusTemporaryRedirect, "./"+path, query.Encode())
}

// labelTag is the language of the labels that the reader of a page wants: the best one of theirs for ?lang and
// Accept-Language. Without one that fits it is the language of the page. See chooseLanguage in web/assets/show/event.js.
func labelTag(r *http.Request, page string, labels ...definition.Label) string {
	asked, _, _ := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if tag, err := language.Parse(r.URL.Query().Get("lang")); err == nil {
		asked = slices.Insert(asked, 0, tag)
	}
	var tags []string
	for _, l := range labels {
		for tag := range l {
			if tag != "" && !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	slices.Sort(tags)
	var known []language.Tag
	for _, tag := range tags {
		known = append(known, language.Make(tag))
	}
	if _, i, confidence := language.NewMatcher(known).Match(asked...); len(known) > 0 && confidence > language.No {
		return tags[i]
	}
	return page
}

// langOf is the language of the text of a label on this page; "" for that of the page, and for none.
func (f *filler) langOf(l definition.Label) string {
	if lang := l.TagFor(f.tag); lang != f.template.locale.tag {
		return lang
	}
	return ""
}

// showsPage fills in the links to the pages of events: a few at the head of the page, all of more on the front page.
func (f *filler) showsPage() {
	links := f.showLinks("", "")
	f.page.Shows = links[:min(len(links), maxShowLinks)]
	if len(links) > maxShowLinks {
		f.page.AllShows, f.page.AllShowsPath = links, f.page.Root+queryOf("lang", f.language())+"#shows"
	}
}

// showLinks are links, in the order of their titles, to the pages of events whose stars are of a kind, "" for any, and on them
// to those of a star, "" for none. While they cannot be read, there are none.
func (f *filler) showLinks(kind, star string) (links []navLink) {
	shows, _ := f.site.reader.shows(f.ctx)
	for _, s := range shows {
		if kind == "" || kind == s.board.Kind {
			links = append(links, navLink{
				Board: s.event.Name, Title: cmp.Or(s.event.Show.Title.In(f.tag), s.board.Title.In(f.tag), s.board.Name),
				Path: f.page.Root + ShowPath(s.event.Name, star) + queryOf("lang", f.language()),
			})
		}
	}
	slices.SortStableFunc(links, func(a, b navLink) int { return strings.Compare(a.Title, b.Title) })
	return links[:min(len(links), maxDefinitions)]
}
