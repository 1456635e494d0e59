package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// Profile is what is shown beside a member's entries, on all boards of its kind. One
// that is empty is none.
type Profile struct {
	// Name has 1 to 128 bytes of UTF-8 without control characters, and not only of
	// spaces; "" for none.
	Name string `json:"name,omitzero"`
	// Avatar is an http or https URL, or a path of the site that shows it, which
	// starts with one slash; up to 512 bytes. "" for none.
	Avatar string `json:"avatar,omitzero"`
}

// The most that a profile may have, in bytes; as JSON maxProfileBytes.
const (
	maxNameBytes    = 128
	maxAvatarBytes  = 512
	maxProfileBytes = 1024
)

func (p Profile) check() error {
	if p == (Profile{}) {
		return Invalid("name", "is missing, and so is avatar; want one at least")
	}
	if p.Name != "" {
		if reason := definition.TextFault(p.Name, maxNameBytes); reason != "" {
			return Invalid("name", reason)
		}
		if strings.TrimSpace(p.Name) == "" {
			return Invalid("name", "has only spaces")
		}
	}
	if p.Avatar != "" {
		if reason := avatarFault(p.Avatar); reason != "" {
			return Invalid("avatar", reason)
		}
	}
	return nil
}

// avatarFault tells what is wrong with an avatar, "" for nothing. Pages put it into an
// address: nothing may be in it that could mean more than where an image is.
func avatarFault(avatar string) string {
	const want = "want an http or https URL, or a path that starts with one slash"
	if reason := definition.TextFault(avatar, maxAvatarBytes); reason != "" {
		return reason
	}
	if strings.ContainsAny(avatar, " \\\"<>") {
		return `has one of space \ " < >; ` + want
	}
	u, err := url.Parse(avatar)
	switch {
	case err != nil:
		return "is no URL; " + want
	case u.Scheme == "" && (!strings.HasPrefix(avatar, "/") || u.Host != "" || strings.HasPrefix(avatar, "//")):
		return "is neither; " + want
	case u.Scheme == "":
		return ""
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil:
		return want + ", without a user"
	}
	return ""
}

// SetProfile sets the profile of a member of a kind, which need be on no board, and
// reports whether it is the member's first. It is shown by all nodes at once. It returns
// a FieldError for a profile that is none, and ErrConflict where too many kinds have
// profiles.
func (s *Store) SetProfile(ctx context.Context, kind, member string, p Profile) (first bool, err error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member), p.check()); err != nil {
		return false, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return false, fmt.Errorf("encode a profile: %w", err)
	}
	if len(text) > maxProfileBytes {
		return false, &FieldError{Field: "profile", Reason: fmt.Sprintf("has %d bytes as JSON; want %d at most", len(text), maxProfileBytes), Kind: ErrTooLarge}
	}
	// Before, so that nobody ever misses one that there is.
	if err := s.markKind(ctx, kind); err != nil {
		return false, fmt.Errorf("set the profile of %q: %w", member, err)
	}
	there, err := s.putProfile(ctx, kind, member, string(text))
	return !there, err
}

// maxProfiled bounds the kinds that have profiles, all of which each node knows.
const maxProfiled = 1000

// markKind notes that there are profiles of a kind, where that is not known. It stays known
// where Redis loses it, as definitions do.
func (s *Store) markKind(ctx context.Context, kind string) error {
	d, err := s.catalog.get(ctx)
	switch {
	case err != nil:
		return err
	case d.profiled[kind]:
		return nil
	case len(d.profiled) >= maxProfiled:
		return conflict("kind", "would be one too many: %d may have profiles", maxProfiled)
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	_, err = script.Mark.Run(ctx, s.rdb, []string{s.keys.Definitions()}, []any{profilesField + kind, newEpoch()})
	return err
}

// DeleteProfile takes the profile of a member of a kind away, where there is one.
func (s *Store) DeleteProfile(ctx context.Context, kind, member string) error {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member)); err != nil {
		return err
	}
	_, err := s.putProfile(ctx, kind, member, "")
	return err
}

// putProfile reports whether there was one before.
func (s *Store) putProfile(ctx context.Context, kind, member, text string) (there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	keys := []string{s.keys.Profile(kind, member)}
	r, err := script.Profile.Run(ctx, s.rdb, keys, []any{s.keys.Profiles(), kind + keyspace.FieldSep + member, text})
	// Whatever came of it, and whether or not this node hears of it.
	if text != "" {
		s.ForgetProfile(kind, member)
	} else {
		s.profiles.forget(profileKey{kind, member})
	}
	if err != nil {
		return false, fmt.Errorf("set the profile of %q: %w: %w", member, ErrOutcomeUnknown, err)
	}
	return r.Number() == 1, r.Err
}

