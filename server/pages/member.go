package pages

import (
	"cmp"
	"slices"
	"strings"

	"rankcast/ranking/scoretext"
)

// memberPage fills the page of a member.
func (f *filler) memberPage() {
	v, texts, tag := f.first(""), f.template.texts, f.tag
	v.Title = f.member
	m := f.site.reader.member(f.ctx, f.kind, f.member)
	if m == nil {
		return
	}
	f.isMissing = m.missing
	v.Title = cmp.Or(m.profile.Name, f.member)
	if f.address != "" && !m.missing {
		v.URL = f.address + MemberPath(f.kind, f.member)
	}
	view := &memberView{Member: f.member, Portrait: f.portrait(f.member, v.Title, m.profile.Avatar)}
	for _, b := range m.boards {
		name, d := b.about.Instance, b.about.Definition
		view.Boards = append(view.Boards, memberBoardView{
			Board: name, Title: cmp.Or(b.about.Title.In(tag), name), Path: f.page.Root + BoardPath(name) + queryOf("me", f.member,
				"lang", f.language()),
			Rank: strings.ReplaceAll(texts["member_rank"], "{n}", scoretext.Number(b.rank)), scoreView: f.score(b.score, d),
			HasHistory: d.History > 0,
		})
	}
	if !m.missing {
		view.Shows = f.showLinks(f.kind, f.member)
	}
	// As render in web/assets/member/member.js: charts beside charts.
	slices.SortStableFunc(view.Boards, func(a, b memberBoardView) int {
		switch {
		case a.HasHistory == b.HasHistory:
			return 0
		case a.HasHistory:
			return -1
		default:
			return 1
		}
	})
	switch {
	case m.missing:
		v.Note = texts["member_unknown"]
	case len(m.boards) == 0:
		v.Note = texts["member_on_none"]
	}
	v.Member = view
}
