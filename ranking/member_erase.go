package ranking

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// Erasure is the progress of the erasure of a member.
type Erasure struct {
	Boards  int64 `json:"boards"`  // boards and instances that it has gone through
	Removed int64 `json:"removed"` // board-periods that the member was on, hidden on, or in the history of
	// Left are board-periods that it cannot go through: their data have another order, ties or calendar than the definition.
	Left  int64     `json:"left"`
	Began time.Time `json:"-"` // by Redis's clock; no other erasure of the member has the same
	Ended time.Time `json:"-"` // likewise; zero: it is under way
}

// maxErasures is the number of erasures of a kind that may be pending. A walk removes all of them, and
// reads their ids once a second.
const maxErasures = 10_000

// Erase removes a member from all boards of a kind and all their periods, also the closed
// ones. It removes the score, the data, the state of being hidden, and the member's place in histories. It takes the
// fields of events out of the records of request ids. Housekeeping on all
// nodes shares the work, in small steps; Erasure returns the progress. Updates of the
// member that come during the erasure or later count anew. The audit and the lists of
// hidden members keep its id. DeleteProfile deletes its profile.
//
// It returns ErrOverloaded while 10,000 other members of the kind wait to be erased; then nothing
// has changed.
func (s *Store) Erase(ctx context.Context, kind, member string, by Moderator) (Erasure, error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member), by.Check()); err != nil {
		return Erasure{}, err
	}
	line, err := Action{Action: actionErase, Kind: kind, Member: member, Moderator: by}.line()
	if err != nil {
		return Erasure{}, err
	}
	d, err := s.definitionsOfKind(ctx, kind)
	if err != nil {
		return Erasure{}, fmt.Errorf("erase a member of kind %q: %w", kind, err)
	}
	r := script.Erasing.Run(ctx, s.rdb,
		[]string{s.keys.Erasures(), s.keys.PendingErasures(kind), s.keys.ErasureReports(), s.keys.ErasureAgenda(), s.keys.Audit()},
		[]any{erasureField(kind, member), kind, member, line, auditKept, maxErasures, boolArg(d.hasKind(kind))})
	if r.Text() == "full" {
		return Erasure{}, &definition.FieldError{Field: "kind", Kind: definition.ErrOverloaded,
			Reason: fmt.Sprintf("%d other members of kind %s are being erased, the most at one time; send again later", maxErasures, kind)}
	}
	e, err := parseErasure(r.Text())
	if err := cmp.Or(r.Err, err); err != nil {
		return Erasure{}, fmt.Errorf("erase a member of kind %q: %w", kind, err)
	}
	return *e, nil
}

// definitionsOfKind returns the node's copy of the definitions if it has a board of a kind. Else it reads the
// definitions from Redis: another node may have defined one a moment ago.
func (s *Store) definitionsOfKind(ctx context.Context, kind string) (*definitions, error) {
	d, err := s.catalog.get(ctx)
	if err != nil || d.hasKind(kind) {
		return d, err
	}
	return s.catalog.readSoon(ctx, d)
}

// hasKind reports whether a board has a kind, or an event names members of it. A definition that this node cannot read
// may do so.
func (d *definitions) hasKind(kind string) bool {
	for _, r := range d.boards {
		if r.Kind == kind {
			return true
		}
	}
	for _, e := range d.events {
		for _, rule := range e.Rules {
			if rule.Kind == kind {
				return true
			}
		}
	}
	return len(d.broken) > 0
}

// ofKind returns the boards of a kind, from a slot on, in the order of their slots. It leaves out what this node cannot read.
func (d *definitions) ofKind(kind, from string) iter.Seq2[string, *definition.Compiled] {
	return func(yield func(string, *definition.Compiled) bool) {
		for _, slot := range slices.Sorted(maps.Keys(d.boards)) {
			if r, _ := d.compiledIn(slot); r != nil && r.Kind == kind && slot >= from && !yield(slot, r) {
				return
			}
		}
	}
}

