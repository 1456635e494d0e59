package hub

import (
	"encoding/binary"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub/view"
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Frame is one message to clients. It never changes, so clients may share it. A large frame
// shares its rows with the frames of other N: it is three pieces, and the rows are the
// middle one.
type Frame struct {
	first []byte // a WebSocket header, then the JSON
	head  int    // where the JSON begins in first
	rows  []byte
	last  []byte
	from  *encodedRows // of rows; while a frame exists, no other one encodes them again

	kind     string   // its type; "" if NewFrame made it
	position Position // of a snapshot or delta
}

// Type is the type of a frame that the hub made, as in its JSON.
func (f *Frame) Type() string { return f.kind }

// Position is the position to which a snapshot or a delta leads: a client that has it may resume from
// there. Other frames have the zero Position.
func (f *Frame) Position() Position { return f.position }

// as sets what Type and Position return.
func (f *Frame) as(kind string, at Position) *Frame {
	f.kind, f.position = kind, at
	return f
}

// snapshotType is the type of a snapshot.
const snapshotType = "snapshot"

const (
	// headRoom is the longest header of an unmasked WebSocket frame.
	headRoom = 10
	// sharedRows is the size in bytes from which a frame shares its rows. It copies fewer:
	// a write of one piece is cheaper.
	sharedRows = 4 << 10
)

// rowsFrame makes a frame of JSON around the first rows of an encoding. The first headRoom
// bytes of buf are free.
func rowsFrame(buf []byte, from *encodedRows, rows []byte, last string) *Frame {
	if len(rows) < sharedRows {
		return sealFrame(append(append(buf, rows...), last...))
	}
	f := sealPieces(buf, rows, []byte(last))
	f.from = from
	return f
}

// sealFrame makes a frame of one piece. The first headRoom bytes of buf are free.
func sealFrame(buf []byte) *Frame { return sealPieces(buf, nil, nil) }

// sealPieces makes a frame of its pieces. The first headRoom bytes of buf are free.
func sealPieces(buf, rows, last []byte) *Frame {
	n := len(buf) - headRoom + len(rows) + len(last)
	f := &Frame{rows: rows, last: last}
	// RFC 6455, section 5.2: FIN and opcode text, then the length in one of three
	// forms, no mask from server to client.
	switch {
	case n < 126:
		buf[8], buf[9] = 0x81, byte(n)
		f.first, f.head = buf[8:], 2
	case n < 1<<16:
		buf[6], buf[7] = 0x81, 126
		binary.BigEndian.PutUint16(buf[8:], uint16(n))
		f.first, f.head = buf[6:], 4
	default:
		buf[0], buf[1] = 0x81, 127
		binary.BigEndian.PutUint64(buf[2:], uint64(n))
		f.first, f.head = buf, 10
	}
	return f
}

// withInfo returns a copy of a frame of the hub that has info, which is JSON, as a further field. It shares the rows of f.
func (f *Frame) withInfo(info []byte) *Frame {
	extend := func(object []byte) []byte {
		return slices.Concat(object[:len(object)-1], []byte(`,"info":`), info, []byte("}"))
	}
	head := f.first[f.head:]
	if len(f.rows) == 0 {
		return NewFrame(extend(head)).as(f.kind, f.position)
	}
	with := sealPieces(append(make([]byte, headRoom), head...), f.rows, extend(f.last)).as(f.kind, f.position)
	with.from = f.from
	return with
}

// NewFrame makes a frame of a JSON message.
func NewFrame(json []byte) *Frame {
	return sealFrame(append(make([]byte, headRoom), json...))
}

// WebSocket returns the pieces of the frame for a WebSocket, header included. A piece may be
// empty. The caller must not change them.
func (f *Frame) WebSocket() [3][]byte { return [3][]byte{f.first, f.rows, f.last} }

// JSON returns the pieces of the message alone. The caller must not change them.
func (f *Frame) JSON() [3][]byte { return [3][]byte{f.first[f.head:], f.rows, f.last} }

// Size is the length in bytes of the frame for a WebSocket.
func (f *Frame) Size() int { return len(f.first) + len(f.rows) + len(f.last) }

// Shared identifies the memory that the frame shares with the frames of other N, and gives its size in
// bytes. The frame keeps all of that memory, whichever part it shows. It returns nil and 0 if the frame
// shares none. Frames that share memory return the same value.
func (f *Frame) Shared() (memory any, size int) {
	if f.from == nil {
		return nil, 0
	}
	const integer = 8 // bytes
	return f.from, cap(f.from.buf) + integer*(cap(f.from.places)+cap(f.from.ends))
}

// encodedRows is a run of encoded rows. The rows of the first n entries are a prefix of all
// rows, so one encoding serves every N.
type encodedRows struct {
	columns definition.Columns // of the scores
	buf     []byte             // rows, each with a comma before it
	places  []int              // index of each row's entry, ascending
	ends    []int              // where each row ends in buf
}

func (r *encodedRows) endRow(place int) {
	r.places = append(r.places, place)
	r.ends = append(r.ends, len(r.buf))
}

// add encodes one row of a delta.
func (r *encodedRows) add(place int, e ranking.Entry, p ranking.Profile) {
	r.buf = append(r.buf, ',', '[')
	r.buf = strconv.AppendInt(r.buf, int64(place), 10)
	r.buf = append(r.buf, ',')
	r.buf = appendEntry(r.buf, e, r.columns, p)
	r.buf = append(r.buf, ']')
	r.endRow(place)
}

// prefix returns the rows of the first n entries, and their number.
func (r *encodedRows) prefix(n int) (items []byte, count int) {
	count = sort.SearchInts(r.places, n)
	if count == 0 {
		return nil, 0
	}
	return r.buf[1:r.ends[count-1]], count // without the first comma
}

func appendEntry(b []byte, e ranking.Entry, columns definition.Columns, p ranking.Profile) []byte {
	b = append(b, `{"rank":`...)
	b = strconv.AppendInt(b, e.Rank, 10)
	b = append(b, `,"member":`...)
	b = appendString(b, e.Member)
	b = append(b, `,"score":`...)
	b = appendColumns(strconv.AppendInt(b, e.Score, 10), columns, e.Score)
	if p.Name != "" {
		b = append(b, `,"name":`...)
		b = appendString(b, p.Name)
	}
	if p.Avatar != "" {
		b = append(b, `,"avatar":`...)
		b = appendString(b, p.Avatar)
	}
	if e.Data != "" { // already JSON
		b = append(b, `,"data":`...)
		b = append(b, e.Data...)
	}
	return append(b, '}')
}

// appendColumns appends the columns of a score, on a board that has some.
func appendColumns(b []byte, columns definition.Columns, score int64) []byte {
	if columns == nil {
		return b
	}
	return columns.AppendJSON(append(b, `,"columns":`...), score)
}

// appendString appends s as a JSON string. The server has checked that names are UTF-8;
// AppendQuote replaces invalid bytes and never fails.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

func appendHead(b []byte, kind, board string) []byte {
	b = append(b, `{"type":"`...)
	b = append(b, kind...)
	b = append(b, `","board":`...)
	return appendString(b, board)
}

func appendField(b []byte, name string, n int64) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return strconv.AppendInt(b, n, 10)
}

