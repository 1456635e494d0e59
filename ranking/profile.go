package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/profiles"
	"rankcast/ranking/internal/redisconn"
	"rankcast/ranking/internal/script"
)

// Profile is the name and avatar beside a member's entries, on all boards of its kind. The
// zero Profile stands for no profile.
type Profile struct {
	// Name is 1 to 128 bytes that definition.TextFault accepts; "" for none.
	Name string `json:"name,omitzero"`
	// Avatar is an http or https URL, or a path on the site that shows it. A path starts
	// with one slash. Up to definition.MaxImageBytes; "" for none.
	Avatar string `json:"avatar,omitzero"`
}

// Limits of a profile in bytes; maxProfileBytes is for its JSON.
const (
	maxNameBytes    = 128
	maxProfileBytes = 1024
)

func (p Profile) check() error {
	if p == (Profile{}) {
		return definition.Invalid("name", "is missing, and avatar is missing too; want at least one of them")
	}
	if p.Name != "" {
		if reason := definition.TextFault(p.Name, maxNameBytes); reason != "" {
			return definition.Invalid("name", reason)
		}
	}
	if p.Avatar != "" {
		if reason := definition.ImageFault(p.Avatar, "want an http or https URL, or a path that starts with one slash", "http",
			"https"); reason != "" {
			return definition.Invalid("avatar", reason)
		}
	}
	return nil
}

// SetProfile sets the profile of a member of a kind, and reports whether it is the member's
// first. The member may be on no board. All nodes show the profile at once. SetProfile
// returns a FieldError for an invalid profile.
func (s *Store) SetProfile(ctx context.Context, kind, member string, p Profile) (first bool, err error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member), p.check()); err != nil {
		return false, err
	}
	text, err := p.text()
	if err != nil {
		return false, err
	}
	if len(text) > maxProfileBytes {
		return false, &definition.FieldError{Field: "profile", Kind: definition.ErrTooLarge,
			Reason: fmt.Sprintf("has %d bytes as JSON; want %d at most", len(text), maxProfileBytes)}
	}
	// First the mark, so that no node misses an existing profile.
	if err := s.markKind(ctx, kind); err != nil {
		return false, fmt.Errorf("set a profile of kind %q: %w", kind, err)
	}
	there, err := s.putProfile(ctx, kind, member, text)
	return !there, err
}

// DeleteProfile deletes the profile of a member of a kind, if the member has one.
func (s *Store) DeleteProfile(ctx context.Context, kind, member string) error {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member)); err != nil {
		return err
	}
	_, err := s.putProfile(ctx, kind, member, "")
	return err
}

// putProfile writes a profile, or deletes it for "", with its entries in the index of names. It reports whether
// the member had a profile before.
func (s *Store) putProfile(ctx context.Context, kind, member, text string) (there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	believed := ""
	if p, _ := s.KnownProfile(kind, member); p != (Profile{}) {
		if believed, err = p.text(); err != nil {
			return false, err
		}
	}
	_, err = s.changeProfiles(ctx, kind, keyspace.ProfilePart(member), map[string]string{member: believed},
		func(_, stored string) profileChange {
			there = stored != ""
			entering := nameElements(member, text)
			return profileChange{profile: text, leaving: notIn(nameElements(member, stored), entering), entering: entering}
		})
	// Forget it after any outcome: the feed may not reach this node.
	if text != "" {
		s.ForgetProfile(kind, member)
	} else {
		s.profiles.Forget(profiles.Member{Kind: kind, ID: member})
	}
	if err != nil {
		return false, fmt.Errorf("set a profile of kind %q: %w", kind, outcomeOf(err))
	}
	return there, nil
}

// text is the form in which Redis holds a profile.
func (p Profile) text() (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode a profile: %w", err)
	}
	return string(text), nil
}

// Profile reads the present profile of a member of a kind from Redis. It returns
// ErrUnknownMember where the member has none.
func (s *Store) Profile(ctx context.Context, kind, member string) (Profile, error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member)); err != nil {
		return Profile{}, err
	}
	s.profiles.Forget(profiles.Member{Kind: kind, ID: member})
	found, err := s.readProfiles(ctx, kind, []string{member})
	if err != nil {
		return Profile{}, err
	}
	p := found[member]
	if p == (Profile{}) {
		return Profile{}, &definition.FieldError{Field: "member", Kind: definition.ErrUnknownMember,
			Reason: fmt.Sprintf("%q of kind %s has no profile", definition.Clip(member), kind)}
	}
	return p, nil
}

