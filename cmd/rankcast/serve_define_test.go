package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// A start whose boards file changes a definition in Redis says which one and which fields, also of what a request has
// defined since. New and equal definitions have no line, and many changes have a bounded number.
func TestStartLogsTheDefinitionsThatItChanges(t *testing.T) {
	t.Parallel()
	rdb := redistest.Dial(t, redistest.Embedded(t))
	store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	t.Cleanup(store.Close)
	parse := func(file string) definition.Set {
		t.Helper()
		all, err := definition.ParseFile([]byte(file))
		require.NoError(t, err)
		return all
	}
	start := func(file string) (lines []string) {
		t.Helper()
		var out redistest.Log
		log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		require.NoError(t, new(serve).define(t.Context(), store, log, parse(file)))
		return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	}
	nothing := []string{""}
	const file = `{boards: {b: {}, c: {}}, events: {gift: [{board: b, member: "{user}", score: 1}]}}`
	require.Equal(t, nothing, start(file), "all is new")
	require.Equal(t, nothing, start(file), "all is equal")
	require.Equal(t, nothing, start(`{boards: {d: {}}}`), "what the file leaves out stays")

	require.NoError(t, store.DefineEvent(t.Context(),
		parse(`{events: {gift: {sender: user, updates: [{board: b, member: "{user}", score: 1}]}}}`).Events[0], ranking.Moderator{}))
	require.NoError(t, store.DefineBoard(t.Context(), parse(`{boards: {c: {title: Cups, keep: 3, period: week}}}`).Boards[0],
		ranking.Moderator{}))
	require.Equal(t, []string{
		`level=WARN msg="the boards file has changed a definition in Redis" board=c ` +
			`fields="day_starts_at keep period timezone title week_starts"`,
		`level=WARN msg="the boards file has changed a definition in Redis" event=gift fields=sender`,
	}, start(file))
	require.Equal(t, nothing, start(file))

	var before, after []string
	for i := range maxChangedLines + 5 {
		before, after = append(before, fmt.Sprintf("m%02d: {}", i)), append(after, fmt.Sprintf("m%02d: {title: M}", i))
	}
	require.Equal(t, nothing, start("boards: {"+strings.Join(before, ", ")+"}"))
	lines := start("boards: {" + strings.Join(after, ", ") + "}")
	require.Len(t, lines, maxChangedLines+1)
	require.Equal(t, `level=WARN msg="the boards file has changed more definitions in Redis" more=5`, lines[maxChangedLines])
}

// What a start changes stands in the audit, with the reason: what the boards file, the demo or the default defines. Of several
// nodes that start at once one leaves a line for each change, and a start that changes nothing leaves none.
func TestStartLeavesLinesInTheAudit(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	newStore := func() *ranking.Store {
		store := ranking.New(redistest.Dial(t, url), ranking.Config{CallTimeout: redistest.CallTimeout})
		t.Cleanup(store.Close)
		return store
	}
	nodes := []*ranking.Store{newStore(), newStore(), newStore()}
	var seen int
	started := func(s *serve, file string) (lines []string) {
		t.Helper()
		var all definition.Set
		if file != "" {
			var err error
			all, err = definition.ParseFile([]byte(file))
			require.NoError(t, err)
		}
		var starts errgroup.Group
		for _, store := range nodes {
			starts.Go(func() error { return s.define(t.Context(), store, slog.New(slog.DiscardHandler), all) })
		}
		require.NoError(t, starts.Wait())
		audit, err := nodes[0].Audit(t.Context(), "", ranking.MaxAudit)
		require.NoError(t, err)
		for _, a := range audit[:len(audit)-seen] {
			require.Empty(t, a.By)
			lines = append(lines, a.Action+" "+a.Board+a.Event+": "+a.Reason)
		}
		seen = len(audit)
		slices.Sort(lines)
		return lines
	}
	const ofFile = ": boards file of a node that started"
	const file = `{boards: {b: {}, c: {}}, events: {gift: [{board: b, member: "{user}", score: 1}]}}`
	require.Equal(t, []string{"define_board stars: default board of a node that started"}, started(new(serve), ""))
	require.Equal(t, []string{"define_board b" + ofFile, "define_board c" + ofFile, "define_event gift" + ofFile}, started(new(serve), file))
	require.Empty(t, started(new(serve), file))
	require.Empty(t, started(new(serve), ""))
	require.Equal(t, []string{"define_board c" + ofFile}, started(new(serve), `{boards: {b: {}, c: {title: Cups}}}`))
	demo := started(&serve{Demo: true}, "")
	require.Contains(t, demo, "define_board points: demo of a node that started")
	require.Equal(t, slices.Compact(slices.Clone(demo)), demo, "one line for each change")
	require.Empty(t, started(&serve{Demo: true}, ""))
}