// snapshotFrame encodes the first n entries of a publication.
func snapshotFrame(board string, s *publication, n int) *Frame {
	all, at := s.rows(), s.position(n)
	rows, _ := all.prefix(n)
	b := make([]byte, headRoom, headRoom+256+len(board)+copied(rows))
	b = appendHead(b, snapshotType, board)
	b = append(b, `,"period":`...)
	b = appendString(b, s.period)
	b = append(b, `,"epoch":`...)
	b = appendString(b, s.state.Epoch)
	b = append(b, `,"life":"`...)
	b = append(b, at.Life...)
	b = append(b, '"')
	b = appendField(b, "seq", s.state.Seq)
	b = appendField(b, "total", s.total)
	b = append(b, `,"ends":`...)
	b = appendTime(b, s.ends)
	if s.final {
		b = append(b, `,"final":true`...)
	}
	if s.frozen != nil {
		b = appendFrozen(b, s.frozen)
	}
	b = append(b, `,"top":[`...)
	return rowsFrame(b, all, rows, "]}").as(snapshotType, at)
}

// copied is the number of bytes that a frame copies of rows.
func copied(rows []byte) int {
	if len(rows) < sharedRows {
		return len(rows)
	}
	return 0
}

// deltaFrame encodes the rows of the first n entries that lead from the frame at seq from to
// a publication.
func deltaFrame(board string, s *publication, n int, from int64, changed *encodedRows) *Frame {
	rows, _ := changed.prefix(n)
	b := make([]byte, headRoom, headRoom+128+len(board)+copied(rows))
	b = appendHead(b, "delta", board)
	b = appendField(b, "from", from)
	b = appendField(b, "seq", s.state.Seq)
	b = appendField(b, "total", s.total)
	b = append(b, `,"rows":[`...)
	return rowsFrame(b, changed, rows, `],"len":`+strconv.Itoa(min(n, len(s.top)))+"}").as("delta", s.position(n))
}

