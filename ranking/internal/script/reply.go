package script

import (
	"fmt"
	"math"
	"strconv"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/sortkey"
)

// Reply takes the answer of a script apart, from front to back. The first value of an
// unexpected type sets Err, and its method returns zero or "". One goroutine may use a Reply.
type Reply struct {
	Rest []any // the values not taken yet
	Err  error // the first error; it wraps definition.ErrUnavailable
}

// next takes the next value.
func (r *Reply) next() any {
	if len(r.Rest) == 0 {
		r.Fail("is too short")
		return nil
	}
	v := r.Rest[0]
	r.Rest = r.Rest[1:]
	return v
}

// Fail sets Err unless it is set. why follows the words "the answer of a script".
func (r *Reply) Fail(why string) {
	if r.Err == nil {
		r.Err = fmt.Errorf("%w: the answer of a script %s", definition.ErrUnavailable, why)
	}
}

// More reports whether a value is left to take. It is false once Err is set, so that a loop over the values ends.
func (r *Reply) More() bool {
	return r.Err == nil && len(r.Rest) > 0
}

// Text takes a text.
func (r *Reply) Text() string {
	s, ok := r.next().(string)
	if !ok {
		r.Fail("has another value in place of a text")
	}
	return s
}

// Optional takes a text, or returns "" for nil.
func (r *Reply) Optional() string {
	if r.TookNone() {
		return ""
	}
	return r.Text()
}

// TookNone takes the next value if it is nil or "", and reports whether it has taken one.
func (r *Reply) TookNone() bool {
	none := len(r.Rest) > 0 && (r.Rest[0] == nil || r.Rest[0] == "")
	if none {
		r.Rest = r.Rest[1:]
	}
	return none
}

// OptionalNumber takes a whole number, or returns 0 for nil and for "".
func (r *Reply) OptionalNumber() int64 {
	if r.TookNone() {
		return 0
	}
	return r.Number()
}

// Number takes a whole number, as an integer, as text, or as Redis prints the score of a sorted
// set.
func (r *Reply) Number() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil {
			return n
		}
		// Redis may print the score of a sorted set as 1.7955e+12.
		if f, err := strconv.ParseFloat(v, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= definition.MaxScore {
			return int64(f)
		}
	}
	r.Fail("has another value in place of a whole number")
	return 0
}

// Key takes a sort key.
func (r *Reply) Key() sortkey.Key {
	k, err := sortkey.Parse(r.Text())
	if err != nil {
		r.Fail(err.Error())
	}
	return k
}

// OptionalKey takes a sort key, or returns 0 for "".
func (r *Reply) OptionalKey() float64 {
	text := r.Text()
	if text == "" {
		return 0
	}
	k, err := sortkey.Parse(text)
	if err != nil {
		r.Fail(err.Error())
	}
	return float64(k)
}

// Of takes the result of the script sc, which another script called, and returns it as a Reply. Where
// sc failed, Err of that Reply is as Run returns it.
func (r *Reply) Of(sc Script) *Reply {
	v := r.next()
	if err, failed := v.(redis.Error); failed {
		return sc.reply(nil, err)
	}
	answer, ok := v.([]any)
	if !ok {
		r.Fail("has another value in place of a result of " + sc.Name)
	}
	return &Reply{Rest: answer, Err: r.Err}
}

// Take takes the next n values, and returns a Reply of them. That Reply starts with the Err of r.
func (r *Reply) Take(n int64) *Reply {
	if n < 0 || n > int64(len(r.Rest)) {
		r.Fail("is too short")
		return &Reply{Err: r.Err}
	}
	part := &Reply{Rest: r.Rest[:n], Err: r.Err}
	r.Rest = r.Rest[n:]
	return part
}

// Texts takes a list of texts.
func (r *Reply) Texts() []string {
	list := r.List()
	texts := make([]string, 0, len(list.Rest))
	for list.More() {
		texts = append(texts, list.Text())
	}
	r.Err = list.Err
	return texts
}

// List takes a list and returns a Reply of its values. That Reply starts with the Err of r.
func (r *Reply) List() *Reply {
	v, ok := r.next().([]any)
	if !ok {
		r.Fail("has another value in place of a list")
	}
	return &Reply{Rest: v, Err: r.Err}
}
