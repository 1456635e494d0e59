package ranking

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

const (
	// moderationPage is the number of changes in one read.
	moderationPage = 1000
	// moderationKept is how long a node relies on its copy. Redis keeps for a day at most which
	// members were shown again.
	moderationKept = 12 * time.Hour
	// maxHidden bounds the hidden members at one time, because each node has a copy of
	// them.
	maxHidden = 100_000
)

// readModeration returns the moderation at the given revision; m is the copy at hand. now
// is Redis's clock, in µs since 1970.
func (c *catalog) readModeration(ctx context.Context, m *moderation, revision, now int64) (*moderation, error) {
	recent := now-m.looked < moderationKept.Microseconds()
	if m.revision == revision && recent {
		return m.at(revision, now), nil
	}
	if revision < m.revision {
		// Redis has lost some changes. The node restores them from its copy.
		if err := c.rehide(ctx, m); err != nil {
			return nil, err
		}
		return m.at(revision, now), nil // the node reads it again
	}
	// This read may see some changes that come in during it. The next read sees them all.
	if recent && m.revision > 0 {
		next := m.next(revision, now)
		if err := c.readModerationSince(ctx, next, m.revision); err != nil {
			return nil, err
		}
		if next.forgotten <= m.revision {
			return next, nil
		}
	} // else Redis may have forgotten which members were shown again
	next := &moderation{revision: revision, looked: now}
	return next, c.readModerationSince(ctx, next, 0)
}

// readModerationSince reads all changes after a revision into m. If m.forgotten is greater after it, Redis
// has no longer known all members that were shown again.
func (c *catalog) readModerationSince(ctx context.Context, m *moderation, after int64) error {
	for _, set := range []struct {
		key string
		put func(scope, member string, revision int64)
	}{{c.keys.Shown(), m.show}, {c.keys.Hidden(), m.hide}} {
		// rehide gives many members one revision, so a page may end in the middle of a revision.
		for from, seen := after+1, int64(0); ; {
			pipe := c.rdb.Pipeline()
			read := pipe.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{
				Key: set.key, Start: from, Stop: "+inf", ByScore: true, Offset: seen, Count: moderationPage,
			})
			// After the page, so that nothing that the page lacks is missing here.
			forgotten := pipe.HGet(ctx, c.keys.Definitions(), forgottenField)
			if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
				return fmt.Errorf("%w: read the hidden members: %w", ErrUnavailable, err)
			}
			if text := forgotten.Val(); text != "" {
				revision, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return fmt.Errorf("%w: the moderation holds %q, which is not a revision", ErrUnavailable, text)
				}
				m.forgotten = max(m.forgotten, revision)
			}
			page := read.Val()
			for _, z := range page {
				scope, member, _ := strings.Cut(z.Member.(string), keyspace.FieldSep)
				if revision := int64(z.Score); revision > from {
					from, seen = revision, 0
				}
				seen++
				set.put(scope, member, from)
			}
			if len(page) < moderationPage {
				break
			}
		}
	}
	return nil
}

// rehide restores the hidden members in Redis from the node's copy.
func (c *catalog) rehide(ctx context.Context, m *moderation) error {
	entries := m.members.Keys()
	for {
		n, last := min(len(entries), moderationPage), ""
		if n == len(entries) {
			last = "1"
		}
		args := []any{m.revision, last}
		for _, entry := range entries[:n] {
			args = append(args, entry)
		}
		if _, err := script.Rehide.Run(ctx, c.rdb, []string{c.keys.Hidden(), c.keys.Shown(), c.keys.Definitions()}, args); err != nil {
			return err
		}
		if entries = entries[n:]; len(entries) == 0 {
			return nil
		}
	}
}