// Erasure returns the progress of an erasure, until a day after its end. Of the erasures that have
// ended, Redis keeps the latest 100,000. It returns ErrUnknownMember where there is none.
func (s *Store) Erasure(ctx context.Context, kind, member string) (Erasure, error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member)); err != nil {
		return Erasure{}, err
	}
	e, err := s.readErasure(ctx, kind, member)
	if err != nil {
		return Erasure{}, fmt.Errorf("read an erasure: %w", err)
	}
	if e == nil {
		return Erasure{}, &definition.FieldError{Field: "member",
			Reason: fmt.Sprintf("%q of kind %s is not being erased, and no erasure of it ended within the last day", member, kind),
			Kind:   definition.ErrUnknownMember}
	}
	return *e, nil
}

// erasureField is the field of an erasure in the hash of erasures.
func erasureField(kind, member string) string { return kind + keyspace.FieldSep + member }

// parseErasure reads an erasure as the scripts with erasure.lua write it: the times are in µs since 1970.
func parseErasure(text string) (*Erasure, error) {
	stored, err := parseStored[struct {
		Erasure
		Began int64 `json:"began"`
		Ended int64 `json:"ended"` // 0: it is under way
	}](text, "state of an erasure")
	stored.Erasure.Began = time.UnixMicro(stored.Began).UTC()
	if stored.Ended > 0 {
		stored.Erasure.Ended = time.UnixMicro(stored.Ended).UTC()
	}
	return &stored.Erasure, err
}

// readErasure returns nil where there is no erasure.
func (s *Store) readErasure(ctx context.Context, kind, member string) (*Erasure, error) {
	r := s.readFields(ctx, s.keys.Erasures(), erasureField(kind, member), kind)
	text, walk := r.Optional(), r.Optional()
	if r.Err != nil {
		return nil, r.Err
	}
	return erasureOf(text, walk)
}

// erasureOf reads an erasure with the walk under way for its kind; "" for none.
func erasureOf(text, walk string) (*Erasure, error) {
	if text == "" {
		return nil, nil
	}
	e, err := parseErasure(text)
	if err != nil || !e.Ended.IsZero() {
		return e, err
	}
	e.Boards, e.Left = 0, 0
	if walk == "" {
		return e, nil
	}
	w, err := parseWalk(walk)
	if err == nil && e.Began.UnixMicro() < w.Began {
		e.Boards, e.Left = w.Boards, w.Left
	}
	return e, err
}

// recordHead is the length of the head of an event's record, in bytes: a digest, a state, and when it began, see lib/amend.lua.
const recordHead = definition.DigestSize + 1 + 13

// redactCount is the number of request ids that a walk reads in one call. Redis takes some 0.1 ms for it.
const redactCount = 100

// walkIDs goes on through the request ids of all events, at least one call and until stop. It takes the fields out of the
// records that name one of the members. It returns true at the end of the last event. It changes w as it records its progress.
func (s *Store) walkIDs(ctx context.Context, kind string, w *erasureWalk, wanted wantedMembers, stop time.Time) (ended bool, err error) {
	d, err := s.definitionsOfWalk(ctx, w)
	if err != nil {
		return false, err
	}
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
	records, err := s.scanTexts(ctx, scansHash, hash, redactCount, at)
	if err != nil {
		return fmt.Errorf("read request ids: %w", err)
	}
	if err := restAfter(ctx, began); err != nil {
		return err
	}
	var args []any
	for _, r := range records { // an id and its record
		if names.in(r[1]) {
			args = append(args, r[0], r[1][:definition.DigestSize])
		}
	}
	for some := range slices.Chunk(args, 2*redactCount) {
		if err := script.Redact.Run(ctx, s.rdb, []string{hash}, some).Err; err != nil {
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
		if n.wanted.has[text] {
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
		if n.wanted.has[u.Update.Member] && n.made[i] == n.kind {
			return true
		}
	}
	return false
}
