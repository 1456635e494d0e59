package filewatch

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// words is the value of the files one and two, of which each holds a word.
type words struct{ one, two string }

var errEmpty = errors.New("the file is empty")

func loadWords(dir string) func(ReadFile, *words) (*words, error) {
	return func(read ReadFile, before *words) (*words, error) {
		now := new(words)
		one, err := read(filepath.Join(dir, "one"))
		if err != nil {
			return nil, err
		}
		two, err := read(filepath.Join(dir, "two"))
		if err != nil {
			return nil, err
		}
		if now.one, now.two = string(one), string(two); now.one == "" {
			return nil, errEmpty
		}
		if before != nil && *before == *now {
			return before, nil
		}
		return now, nil
	}
}

// A change comes into force at the second look that finds it, and at once after Reload. Files that are not valid
// leave the last valid ones in force.
func TestChangesComeIntoForce(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		dir := t.TempDir()
		write := func(name, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		write("one", "a")
		write("two", "a")
		var log bytes.Buffer
		w, err := New(Config[words]{Name: "word list", Load: loadWords(dir), Log: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		began := time.Now()
		var changes atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() {
			w.Run(ctx, func(now *words) {
				changes.Add(1)
				if now != w.Current() {
					t.Error("another value is in force")
				}
			})
		})
		look := func() { time.Sleep(Interval); synctest.Wait() }
		reload := func() { w.Reload(); synctest.Wait() }
		is := func(one, two string, times int32, fault error) {
			t.Helper()
			require.Equal(t, words{one, two}, *w.Current())
			require.Equal(t, times, changes.Load())
			require.ErrorIs(t, w.Status().Fault, fault)
		}
		time.Sleep(Interval / 2) // from here on between two looks
		look()
		is("a", "a", 0, nil)

		write("one", "b")
		look()
		is("a", "a", 0, nil)
		write("two", "b")
		look()
		is("a", "a", 0, nil)
		require.Equal(t, began, w.Status().Since)
		look()
		is("b", "b", 1, nil)
		require.Equal(t, Interval/2, time.Since(w.Status().Since))

		write("one", "c")
		reload()
		is("c", "b", 2, nil)

		write("one", "")
		look()
		is("c", "b", 2, nil)
		look()
		is("c", "b", 2, errEmpty)
		look()
		require.NoError(t, os.Remove(filepath.Join(dir, "two")))
		reload()
		write("one", "c")
		reload()
		is("c", "b", 2, os.ErrNotExist)
		const again = "the word list is valid again, and is the one in force"
		require.NotContains(t, log.String(), again)
		write("two", "b")
		look()
		look()
		is("c", "b", 2, nil)
		look()
		require.Equal(t, 1, strings.Count(log.String(), again), "files that are put back have a line, and only one")
		require.Equal(t, 1, strings.Count(log.String(), "the word list is not valid; the last valid one stays in force"+
			`" error="the file is empty"`), &log)

		write("two", strings.Repeat("x", MaxBytes+1))
		reload()
		require.EqualError(t, w.Status().Fault, filepath.Join(dir, "two")+" has more than 1048576 bytes")
		write("two", strings.Repeat("x", MaxBytes))
		reload()
		is("c", strings.Repeat("x", MaxBytes), 3, nil)
		require.Equal(t, 1, strings.Count(log.String(), again), "changed has reported the new value")
	})
}

func TestFilesThatAreNotValidAtTheStart(t *testing.T) {
	t.Parallel()
	_, err := New(Config[words]{Name: "word list", Load: loadWords(t.TempDir()), Log: slog.New(slog.DiscardHandler)})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A named pipe, whose open would wait for a writer, is a fault like any other.
func TestNoFileMakesALookWait(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, _, err := readFile(path)
	require.ErrorContains(t, err, "is not a regular file")
}
