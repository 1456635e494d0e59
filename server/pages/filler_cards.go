package pages

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
)

// minFiltered is the number of cards from which the front page has a filter; see web/assets/dashboard/overview.js.
const minFiltered = 9

// overview fills the front page.
func (f *filler) overview() {
	_, f.page.StarFlowers = f.site.cfg.Reader.Show(f.ctx)
	o := f.site.cfg.Reader.Overview(f.ctx)
	if o == nil {
		return
	}
	p, v := f.template.phrases, f.first("")
	v.Definitions = f.site.cfg.Reader.Definitions(f.ctx, maxDefinitions)
	boards := slices.Clone(o.Boards)
	slices.SortStableFunc(boards, func(a, b BoardCard) int { return cmp.Compare(activity(b, o.Now), activity(a, o.Now)) })
	for _, b := range boards {
		v.Cards = append(v.Cards, f.card(b, o.Now, cmp.Or(b.About.Title.In(p.tag), b.Board), f.icon(b.About.Definition)))
	}
	for _, family := range o.Families {
		v.Cards = append(v.Cards, f.familyCard(family))
	}
	switch {
	case o.LeftOff > 0:
		v.Note = p.text("overview_left_off", "n", scoretext.Number(int64(o.LeftOff)))
	case len(v.Cards) == 0:
		v.Note = p.text("no_boards")
	default:
		v.Note = p.counted("boards", int64(len(v.Cards)))
	}
}

// activity is a step of a board's rate of changes: a small difference between two rates changes no order. Boards without
// scores, and those that are over, come after the others. See activity in web/assets/dashboard/overview.js.
func activity(b BoardCard, now time.Time) int {
	switch {
	case b.Rate != nil && *b.Rate > 0:
		return bits.Len64(uint64(*b.Rate))
	case b.Total == 0 || b.over(now):
		return -1
	}
	return 0
}

// over reports whether the board takes no more scores.
func (b BoardCard) over(now time.Time) bool {
	return !b.About.Ends.IsZero() && !b.About.Ends.After(now)
}

// family fills the page of a family with cards of its first instances; see web/assets/dashboard/family.js.
func (f *filler) family(v *firstView, d definition.Board) {
	for kind := range d.Parts(d.Name) {
		v.Parts = append(v.Parts, kind)
	}
	family := f.site.cfg.Reader.Family(f.ctx, d.Name)
	if family == nil {
		return
	}
	for _, b := range family.Boards {
		name, portrait := f.partsView(b.Parts)
		v.Cards = append(v.Cards, f.card(b, family.Now, name, portrait))
	}
	p := f.template.phrases
	switch shown := int64(len(family.Boards)); {
	case family.Total == 0:
		v.Note = p.text("no_instances")
	case family.Total > shown:
		v.Note = p.text("first_instances", "listed", scoretext.Number(shown), "total", scoretext.Number(family.Total))
	default:
		v.Note = p.counted("boards", family.Total)
	}
}

// card is the card of a board; see renderBoard in web/assets/dashboard/board-card.js.
func (f *filler) card(b BoardCard, now time.Time, title string, portrait portraitView) cardView {
	p, d := f.template.phrases, b.About.Definition
	card := cardView{Board: b.Board, Title: title, Path: f.link(b.Board), Portrait: portrait, Unavailable: b.Unavailable}
	if b.Unavailable {
		card.Rate = p.text("board_unavailable")
		return card
	}
	for _, r := range b.Top {
		name := cmp.Or(r.Name, r.Member)
		card.Rows = append(card.Rows, cardRow{scoretext.Number(r.Rank), name, scoretext.Short(r.Score, d.Display, p.tag), f.portrait(r.Member, name, r.Avatar)})
	}
	switch {
	case len(b.Top) > 0:
	case b.Built:
		card.Note = p.text("leader_unknown")
	case b.over(now):
		card.Note = p.text("kit_no_scores")
	default:
		card.Note = p.text("no_scores_yet")
	}
	if len(b.Top) > 0 || !b.Built {
		card.Total = p.counted("members", b.Total)
	}
	card.Ends, card.Period = p.cardEnds(b, now), b.About.Period
	if b.About.Period != "" {
		card.PeriodTitle = cmp.Or(p.texts["this_"+d.Period], b.About.Period)
	}
	if b.Rate != nil && *b.Rate > 0 {
		card.Rate = p.text("rate", "n", scoretext.Number(*b.Rate))
	}
	return card
}

// familyCard is the card of a family; see renderFamily in web/assets/dashboard/board-card.js.
func (f *filler) familyCard(family FamilyCard) cardView {
	d := family.Definition
	card := cardView{Board: d.Name, Title: f.titleOf(d), Path: f.link(d.Name), Portrait: f.icon(d), IsFamily: true, Unavailable: family.Unavailable}
	if family.Unavailable {
		card.Rate = f.template.phrases.text("board_unavailable")
		return card
	}
	card.Total = f.template.phrases.counted("boards", family.Instances)
	for _, instance := range family.First {
		name, portrait := f.partsView(instance.Parts)
		card.Faces = append(card.Faces, faceView{instance.Board, name, f.link(instance.Board), portrait})
	}
	return card
}

// partsView names an instance by the members that it is of; see partsName in web/assets/dashboard/board-card.js.
func (f *filler) partsView(parts []ranking.Part) (name string, portrait portraitView) {
	names := make([]string, len(parts))
	for i, part := range parts {
		names[i] = cmp.Or(part.Profile.Name, part.Member)
	}
	return strings.Join(names, " · "), f.portrait(parts[0].Member, names[0], parts[0].Profile.Avatar)
}

// icon is the circle with the icon of a board or a family; zero without an icon that the page may show.
func (f *filler) icon(d definition.Board) portraitView {
	if !f.mayShow(d.Icon) {
		return portraitView{}
	}
	return f.portrait(d.Name, f.titleOf(d), d.Icon)
}

// cardEnds is the end of a board on a card.
func (p phrases) cardEnds(b BoardCard, now time.Time) string {
	if wait := p.timeLeft(b.About.Definition.Starts.Sub(now)); !b.About.Definition.Starts.IsZero() && wait != "" {
		return p.text("begins_in", "left", wait)
	}
	if b.About.Ends.IsZero() {
		return ""
	}
	if left := p.timeLeft(b.About.Ends.Sub(now)); left != "" {
		return p.text("ends_in", "left", left)
	}
	return p.text("ended")
}

// period names a period of a list that begins with the present one: this week, last week, or its own name. A reader cannot
// tell the time from a number, so that name comes with the time at which the period opened. See listedPeriodTitle in
// web/assets/shared/period-title.js.
func (p phrases) period(d definition.Board, list []ranking.PeriodInfo, i int) string {
	name := list[i].Period
	present, natural := p.texts["this_"+d.Period]
	switch {
	case !natural:
		return name + " · " + list[i].Opens.UTC().Format(minuteForm)
	case i == 0:
		return present
	case i == 1 && list[1].Ends.Equal(list[0].Opens):
		return p.texts["last_"+d.Period]
	}
	return name
}