// boardFrame encodes whether a publication is frozen. It goes out before a delta to a client that does not know it.
func boardFrame(board string, s *publication) *Frame {
	b := appendFrozen(appendHead(make([]byte, headRoom, headRoom+128+len(board)), "board", board), s.frozen)
	return sealFrame(append(b, '}')).as("board", Position{})
}

// appendFrozen appends the freeze of a board as a field; null for none.
func appendFrozen(b []byte, f *ranking.Frozen) []byte {
	b = append(b, `,"frozen":`...)
	if f == nil {
		return append(b, "null"...)
	}
	b = appendTime(append(b, `{"since":`...), f.Since)
	b = append(append(b, `,"reveals":"`...), f.Reveals...)
	return append(b, `"}`...)
}

// meFrame encodes the standing of a followed member; around holds the fields of
// appendAround, if any.
func meFrame(board string, s view.Standing, columns definition.Columns, around []byte) *Frame {
	b := make([]byte, headRoom, headRoom+128+len(board)+len(around))
	b = appendHead(b, "me", board)
	b = appendField(b, "seq", s.Seq)
	if s.Entry.Rank > 0 {
		b = appendField(b, "rank", s.Entry.Rank)
		b = appendColumns(appendField(b, "score", s.Entry.Score), columns, s.Entry.Score)
	} else {
		b = append(b, `,"rank":null,"score":null`...)
	}
	b = appendField(b, "total", s.Total)
	b = append(b, around...)
	return sealFrame(append(b, '}')).as("me", Position{})
}

// appendAround appends the distance to the next rank, on a board with columns also by column, and up to k neighbours on each side,
// with their profiles.
func appendAround(b []byte, s view.Standing, k int, columns definition.Columns, profileOf func(member string) ranking.Profile) []byte {
	if gap := s.ToNext(); gap != nil {
		b = appendField(b, "to_next", *gap)
	} else {
		b = append(b, `,"to_next":null`...)
	}
	if lacks := s.ToNextColumns(columns); lacks != nil {
		b = append(append(b, `,"to_next_columns":`...), lacks...)
	}
	b = append(b, `,"around":[`...)
	for i, e := range s.NeighboursWithin(k) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEntry(b, e, columns, profileOf(e.Member))
	}
	return append(b, ']')
}

// appendTime appends a time as JSON; null for none.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, definition.TimeForm)
	return append(b, '"')
}

// statusFrame encodes whether the boards are current, and if not, as of what time.
func statusFrame(stale bool, asOf time.Time) *Frame {
	b := make([]byte, headRoom, headRoom+64)
	b = append(b, `{"type":"status","stale":`...)
	b = strconv.AppendBool(b, stale)
	if stale && !asOf.IsZero() {
		b = append(b, `,"as_of":`...)
		b = appendTime(b, asOf)
	}
	return sealFrame(append(b, '}')).as("status", Position{})
}
