package ranking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// recordHead is the length of the head of an event's record, in bytes: a digest, a state, and when it began, see lib/amend.lua.
const recordHead = definition.DigestSize + 1 + 13

// redactCount is the number of request ids that a walk reads in one call. Redis takes some 0.1 ms for it.
const redactCount = 100

// walkIDs goes on through the request ids of all events, at least one call and until stop. It takes the fields out of the
// records that name one of the members. It returns true at the end of the last event. It changes w as it records its progress.
func (s *Store) walkIDs(ctx context.Context, kind string, w *erasureWalk, members []string, stop time.Time) (ended bool, err error) {
	d, err := s.definitionsOfWalk(ctx, w)
	if err != nil {
		return false, err
	}
	wanted := newWantedMembers(members)
	for _, event := range slices.Sorted(maps.Keys(d.events)) {
		if event < w.Event {
			continue
		}
		names, next := newRecordedNames(d, event, kind, wanted), *w
		if event != w.Event {
			next.Event, next.Hash, next.At = event, 0, scanPosition{}
		}
		for hashes := s.keys.EventIDs(event); next.Hash < len(hashes); {
			if err := s.redact(ctx, hashes[next.Hash], &next.At, names); err != nil {
				return false, err
			}
			if next.At == (scanPosition{}) {
				next.Hash++
			}
			if time.Now().After(stop) {
				_, err := s.recordProgress(ctx, kind, w, next, nil)
				return false, err
			}
		}
	}
	return true, nil
}

// redact goes through some records of a hash of request ids, from a position on, and then leaves Redis to
// other callers for a while. It moves the position, as scan does.
func (s *Store) redact(ctx context.Context, hash string, at *scanPosition, names *recordedNames) error {
	began := time.Now()
	r, err := s.scan(ctx, scansHash, []string{hash}, redactCount, at)
	if err != nil {
		return fmt.Errorf("read request ids: %w", err)
	}
	if err := restAfter(ctx, began); err != nil {
		return err
	}
	var args []any
	pairs := r.List()
	for pairs.More() {
		if id, record := pairs.Text(), pairs.Text(); names.in(record) {
			args = append(args, id, record[:definition.DigestSize])
		}
	}
	if err := cmp.Or(r.Err, pairs.Err); err != nil {
		return err
	}
	for some := range slices.Chunk(args, 2*redactCount) {
		if _, err := s.callScript(ctx, script.Redact, []string{hash}, some); err != nil {
			return err
		}
	}
	return nil
}

// recordedNames finds records of occurrences of an event that name certain members of a kind.
type recordedNames struct {
	e       *definition.Event
	made    []string        // for each update the kind of its member, if fields make it up, and not one alone
	isOther map[string]bool // fields that name members of other kinds, by the definition
	kind    string
	wanted  wantedMembers
}

func newRecordedNames(d *definitions, event, kind string, wanted wantedMembers) *recordedNames {
	n := &recordedNames{e: d.events[event], isOther: make(map[string]bool), kind: kind, wanted: wanted}
	n.made = make([]string, len(n.e.Updates))
	isOurs := make(map[string]bool)
	note := func(field, of string) {
		isOurs[field] = isOurs[field] || of == kind
		n.isOther[field] = !isOurs[field]
	}
	for i, t := range n.e.Updates {
		of := ""
		if r := d.boards[t.Slot()]; r != nil {
			of = r.Kind
		}
		if field, ok := t.MemberField(); ok {
			note(field, of)
		} else if strings.Contains(t.Member, "{") {
			n.made[i] = of
		}
	}
	for field, rule := range n.e.Rules {
		if rule.Kind != "" {
			note(field, rule.Kind)
		}
	}
	return n
}

// in reports whether a record, see begin.lua, names a wanted member. The definition of the event tells the kinds of
// some fields. Any other text field counts as an id of the wanted kind, and so does each text field of a record that
// an earlier definition made.
func (n *recordedNames) in(record string) bool {
	const head = recordHead
	if len(record) <= head+definition.DigestSize {
		return false // the field '' of the hash, or a record without fields
	}
	fields := make(map[string]jsontext.Value)
	if json.Unmarshal([]byte(record[head+definition.DigestSize:]), &fields) != nil {
		return false
	}
	isCurrent := record[head:head+definition.DigestSize] == n.e.UpdatesDigest()
	for field, value := range fields {
		var text string
		if isCurrent && n.isOther[field] || json.Unmarshal(value, &text) != nil {
			continue
		}
		if _, wanted := n.wanted.index[text]; wanted {
			return true
		}
	}
	return isCurrent && slices.Contains(n.made, n.kind) && n.isMade(fields)
}

// isMade reports whether fields make up a wanted member.
func (n *recordedNames) isMade(fields map[string]jsontext.Value) bool {
	updates, err := n.e.ExpandRecorded(fields)
	if err != nil {
		return false
	}
	for i, u := range updates {
		if _, wanted := n.wanted.index[u.Update.Member]; wanted && n.made[i] == n.kind {
			return true
		}
	}
	return false
}
