package pages

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/overview"
)

// minFiltered is the number of cards from which the front page has a filter; see web/assets/dashboard/overview.js.
const minFiltered = 9

// overview fills the front page.
func (f *filler) overview() {
	f.showsPage()
	boards, families, known := f.site.reader.overview(f.ctx)
	if !known {
		return
	}
	v := f.first("")
	v.HasCards = true
	v.Definitions = f.site.reader.definitions(f.ctx)
	now := f.site.reader.store.Now()
	slices.SortStableFunc(boards, func(a, b overview.BoardCard) int { return cmp.Compare(activity(b, now), activity(a, now)) })
	for _, b := range boards {
		v.Cards = append(v.Cards, f.card(b, cmp.Or(b.About.Title.In(f.tag), b.Board), f.icon(b.About.Definition)))
	}
	for _, family := range families {
		v.Cards = append(v.Cards, f.familyCard(family))
	}
}

// activity is a step of a board's rate of changes: a small difference between two rates changes no order. Boards without
// scores, and those that are over, come after the others. See activity in web/assets/dashboard/overview.js.
func activity(b overview.BoardCard, now time.Time) int {
	switch {
	case b.Rate != nil && *b.Rate > 0:
		return bits.Len64(uint64(*b.Rate))
	case b.Total == 0 || !b.About.Ends.IsZero() && !b.About.Ends.After(now):
		return -1
	}
	return 0
}

// family fills the page of a family with cards of its first instances; see web/assets/dashboard/family.js.
func (f *filler) family(v *firstView, d definition.Board) {
	for kind := range d.Parts(d.Name) {
		v.Parts = append(v.Parts, kind)
	}
	var instances []overview.BoardCard
	instances, v.HasCards = f.site.reader.family(f.ctx, d.Name)
	for _, b := range instances {
		name, portrait := f.partsView(b.Parts)
		v.Cards = append(v.Cards, f.card(b, name, portrait))
	}
}

// card is the card of a board; see renderBoard in web/assets/dashboard/board-card.js, which adds all other texts.
func (f *filler) card(b overview.BoardCard, title string, portrait portraitView) cardView {
	card := cardView{Board: b.Board, Title: title, Path: f.link(b.Board), Portrait: portrait, Unavailable: b.Unavailable}
	for _, r := range b.Top {
		card.Rows = append(card.Rows, f.rowView(r, b.About.Definition, ""))
	}
	if len(card.Rows) > 0 {
		card.columnsView = f.columnsView(b.About.Definition.Columns, card.Rows)
	}
	return card
}

// familyCard is the card of a family; see renderFamily in web/assets/dashboard/board-card.js.
func (f *filler) familyCard(family overview.FamilyCard) cardView {
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