// Profiles returns the profiles of up to MaxPage members of a kind, at most 30 seconds old
// (Config.ProfileAge). The map lacks members without a profile. Profiles reads the missing
// ones in one round trip; for a kind without profiles it reads nothing. With an error it
// also returns the profiles that it has. For a second after a failure of Redis it returns
// only known profiles, without a call.
func (s *Store) Profiles(ctx context.Context, kind string, members []string) (map[string]Profile, error) {
	if err := definition.CheckKind(kind); err != nil {
		return nil, err
	}
	if len(members) > MaxPage {
		return nil, definition.Invalid("members", fmt.Sprintf("are %d; want %d at most", len(members), MaxPage))
	}
	if _, err := s.catalog.get(ctx); err != nil {
		return nil, fmt.Errorf("read profiles: %w", err)
	}
	if len(members) == 0 || !s.Profiled(kind) {
		return nil, nil
	}
	found := make(map[string]Profile, len(members))
	var missing []string
	for _, m := range members {
		if p, known := s.profiles.Get(profiles.Member{Kind: kind, ID: m}); !known {
			missing = append(missing, m)
		} else if p != (Profile{}) {
			found[m] = p
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	read, err := s.tryReadProfiles(ctx, kind, missing)
	maps.Copy(found, read)
	return found, err
}

// tryReadProfiles is readProfiles, but fails at once if Redis did not answer a moment ago.
func (s *Store) tryReadProfiles(ctx context.Context, kind string, members []string) (map[string]Profile, error) {
	if !s.profiles.MayRead(s.cfg.CallTimeout) {
		return nil, fmt.Errorf("read profiles: %w: Redis did not answer a moment ago", definition.ErrUnavailable)
	}
	return s.readProfiles(ctx, kind, members)
}

// readProfiles reads profiles and caches them; it also caches that a member has none. With
// an error it also returns the profiles that it could read.
func (s *Store) readProfiles(ctx context.Context, kind string, members []string) (map[string]Profile, error) {
	reading := s.profiles.Begin(kind, members)
	defer s.profiles.End(reading)
	read, found, silent, failed := s.fetchProfiles(ctx, kind, members)
	s.profiles.Store(reading, read, found)
	s.profiles.NoteRead(silent, ctx.Err() != nil)
	if failed != nil {
		return found, fmt.Errorf("read %d of %d profiles: %w: %w", len(read), len(members), definition.ErrUnavailable, failed)
	}
	return found, nil
}

// fetchProfiles reads profiles, without the cache, by one command for each part. It returns the members that it could
// read, and the profiles of those that have one. silent reports that Redis did not answer.
func (s *Store) fetchProfiles(ctx context.Context, kind string, members []string) (
	read []string, found map[string]Profile, silent bool, failed error) {
	var parts [keyspace.ProfileParts][]string
	for _, m := range members {
		i := keyspace.ProfilePart(m)
		parts[i] = append(parts[i], m)
	}
	pipe := s.rdb.Pipeline()
	var cmds [keyspace.ProfileParts]*redis.SliceCmd
	for i, of := range parts {
		if len(of) > 0 {
			cmds[i] = pipe.HMGet(ctx, s.keys.ProfilePart(kind, i).Profiles, of...)
		}
	}
	redisconn.ExecEach(ctx, pipe)
	found = make(map[string]Profile, len(members))
	read = make([]string, 0, len(members))
	for i, of := range parts {
		if len(of) == 0 {
			continue
		}
		if err := cmds[i].Err(); err != nil {
			failed = cmp.Or(failed, err)
			silent = silent || !errors.As(err, new(redis.Error))
			continue
		}
		read = append(read, of...)
		for j, value := range cmds[i].Val() {
			text, _ := value.(string)
			if p := decodeProfile(text); p != (Profile{}) {
				found[of[j]] = p
			}
		}
	}
	return read, found, silent, failed
}

// decodeProfile decodes a profile as Redis holds it; "" for none. What does not decode counts as no profile.
func decodeProfile(text string) (p Profile) {
	if text == "" || json.Unmarshal([]byte(text), &p) != nil {
		return Profile{}
	}
	return p
}

// KnownProfile returns a member's profile, empty for none, if the node knows it. It never
// asks Redis.
func (s *Store) KnownProfile(kind, member string) (p Profile, known bool) {
	if !s.Profiled(kind) {
		return Profile{}, true
	}
	return s.profiles.Get(profiles.Member{Kind: kind, ID: member})
}

// ForgetProfile makes the next use of a member's profile read it from Redis. A feed.Handler
// calls it when the feed reports a change.
func (s *Store) ForgetProfile(kind, member string) {
	if !s.Profiled(kind) {
		s.profiled.Add(kind)
	}
	s.profiles.Forget(profiles.Member{Kind: kind, ID: member})
}

// ForgetProfiles makes the next use of each profile read it from Redis. A feed.Handler
// calls it when the feed is up again, because the node may have missed changes.
func (s *Store) ForgetProfiles() {
	s.profiles.ForgetAll()
	s.profiles.NoteRead(false, false) // Redis answers
}

// hasProfiles reports whether members of a kind have, or have had, profiles.
func (d *definitions) hasProfiles(kind string) bool {
	return d.profiled[kind] || d.profiled[profiles.EveryKind]
}

// markKind records that members of a kind have profiles, if that is not known. When Redis
// loses the mark, nodes restore it with the definitions.
func (s *Store) markKind(ctx context.Context, kind string) error {
	d, err := s.catalog.get(ctx)
	if err != nil || d.hasProfiles(kind) {
		return err
	}
	return script.Mark.Run(ctx, s.rdb, []string{s.keys.Definitions()}, []any{profilesField, kind, profiles.EveryKind,
		profiles.MaxKinds, newEpoch()}).Err
}

// Profiled reports whether any member of a kind has had a profile, as far as this node
// knows. The node looks once a second while it is in use.
func (s *Store) Profiled(kind string) bool {
	if s.profiled.Has(kind) {
		return true
	}
	d := s.catalog.latest.Load()
	return d != nil && d.hasProfiles(kind)
}
