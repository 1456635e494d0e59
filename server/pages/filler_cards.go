package pages

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// minFiltered is the number of cards from which the front page has a filter; see web/assets/dashboard/overview.js.
const minFiltered = 9

// overview fills the front page.
func (f *filler) overview() {
	f.page.StarFlowers = f.site.cfg.Reader.Show(f.ctx).Readable
	o := f.site.cfg.Reader.Overview(f.ctx)
	if o == nil {
		return
	}
	v := f.first("")
	v.HasCards = true
	v.Definitions = f.site.cfg.Reader.Definitions(f.ctx, maxDefinitions)
	boards := slices.Clone(o.Boards)
	slices.SortStableFunc(boards, func(a, b BoardCard) int { return cmp.Compare(activity(b, o.Now), activity(a, o.Now)) })
	for _, b := range boards {
		v.Cards = append(v.Cards, f.card(b, cmp.Or(b.About.Title.In(f.template.locale.tag), b.Board), f.icon(b.About.Definition)))
	}
	for _, family := range o.Families {
		v.Cards = append(v.Cards, f.familyCard(family))
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
	instances := f.site.cfg.Reader.Family(f.ctx, d.Name)
	v.HasCards = instances != nil
	for _, b := range instances {
		name, portrait := f.partsView(b.Parts)
		v.Cards = append(v.Cards, f.card(b, name, portrait))
	}
}

// card is the card of a board; see renderBoard in web/assets/dashboard/board-card.js, which adds all other texts.
func (f *filler) card(b BoardCard, title string, portrait portraitView) cardView {
	card := cardView{Board: b.Board, Title: title, Path: f.link(b.Board), Portrait: portrait, Unavailable: b.Unavailable}
	for _, r := range b.Top {
		card.Rows = append(card.Rows, f.rowView(r, b.About.Definition.Display, ""))
	}
	return card
}

// familyCard is the card of a family; see renderFamily in web/assets/dashboard/board-card.js.
func (f *filler) familyCard(family FamilyCard) cardView {
	d := family.Definition
	card := cardView{Board: d.Name, Title: f.titleOf(d), Path: f.link(d.Name), Portrait: f.icon(d), IsFamily: true,
		Unavailable: family.Unavailable}
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
