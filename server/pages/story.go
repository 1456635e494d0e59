package pages

import (
	"cmp"

	"rankcast/ranking/scoretext"
)

// leastPlaces is the least number of places on the chart of a story; see web/assets/story/chart.js.
const leastPlaces = 5

// story fills the page with the history of one board.
func (f *filler) story() {
	v := f.first(f.board)
	if v.URL != "" {
		v.URL += "/story"
	}
	h := f.site.reader.history(f.ctx, f.board)
	if h == nil {
		return
	}
	v.Title = cmp.Or(h.about.Title.In(f.tag), f.board)
	v.Description = f.template.texts["story_lead"]
	if v.URL != "" {
		v.Card = f.address + CardPath(f.board)
	}
	v.HasPeriods = h.about.Definition.Period != ""
	s := &storyView{BoardPath: f.link(f.board), Recorded: h.recorded}
	for _, r := range h.rows {
		s.Rows = append(s.Rows, f.rowView(r, h.about.Definition, ""))
	}
	s.columnsView = f.columnsView(h.about.Definition.Columns, s.Rows)
	for place := range max(leastPlaces, len(h.rows)) {
		s.Places = append(s.Places, scoretext.Number(int64(place+1)))
	}
	v.Story = s
}
