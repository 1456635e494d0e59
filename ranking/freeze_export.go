package ranking

import (
	"cmp"
	"context"
	"iter"

	"rankcast/ranking/internal/script"
)

// pendingExportPage is the number of pending entries that one call of an export reads: a millisecond of Redis.
const pendingExportPage = 250

// ExportPending is Export of a board as it would be if all were public. The entries have no ranks. A member that is revealed during the
// export may come twice, or not at all.
func (s *Store) ExportPending(ctx context.Context, board string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		m, err := s.freezable(ctx, board)
		if err != nil {
			yield(Page{}, err)
			return
		}
		p := pendingExport{s: s, m: m}
		var last Page
		for page, err := range s.Export(ctx, board) {
			if err == nil {
				p.period = page.Period
				page.Entries, err = p.merge(ctx, page.Entries)
			}
			if !yield(page, err) || err != nil {
				return
			}
			last = page
		}
		for {
			more, err := p.load(ctx)
			if err != nil {
				yield(Page{}, err)
				return
			}
			if len(more) == 0 {
				return
			}
			p.waiting, last.Entries = nil, more
			if !yield(last, nil) {
				return
			}
		}
	}
}

// pendingExport merges what is pending into an export.
type pendingExport struct {
	s       *Store
	m       resolved
	period  string
	waiting []Entry // pending entries that were read, and not yet exported
	after   *Cursor // of the next page of them
	ended   bool
}

// merge returns public entries without those of pending members, and with the pending entries that come before the last of them.
func (p *pendingExport) merge(ctx context.Context, public []Entry) ([]Entry, error) {
	if len(public) == 0 {
		return nil, nil
	}
	members := make([]string, len(public))
	for i, e := range public {
		members[i] = e.Member
	}
	k := p.s.keys.Board(p.m.Instance, p.period)
	keys := script.Scores.Run(ctx, p.s.rdb, []string{k.Pending().Members}, appendTexts(nil, members))
	data := p.s.readFields(ctx, k.Pending().Data, members...)
	var merged []Entry
	for _, e := range public {
		if _, err := p.load(ctx); err != nil {
			return nil, err
		}
		for len(p.waiting) > 0 && positionOf(p.waiting[0]).compare(positionOf(e)) < 0 {
			merged, p.waiting = append(merged, p.waiting[0]), p.waiting[1:]
			if _, err := p.load(ctx); err != nil {
				return nil, err
			}
		}
		e.Data = pendingData(data.Optional(), e.Data)
		if isPending := keys.Optional() != ""; !isPending {
			merged = append(merged, e)
		}
	}
	return merged, cmp.Or(keys.Err, data.Err)
}

// pendingData are the data that an entry will have. changed is what freeze.lua keeps of them, "" for no change.
func pendingData(changed, public string) string {
	switch changed {
	case "":
		return public
	case "null":
		return ""
	}
	return changed
}

// load reads the next pending entries if none is waiting, and returns those that wait; none at the end.
func (p *pendingExport) load(ctx context.Context) ([]Entry, error) {
	if len(p.waiting) > 0 || p.ended {
		return p.waiting, nil
	}
	q := PendingQuery{Order: RankOrder, After: p.after, Limit: pendingExportPage}
	page, err := p.s.readPending(ctx, p.m.compiled, p.m.Instance, p.period, q)
	if err != nil {
		return nil, err
	}
	p.after, p.ended = page.Next, page.Next == nil
	var members []string
	for _, e := range page.Entries {
		if e.Pending != nil { // it will not have left
			members = append(members, e.Member)
			p.waiting = append(p.waiting, Entry{Member: e.Member, Score: e.Pending.Score, Key: e.key})
		}
	}
	if len(members) == 0 {
		p.ended = true // those that will have left come last
		return nil, nil
	}
	k := p.s.keys.Board(p.m.Instance, p.period)
	changed, public := p.s.readFields(ctx, k.Pending().Data, members...), p.s.readFields(ctx, k.Data, members...)
	for i := range p.waiting {
		p.waiting[i].Data = pendingData(changed.Optional(), public.Optional())
	}
	return p.waiting, cmp.Or(changed.Err, public.Err)
}
