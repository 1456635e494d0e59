package ranking

import (
	"context"
	"crypto/sha256"
	"encoding/base64"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/profiles"
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

// checkSenders refuses calls whose Sender may not send the event, whatever its fields are.
func checkSenders(e *definition.Event, all []EventCall) error {
	for _, o := range all {
		if o.Sender == nil {
			continue
		}
		if err := e.CheckSender(o.Sender.Sub); err != nil {
			return err
		}
	}
	return nil
}

// checkNamedMembers refuses the occurrences whose fields name members that lack a profile, by the rules of the
// event. It reads the profiles of all occurrences of a batch together.
func (s *Store) checkNamedMembers(ctx context.Context, e *definition.Event, all []EventCall, happened []EventResult) {
	if len(e.Rules) == 0 {
		return
	}
	byKind := make(map[string][]string)
	seen := make(map[profiles.Member]bool)
	named := make([][]definition.NamedMember, len(all))
	for i, o := range all {
		if happened[i].Err != nil {
			continue
		}
		named[i] = e.NamedMembers(o.Fields)
		for _, m := range named[i] {
			if who := (profiles.Member{Kind: m.Kind, ID: m.Member}); !seen[who] {
				seen[who] = true
				byKind[m.Kind] = append(byKind[m.Kind], m.Member)
			}
		}
	}
	has := make(map[profiles.Member]bool)
	failed := make(map[string]error)
	for kind, members := range byKind {
		found, err := s.membersWithProfile(ctx, kind, members)
		for _, m := range found {
			has[profiles.Member{Kind: kind, ID: m}] = true
		}
		failed[kind] = err
	}
	for i := range happened {
		for _, m := range named[i] {
			if has[profiles.Member{Kind: m.Kind, ID: m.Member}] {
				continue
			}
			if happened[i].Err = failed[m.Kind]; happened[i].Err == nil {
				happened[i].Err = m.Missing()
			}
			break
		}
	}
}

// membersWithProfile returns those of the members that have a profile of the kind. It takes a profile from the
// cache, at most Config.ProfileAge old. It reads all others from Redis, because another node may have set one
// a moment ago. With an error it also returns the members that it has found.
func (s *Store) membersWithProfile(ctx context.Context, kind string, members []string) (found []string, err error) {
	var missing []string
	for _, m := range members {
		if p, _ := s.KnownProfile(kind, m); p != (Profile{}) {
			found = append(found, m)
		} else {
			missing = append(missing, m)
		}
	}
	for len(missing) > 0 {
		part := missing[:min(len(missing), MaxPage)]
		missing = missing[len(part):]
		read, err := s.tryReadProfiles(ctx, kind, part)
		for m := range read {
			found = append(found, m)
		}
		if err != nil {
			return found, err
		}
	}
	return found, nil
}
