package refusal

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// However many names clients invent, the log and the node's memory stay small.
func TestLogHasAFewNames(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := NewLog(slog.New(slog.NewTextHandler(&log, nil)), "pages of many origins")
	for range 2 {
		for i := range 3 * MaxNames {
			name := Printable(fmt.Sprintf("https://%d.example%s", i, strings.Repeat("x", i*100)))
			l.Warn(name, "refused", "origin", name)
		}
	}
	require.Equal(t, MaxNames+1, strings.Count(log.String(), "\n"))
	require.Equal(t, 1, strings.Count(log.String(), "the server refuses pages of many origins; the log names no more of them"))
	require.Less(t, log.Len(), MaxNames*(2*maxName+200))
	require.Len(t, l.logged, MaxNames+1)
}

// A crowd of invented names hides no real one for longer than an hour.
func TestLogHasANameAgain(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		var log bytes.Buffer
		l := NewLog(slog.New(slog.NewTextHandler(&log, nil)), "many")
		for i := range 2 * MaxNames {
			l.Warn(fmt.Sprint(i), "refused")
		}
		l.Warn("real", "refused", "name", "real")
		require.NotContains(t, log.String(), "real")
		time.Sleep(Interval)
		for range 2 {
			l.Warn("real", "refused", "name", "real")
		}
		require.Equal(t, 1, strings.Count(log.String(), "name=real"))
	})
}

// A log that is slow holds up one request and not the others.
func TestLogIsWrittenWithoutTheLock(t *testing.T) {
	t.Parallel()
	var l *Log
	nested := 0
	l = NewLog(slog.New(handler{slog.DiscardHandler, func() {
		if nested++; nested == 1 {
			l.Warn("other", "refused")
		}
	}}), "many")
	l.Warn("one", "refused")
	require.Equal(t, 2, nested)
}

// handler calls handle for each record.
type handler struct {
	slog.Handler
	handle func()
}

func (handler) Enabled(context.Context, slog.Level) bool { return true }

func (h handler) Handle(context.Context, slog.Record) error {
	h.handle()
	return nil
}
