package ranking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/search"
)

// The index of names finds the members of a kind by their profiles, see profile.lua for what an element of it is. It
// follows from the profiles alone: nameElements computes the elements of a profile. So a change removes those of the old
// profile, which the caller has read, and the script makes sure that it still was the old one.

const (
	// indexAtOnce is the number of members of one call of profile.lua: 0.3 ms of Redis for names of two words.
	indexAtOnce = 32
	// reindexPage is the number of profiles, or of elements, that Reindex reads at once: 0.2 ms of Redis.
	reindexPage = 256
	// reindexSlice is the time after which a call of Reindex begins no other page.
	reindexSlice = time.Second
)

// nameElements returns the elements of the index for a profile, as Redis holds it; none for "".
func nameElements(member, profile string) []string {
	p := decodeProfile(profile)
	if p == (Profile{}) {
		return nil
	}
	entries := search.Entries(p.Name, member)
	elements := make([]string, len(entries))
	for i, e := range entries {
		separator := keyspace.FieldSep
		if e.Whole {
			separator = keyspace.RecordSep
		}
		elements[i] = e.Text + separator + member
	}
	return elements
}

// parseNameElement takes an element of the index apart. The member is "" where another program wrote the element.
func parseNameElement(element string) (e search.Entry, member string) {
	end := strings.IndexAny(element, keyspace.FieldSep+keyspace.RecordSep)
	if end < 0 {
		return search.Entry{}, ""
	}
	return search.Entry{Text: element[:end], Whole: element[end:end+1] == keyspace.RecordSep}, element[end+1:]
}

// profileChange is a change of one member, computed from its stored profile.
type profileChange struct {
	profile           string   // the new one, as JSON; "" to delete it; the stored one: only the index changes
	leaving, entering []string // elements of the index
}

// notIn returns the texts of a list that another list lacks.
func notIn(list, other []string) (lacking []string) {
	for _, text := range list {
		if !slices.Contains(other, text) {
			lacking = append(lacking, text)
		}
	}
	return lacking
}

// changeProfiles changes members of one part of a kind, indexAtOnce at most. believed has the profile of each member as the
// caller believes it to be stored, "" for none. plan computes the change of a member. Where another profile is stored,
// changeProfiles calls plan again with that one: each time, another caller has changed the profile. It goes on until ctx
// ends, and returns how many elements left or entered the index.
func (s *Store) changeProfiles(ctx context.Context, kind string, part int, believed map[string]string,
	plan func(member, stored string) profileChange) (moved int64, err error) {
	keys := s.keys.ProfilePart(kind, part)
	for {
		args := []any{s.keys.Profiles(), kind}
		members := slices.Sorted(maps.Keys(believed))
		for _, member := range members {
			c := plan(member, believed[member])
			args = append(args, member, believed[member], c.profile, len(c.leaving), len(c.entering))
			args = appendTexts(appendTexts(args, c.leaving), c.entering)
		}
		r := script.Profile.Run(ctx, s.rdb, []string{keys.Profiles, keys.Names}, args)
		others := make(map[string]string)
		for _, member := range members {
			if r.Text() == "other" {
				others[member] = r.Text()
			} else {
				moved += r.Number()
			}
		}
		if r.Err != nil || len(others) == 0 {
			return moved, r.Err
		}
		believed = others
	}
}

// Reindexed is what one call of Reindex has done.
type Reindexed struct {
	Profiles int64  // that it has read
	Changed  int64  // elements that were missing in the index, or that belong to no profile
	Next     string // where the next call goes on; "" when the index is built
}

// reindexPosition is how far a build of an index has come: through the profiles of a part, and then through its elements.
type reindexPosition struct {
	Part  int          `json:"part"`
	Names bool         `json:"names,omitzero"`
	At    scanPosition `json:"at,omitzero"`
}

// Reindex builds the index of names of a kind anew from its profiles: it adds elements that are missing, and removes those
// that belong to no profile. That is necessary only where another program has changed the index. One call goes on for
// about a second; the next call goes on from Next of the answer. from is "" for the first call. After each page, Reindex
// pauses for as long as the page took. Profiles may change meanwhile, and a call may be repeated.
//
// It returns a FieldError for the field cursor where from is no Next.
func (s *Store) Reindex(ctx context.Context, kind, from string) (done Reindexed, err error) {
	if err := definition.CheckKind(kind); err != nil {
		return done, err
	}
	var at reindexPosition
	if from != "" && (json.Unmarshal([]byte(from), &at) != nil || at.Part < 0) {
		return done, errCursor
	}
	for stop := time.Now().Add(s.reindexSlice); at.Part < keyspace.ProfileParts; {
		began := time.Now()
		if err := s.reindex(ctx, kind, &at, &done); err != nil {
			return done, fmt.Errorf("build the index of names of kind %q: %w", kind, err)
		}
		if err := restAfter(ctx, began); err != nil {
			return done, err
		}
		if time.Now().After(stop) {
			break
		}
	}
	if at.Part >= keyspace.ProfileParts {
		return done, nil
	}
	next, err := json.Marshal(at)
	done.Next = string(next)
	return done, err
}

// reindex goes through the next page of a build, within one Config.CallTimeout.
func (s *Store) reindex(ctx context.Context, kind string, at *reindexPosition, done *Reindexed) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	keys, part := s.keys.ProfilePart(kind, at.Part), at.Part
	believed := make(map[string]string)   // member to profile
	elements := make(map[string][]string) // likewise, those of the page
	which, key := scansHash, keys.Profiles
	if at.Names {
		which, key = scansSet, keys.Names
	}
	pairs, err := s.scanTexts(ctx, which, key, reindexPage, &at.At)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if !at.Names { // a member and its profile
			believed[p[0]] = p[1]
			done.Profiles++
		} else { // an element and its score
			_, member := parseNameElement(p[0])
			elements[member] = append(elements[member], p[0])
		}
	}
	if at.At == (scanPosition{}) && at.Names {
		*at = reindexPosition{Part: part + 1}
	} else if at.At == (scanPosition{}) {
		at.Names = true
	}
	if len(elements) > 0 {
		members := slices.Collect(maps.Keys(elements))
		stored, err := s.rdb.HMGet(ctx, keys.Profiles, members...).Result()
		if err != nil {
			return fmt.Errorf("%w: read profiles: %w", definition.ErrUnavailable, err)
		}
		for i, member := range members {
			profile, _ := stored[i].(string)
			if len(notIn(elements[member], nameElements(member, profile))) > 0 {
				believed[member] = profile
			}
		}
	}
	for members := range slices.Chunk(slices.Sorted(maps.Keys(believed)), indexAtOnce) {
		some := make(map[string]string, len(members))
		for _, member := range members {
			some[member] = believed[member]
		}
		moved, err := s.changeProfiles(ctx, kind, part, some, func(member, stored string) profileChange {
			entering := nameElements(member, stored)
			return profileChange{profile: stored, leaving: notIn(elements[member], entering), entering: entering}
		})
		if err != nil {
			return err
		}
		done.Changed += moved
	}
	return nil
}
