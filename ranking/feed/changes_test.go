package feed

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/sortkey"
)

func FuzzParseChanges(f *testing.F) {
	f.Add("b\x1f\x1fEPOCH\x1f1\x1f1763900000123456\x1em\x1f\x1f-3.5\x1f1\x1em\x1f-3.5\x1f\x1f")
	f.Add("b\x1f2026-W47\x1fE\x1f9007199254740991\x1f1763900000123456\x1e\x1f\x1f\x1f")
	f.Add("b\x1f\x1fE\x1f7\x1f1763900000123456\x1em\x1f-3.5\x1f-3.5\x1f1\x1f{\"x\":[1," +
		"null]}\x1en\x1f\x1f2\x1f9\x1f\"\\u001e\"\x1em\x1f2\x1f\x1f")
	f.Add("b\x1f\x1fE\x1f7\x1f1763900000123456\x1em\x1f-3.5\x1f\x1f\x1f1")
	f.Add("b\x1f\x1fE\x1f7\x1f1763900000123456\x1em\x1f\x1f-3.5\x1f1\x1f")
	f.Add("b\x1f\x1fE\x1f7")
	f.Add("b\x1f\x1fE\x1f7\x1f1763900000123456\x1em\x1f-3.5\x1f-4.5\x1f1 3 bg\x1em\x1f-3.5\x1f\x1fg\x1em\x1f\x1f3\x1f4 7")
	f.Fuzz(func(t *testing.T, payload string) {
		c, err := ParseChanges(payload)
		if err != nil {
			require.ErrorIs(t, err, errNotChanges)
			return
		}
		require.Positive(t, c.Seq)
		require.Equal(t, len(c.List) == 0, c.At.IsZero())
		for _, change := range c.List {
			require.True(t, change.Old != nil || change.New != nil)
			require.Equal(t, change.New != nil, change.Rank > 0)
			require.GreaterOrEqual(t, change.Position, change.Rank)
			require.True(t, change.New != nil || change.Data == "")
		}
		again, err := ParseChanges(formatChanges(c))
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}

// formatChanges writes a message as apply.lua does.
func formatChanges(c *Changes) string {
	key := func(k *sortkey.Key) string {
		if k == nil {
			return ""
		}
		return sortkey.Format(*k)
	}
	message := strings.Join([]string{c.Board, c.Period, c.Epoch, fmt.Sprint(c.Seq)}, keyspace.FieldSep)
	if len(c.List) > 0 {
		message += keyspace.FieldSep + fmt.Sprint(c.At.UnixMicro())
	}
	for _, change := range c.List {
		fields := []string{change.Member, key(change.Old), key(change.New), ""}
		var flags string
		if change.Born {
			flags = bornFlag
		}
		if change.Gone {
			flags += goneFlag
		}
		switch {
		case change.Rank == 0:
			fields[3] = flags
		case flags != "":
			fields[3] = fmt.Sprintf("%d %d %s", change.Rank, change.Position, flags)
		case change.Position != change.Rank:
			fields[3] = fmt.Sprintf("%d %d", change.Rank, change.Position)
		default:
			fields[3] = fmt.Sprint(change.Rank)
		}
		if change.Data != "" {
			fields = append(fields, change.Data)
		}
		message += keyspace.RecordSep + strings.Join(fields, keyspace.FieldSep)
	}
	return message
}

func FuzzParseItems(f *testing.F) {
	f.Add(`[{"at":"2026-11-20T06:30:00.000Z","data":{"star":"s17"}}, {}]`)
	f.Add(`[{},[]]`)
	f.Fuzz(func(t *testing.T, payload string) {
		items, err := parseItems(payload)
		if err != nil {
			require.ErrorIs(t, err, errNotItems)
			return
		}
		for _, item := range items {
			var object map[string]any
			require.NoError(t, json.Unmarshal(item, &object), "%s", item)
		}
		again, err := parseItems("[" + string(bytes.Join(items, []byte(","))) + "]")
		require.NoError(t, err)
		require.Equal(t, items, again)
	})
}

// The error of a message that is no list of objects says what is wrong.
func TestWhatIsNoFeedMessage(t *testing.T) {
	t.Parallel()
	for payload, reason := range map[string]string{
		`[{},]`:   "invalid character ','",
		`[{}] x`:  "invalid character 'x' after top-level value",
		`[{}`:     "unexpected EOF",
		`{}`:      "unmarshal JSON object",
		`null`:    "null in place of an array",
		`[{},[]]`: "item 1 is not an object",
	} {
		_, err := parseItems(payload)
		require.ErrorIs(t, err, errNotItems, payload)
		require.ErrorContains(t, err, reason, payload)
		require.NotContains(t, err.Error(), "nil", payload)
	}
	_, err := parseItems(`[{}] x`)
	require.ErrorAs(t, err, new(*jsontext.SyntacticError), "the cause is wrapped")
}
