package ranking

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/lua"
	"rankcast/ranking/redistest"
)

// luaText is the text of all scripts but try.lua, without comments.
func luaText(t *testing.T) string {
	var all strings.Builder
	require.NoError(t, fs.WalkDir(lua.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "try.lua" {
			return err
		}
		text, err := lua.Files.ReadFile(path)
		all.Write(text)
		return err
	}))
	return regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(all.String(), "")
}

// quoted finds the commands that a pattern names.
func quoted(text, pattern string) map[string]bool {
	found := make(map[string]bool)
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

// A command that is added later, without its check, fails this test.
func TestEachCommandIsTried(t *testing.T) {
	t.Parallel()
	text := luaText(t)
	literal := regexp.MustCompile(`\bcall\((?:'[A-Z]+'|PUBLISH)`)
	require.Len(t, regexp.MustCompile(`\bcall\(`).FindAllString(strings.ReplaceAll(text, "pcall(function", ""), -1),
		len(literal.FindAllString(text, -1)), "a script that computes the name of a command cannot be checked")
	inScripts := quoted(text, `\b(?:redis\.p)?call\('([A-Z]+)'`)
	require.Greater(t, len(inScripts), 25)

	inScripts["SPUBLISH"] = true // the scripts of boards publish by it on a cluster
	tried := tried()
	for command := range inScripts {
		require.Contains(t, tried, command)
	}
}

// tried are the commands of try.lua.
func tried() map[string]bool { return quoted(script.Try.Source, `\b(?:try|ask)\('([A-Z]+)'`) }

// A user who may run the tried commands alone can do everything.
func TestTriedCommandsAreEnough(t *testing.T) {
	t.Parallel()
	rules := []string{"~rc:*", "&rc:*", "+hello", "+select", "+client", "+command", "+cluster|slots", "+eval", "+evalsha",
		"+subscribe", "+unsubscribe", "+ssubscribe", "+sunsubscribe"}
	for command := range tried() {
		rules = append(rules, "+"+strings.ToLower(command))
	}
	r := redistest.Start(t)
	s, ctx, by := newNode(t, r.AppURL(rules...)), t.Context(), Moderator{}
	require.NoError(t, s.CheckRights(ctx))
	giftEvent(t, s)
	define(t, s, definition.Board{Name: "b", Kind: "user", Period: "day"}, definition.Board{Name: "hour", Window: time.Hour})
	for _, board := range []string{"b", "hour", "b"} {
		must(s.Apply(ctx, board, []definition.Update{{Member: "ana", Score: 1}, {Member: "bob", Score: 2}}))(t)
	}
	give(t, s, "1", "s1", "u1", 1)
	must(s.SetProfile(ctx, "user", "ana", Profile{Name: "Ana"}))(t)
	for range s.Export(ctx, "b") {
	}
	s.Page(ctx, "b", 1, 10)
	s.Page(ctx, "hour", 1, 10)
	s.Around(ctx, "b", "ana", 1)
	s.Search(ctx, "b", "an", 5)
	s.MemberBoards(ctx, "user", "ana", MemberBoardsQuery{})
	s.Info(ctx, "b")
	s.Periods(ctx, "b")
	s.RecordHistory(ctx, "b")
	s.History(ctx, "b", HistoryQuery{})
	s.Hide(ctx, "b", "ana", by)
	s.Hidden(ctx, "b", "", 10)
	s.HideEverywhere(ctx, "user", "ana", by)
	s.SetScore(ctx, "b", "bob", 7, by)
	s.Audit(ctx, "", 10)
	s.TakeBack(ctx, "gift", "1", nil, by)
	s.FindInstances(ctx, "b", InstancesQuery{Prefix: "b", Limit: 10})
	s.SearchMembers(ctx, "user", MembersQuery{Text: "an", Limit: 5})
	s.SummaryWithMemory(ctx, "b")
	s.Deliveries(ctx, 10)
	s.Undelivered(ctx, "", 10)
	s.Erasures(ctx, func(string) bool { return true }, "", 10)
	s.SaveTicket(ctx, "hash", nil, time.Minute)
	s.TakeTicket(ctx, "hash")
	s.SaveSession(ctx, "hash", nil, time.Minute)
	s.Session(ctx, "hash")
	s.EndSession(ctx, "hash")
	s.ReportNode(ctx, "node", []byte("{}"))
	s.Nodes(ctx)
	require.Nil(t, must(s.Masters(ctx))(t)[0].Fault)
	must(s.Freeze(ctx, "b", Moderator{Reason: "the finish"}))(t)
	must(s.Apply(ctx, "b", []definition.Update{{Member: "bob", Score: 2, Data: `1`}}))(t)
	must(s.Pending(ctx, "b", PendingQuery{Limit: 10}))(t)
	for range s.ExportPending(ctx, "b") {
	}
	must(s.Unfreeze(ctx, "b", Moderator{Reason: "by mistake"}))(t)
	s.Erase(ctx, "user", "ana", by)
	s.Delete(ctx, "hour", by)
	s.Ping(ctx)
	for _, refused := range r.Admin().ACLLog(ctx, 100).Val() {
		require.Contains(t, refused.Object, "memory", "the Store does without it alone")
	}
}

// writeCommands are the tried commands that Redis itself takes for a write of data. EVAL may write: its script decides.
func writeCommands(t *testing.T) (all []string) {
	infos := must(redistest.Start(t).Admin().Command(t.Context()).Result())(t)
	for command := range tried() {
		if flags := infos[strings.ToLower(command)].Flags; slices.Contains(flags, "write") && command != "PEXPIRE" {
			all = append(all, command)
		}
	}
	require.Subset(t, all, []string{"HSET", "SET", "ZADD"})
	return all
}

// A closed gate stops the scripts that write, and no other.
func TestEachWriteIsKnown(t *testing.T) {
	t.Parallel()
	for _, sc := range []script.Script{script.ApplyPlain, script.Publish, script.Claim, script.Profile} {
		require.True(t, sc.Writes, sc.Name)
	}
	for _, sc := range []script.Script{script.Page, script.Places, script.Catalog, script.Info, script.Try} {
		require.False(t, sc.Writes, sc.Name)
	}
}

// A script that publishes asks whether it may, before its first write.
func TestScriptsAskBeforeTheyPublish(t *testing.T) {
	t.Parallel()
	write := regexp.MustCompile(`call\('(?:` + strings.Join(writeCommands(t), "|") + `)'|call\('?PUBLISH|\bids_keep\(`)
	asked := 0
	require.NoError(t, fs.WalkDir(lua.Files, ".", func(path string, d fs.DirEntry, err error) error {
		// board.lua stands before them
		if err != nil || d.IsDir() || path == "apply.lua" || path == "lib/window.lua" || path == "lib/publish.lua" || path == "lib/notify.lua" {
			return err
		}
		text, err := fs.ReadFile(lua.Files, path)
		if !regexp.MustCompile(`call\('?PUBLISH`).Match(text) && path != "lib/board.lua" {
			return err
		}
		asks := regexp.MustCompile(`allowed\('?PUBLISH'?, channel, ''\)`).FindIndex(text)
		require.NotNil(t, asks, path)
		if at := write.FindIndex(text); at != nil {
			require.Less(t, asks[0], at[0], path)
		}
		asked++
		return err
	}))
	require.Equal(t, 5, asked)
}