// Profile reads the profile of a member of a kind as it is now. It returns
// ErrUnknownMember where there is none.
func (s *Store) Profile(ctx context.Context, kind, member string) (Profile, error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member)); err != nil {
		return Profile{}, err
	}
	s.profiles.forget(profileKey{kind, member})
	found, err := s.readProfiles(ctx, kind, []string{member})
	if err != nil {
		return Profile{}, err
	}
	p := found[member]
	if p == (Profile{}) {
		return Profile{}, &FieldError{Field: "member", Reason: fmt.Sprintf("%q has no profile as a %s", definition.Clip(member), kind), Kind: ErrUnknownMember}
	}
	return p, nil
}

// Profiles gives the profiles of up to MaxPage members of a kind, as they were 30 seconds
// ago at most (Config.ProfileAge). Those that have none are left out of the map. What this
// node does not know is read in one round trip; of a kind that has no profiles at all,
// nothing is. Beside an error there are those that could be read nevertheless; for a
// second after Redis has not answered only those that are known, without asking.
func (s *Store) Profiles(ctx context.Context, kind string, members []string) (map[string]Profile, error) {
	if err := definition.CheckKind(kind); err != nil {
		return nil, err
	}
	if len(members) > MaxPage {
		return nil, Invalid("members", fmt.Sprintf("are %d; want %d at most", len(members), MaxPage))
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
		if p, known := s.profiles.get(profileKey{kind, m}); !known {
			missing = append(missing, m)
		} else if p != (Profile{}) {
			found[m] = p
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	if !s.profiles.mayRead(s.cfg.CallTimeout) {
		return found, fmt.Errorf("read profiles: %w: there was no answer a moment ago", ErrUnavailable)
	}
	read, err := s.readProfiles(ctx, kind, missing)
	maps.Copy(found, read)
	return found, err
}

// readProfiles reads profiles, and keeps them, and those that there are not. Those that
// cannot be read take nothing from the others, which there are beside the error then.
func (s *Store) readProfiles(ctx context.Context, kind string, members []string) (map[string]Profile, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	reading := s.profiles.begin(kind, members)
	defer s.profiles.end(reading)
	pipe := s.rdb.Pipeline()
	cmds := make([]*redis.StringCmd, len(members))
	for i, m := range members {
		cmds[i] = pipe.Get(ctx, s.keys.Profile(kind, m))
	}
	pipe.Exec(ctx) // each command has its own error
	found := make(map[string]Profile, len(members))
	read := make([]string, 0, len(members))
	var failed error
	silent := false
	for i, c := range cmds {
		text, err := c.Bytes()
		var reply redis.Error
		switch {
		case err == nil:
			var p Profile
			if json.Unmarshal(text, &p) == nil && p != (Profile{}) {
				found[members[i]] = p
			}
		case errors.Is(err, redis.Nil), redis.HasErrorPrefix(err, "WRONGTYPE"):
			// One that is not understood was written by somebody else: it is shown as none.
		default:
			failed = cmp.Or(failed, err)
			silent = silent || !errors.As(err, &reply)
			continue
		}
		read = append(read, members[i])
	}
	s.profiles.store(reading, read, found)
	s.profiles.noteRead(silent, caller.Err() != nil)
	if failed != nil {
		return found, fmt.Errorf("read %d of %d profiles: %w: %w", len(read), len(members), ErrUnavailable, failed)
	}
	return found, nil
}

// Profiled reports whether any member of a kind has had a profile, as far as this node
// knows; it looks once a second, while it is in use.
func (s *Store) Profiled(kind string) bool {
	if _, heard := s.profiled.Load(kind); heard {
		return true
	}
	d := s.catalog.latest.Load()
	return d != nil && d.profiled[kind]
}

// KnownProfile gives a member's profile, an empty one for none, if that is known without
// asking Redis.
func (s *Store) KnownProfile(kind, member string) (p Profile, known bool) {
	if !s.Profiled(kind) {
		return Profile{}, true
	}
	return s.profiles.get(profileKey{kind, member})
}

// ForgetProfile has the profile of a member read anew: a feed.Handler calls it when it
// hears that it has changed.
func (s *Store) ForgetProfile(kind, member string) {
	if _, heard := s.profiled.Load(kind); !heard {
		s.profiled.Store(kind, true)
	}
	s.profiles.forget(profileKey{kind, member})
}

// ForgetProfiles has all profiles read anew: a feed.Handler calls it when the feed is up
// again, for changes may have been missed.
func (s *Store) ForgetProfiles() {
	s.profiles.forgetAll()
	s.profiles.noteRead(false, false) // Redis answers
}
