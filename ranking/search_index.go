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
	"rankcast/ranking/search"
)

// The index of names finds the members of a kind by their profiles, see keyspace.NameKeys. A profile and its
// entries in the index are in two slots of a cluster. There a change takes these steps:
//
//  1. begin_indexing.lua gives the member a token, in the slot of the index.
//  2. profile.lua writes the profile.
//  3. end_indexing.lua indexes the profile, if the member still has that token.
//
// Another token in step 3 is that of another change. Either may have written its profile last. So the caller reads the
// token and then the profile, and repeats step 3 with them. Thus a change that was acknowledged is in the index, and
// after two changes at the same time the index has the profile that remains. Of a caller that ends between the steps,
// the token remains, and housekeeping repairs the index (search_repair.go). Where one Redis holds all keys,
// profile.lua does all of it in one call.

// indexAtOnce is the number of members of one call of begin_indexing.lua and end_indexing.lua: 0.3 ms of Redis.
const indexAtOnce = 32

// recordZero is the byte by which a record says that a text drops nothing of the one before it. Each byte more drops a byte.
const recordZero = '0'

// recordOf is the record of a member's profile in the index, see lib/names.lua. It is "" for no profile. Most texts are the one
// before without its first character. So the record of a name of 42 Chinese characters has 0.3 KB, and its texts have 2 KB.
func recordOf(member string, p Profile) string {
	if p == (Profile{}) {
		return ""
	}
	var record strings.Builder
	before := ""
	for _, e := range search.Entries(p.Name, member) {
		dropped := 0
		for !strings.HasPrefix(e.Text, before[dropped:]) {
			dropped++
		}
		record.WriteByte(recordZero + byte(dropped)) // at most search.MaxEntry
		record.WriteString(e.Text[len(before)-dropped:])
		if e.Whole {
			record.WriteString(keyspace.RecordSep)
		} else {
			record.WriteString(keyspace.FieldSep)
		}
		before = e.Text
	}
	return record.String()
}

// parseRecord returns the entries of a record.
func parseRecord(record string) (entries []search.Entry) {
	entries = make([]search.Entry, 0, strings.Count(record, keyspace.FieldSep)+strings.Count(record, keyspace.RecordSep))
	var added strings.Builder // what the texts add: each text is its end from some byte on
	added.Grow(len(record))
	for from := 0; record != ""; {
		end := strings.IndexAny(record, keyspace.FieldSep+keyspace.RecordSep)
		if from += int(record[0]) - recordZero; end < 1 || from < 0 || from > added.Len() {
			return entries // no version writes such a record
		}
		added.WriteString(record[1:end])
		entries = append(entries, search.Entry{Text: added.String()[from:], Whole: record[end:end+1] == keyspace.RecordSep})
		record = record[end+1:]
	}
	return entries
}

// parseNameEntry takes an element of the sorted set of entries apart.
func parseNameEntry(element string) (e search.Entry, member string) {
	end := strings.IndexAny(element, keyspace.FieldSep+keyspace.RecordSep)
	if end < 0 {
		return search.Entry{}, ""
	}
	return search.Entry{Text: element[:end], Whole: element[end:end+1] == keyspace.RecordSep}, element[end+1:]
}

// newNameToken returns a token for begin_indexing.lua.
func (s *Store) newNameToken() string {
	return strconv.FormatInt(s.catalog.clock.now(), 10) + " " + newEpoch()
}

// nameTokenAge is the time since a token was given, by Redis's clock.
func nameTokenAge(token string, now int64) time.Duration {
	text, _, _ := strings.Cut(token, " ")
	given, _ := strconv.ParseInt(text, 10, 64) // another program wrote what is no number: it is old
	return time.Duration(now-given) * time.Microsecond
}

// errIndexBusy reports that a profile changes again and again while the node indexes it.
var errIndexBusy = fmt.Errorf("%w: the profile changes too fast to index it", ErrUnavailable)

// putProfileInSteps is putProfile on a cluster.
func (s *Store) putProfileInSteps(ctx context.Context, kind, member, text string) (there bool, err error) {
	token, err := s.beginIndexing(ctx, kind, member)
	if err != nil {
		return false, err
	}
	r, err := script.Profile.Run(ctx, s.rdb, []string{s.keys.Profile(kind, member)}, s.profileArgs(kind, member, text))
	if err != nil {
		return false, err
	}
	there = r.Number() == 1
	if r.Err != nil {
		return false, r.Err
	}
	record := recordOf(member, decodeProfile([]byte(text)))
	for attempt := 0; ; attempt++ {
		if attempt > 0 { // another caller's profile may have replaced this one
			records, err := s.profileRecords(ctx, kind, []string{member})
			if err != nil {
				return false, err
			}
			record = records[0]
		}
		outcomes, err := s.endIndexing(ctx, kind, []indexing{{member, token, s.newNameToken(), record}})
		if err != nil || outcomes[0] != indexOther {
			return there, err
		}
		if attempt == maxAttempts {
			return false, errIndexBusy
		}
		if token, err = s.readNameToken(ctx, kind, member); err != nil {
			return false, err
		}
	}
}

// beginIndexing gives a member a token.
func (s *Store) beginIndexing(ctx context.Context, kind, member string) (token string, err error) {
	r, err := script.BeginIndexing.Run(ctx, s.rdb, []string{s.keys.Names(kind).Pending}, []any{member, s.newNameToken(), "always"})
	if err != nil {
		return "", err
	}
	return r.Text(), r.Err
}

// readNameToken reads the token of a member. It gives the member one if it has none.
func (s *Store) readNameToken(ctx context.Context, kind, member string) (token string, err error) {
	token, err = s.rdb.HGet(ctx, s.keys.Names(kind).Pending, member).Result()
	switch {
	case errors.Is(err, redis.Nil): // housekeeping has taken the change for one that had ended
		return s.beginIndexing(ctx, kind, member)
	case err != nil:
		return "", fmt.Errorf("%w: read the token of a profile: %w", ErrUnavailable, err)
	}
	return token, nil
}

// profileRecords reads the profiles of members and returns the records that the index is to have of them.
func (s *Store) profileRecords(ctx context.Context, kind string, members []string) ([]string, error) {
	_, found, _, err := s.fetchProfiles(ctx, kind, members)
	if err != nil {
		return nil, fmt.Errorf("%w: read profiles: %w", ErrUnavailable, err)
	}
	records := make([]string, len(members))
	for i, member := range members {
		records[i] = recordOf(member, found[member])
	}
	return records, nil
}

// indexing is a call of end_indexing.lua for one member.
type indexing struct {
	member, token string
	next          string // the token of a member that stays recorded; "": none stays
	record        string
}

// The outcomes of end_indexing.lua for a member, beside 'same': the index had the record before.
const (
	indexChanged = "changed" // the index has the record now
	indexOther   = "other"   // the member has another token or none
)

// endIndexing indexes profiles of a kind, and returns the outcome for each.
func (s *Store) endIndexing(ctx context.Context, kind string, list []indexing) (outcomes []string, err error) {
	names := s.keys.Names(kind)
	args := make([]any, 0, 4*len(list))
	for _, n := range list {
		args = append(args, n.member, n.token, n.next, n.record)
	}
	r, err := script.EndIndexing.Run(ctx, s.rdb, []string{names.Names, names.Entries, names.Pending}, args)
	if err != nil {
		return nil, err
	}
	for range list {
		outcomes = append(outcomes, r.Text())
	}
	return outcomes, r.Err
}
