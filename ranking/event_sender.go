package ranking

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
)

// Sender is a caller who may be anybody: a viewer with a token, or an anonymous caller. The definition of an
// event decides what a Sender may send: see definition.Event.CheckSender and CheckSent. The request ids of
// each viewer are in a space of their own, and so are those of all anonymous callers together. So a viewer
// cannot use up the id of another caller.
type Sender struct {
	Sub string // the member that the token is for; "" for an anonymous caller
}

// anonymousSpace is the space of the ids of anonymous callers. No digest has its length.
const anonymousSpace = "*"

// storedID returns the form in which the store keeps a request id of a caller; "" for none. No caller can send
// an id of that form, except an id of a trusted caller, which stays as it is.
func (s *Sender) storedID(id string) string {
	switch {
	case s == nil || id == "":
		return id
	case s.Sub == "":
		return id + keyspace.FieldSep + anonymousSpace
	}
	return id + keyspace.FieldSep + digestOfSub(s.Sub)
}

// digestOfSub has 128 bits: users may choose their sub, and two with the same digest would share their ids.
func digestOfSub(sub string) string {
	sum := sha256.Sum256([]byte(sub))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// check refuses a Sub that can be no member.
func (s *Sender) check() error {
	if s == nil || s.Sub == "" {
		return nil
	}
	return definition.CheckText("sub", s.Sub)
}

// storedID returns the form in which the store keeps the id; "" for none.
func (o EventCall) storedID() string { return o.Sender.storedID(o.ID) }

// checkNamedMembers refuses the occurrences whose fields name members that lack a profile, by the rules of the
// event. It reads the profiles of all occurrences of a batch together.
func (s *Store) checkNamedMembers(ctx context.Context, e *definition.Event, all []EventCall, happened []EventResult) {
	if len(e.Rules) == 0 {
		return
	}
	named := make([][]definition.NamedMember, len(all))
	byKind := make(map[string]map[string]bool) // the members of each kind; true: it has a profile
	for i, o := range all {
		if happened[i].Err != nil {
			continue
		}
		named[i] = e.NamedMembers(o.Fields)
		for _, m := range named[i] {
			if byKind[m.Kind] == nil {
				byKind[m.Kind] = make(map[string]bool)
			}
			byKind[m.Kind][m.Member] = false
		}
	}
	failed := make(map[string]error)
	for kind, members := range byKind {
		failed[kind] = s.markWithProfile(ctx, kind, members)
	}
	for i := range happened {
		for _, m := range named[i] {
			if !byKind[m.Kind][m.Member] {
				happened[i].Err = cmp.Or(failed[m.Kind], m.Missing())
				break
			}
		}
	}
}

// markWithProfile sets true for those of the members that have a profile of the kind. It takes a profile from the
// cache, at most Config.ProfileAge old. It reads all others from Redis, because another node may have set one
// a moment ago. With an error it has marked the members that it could read.
func (s *Store) markWithProfile(ctx context.Context, kind string, members map[string]bool) error {
	var missing []string
	for m := range members {
		p, _ := s.KnownProfile(kind, m)
		if members[m] = p != (Profile{}); !members[m] {
			missing = append(missing, m)
		}
	}
	for part := range slices.Chunk(missing, MaxPage) {
		read, err := s.tryReadProfiles(ctx, kind, part)
		for m := range read {
			members[m] = true
		}
		if err != nil {
			return err
		}
	}
	return nil
}
