package pipeline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// The requests and replies of RESP2: https://redis.io/docs/latest/develop/reference/protocol-spec/

const (
	// readBuffer is the size of the input buffer of a connection, in bytes.
	readBuffer = 32 << 10
	// maxBulk is the greatest length of a text in a reply, in bytes: the default of Redis's
	// proto-max-bulk-len.
	maxBulk = 512 << 20
	// maxElements is the greatest length of an array in a reply that the reader allocates before
	// its elements arrive.
	maxElements = 1 << 10
	// maxDepth is the greatest depth of arrays in arrays. Scripts reply with three levels.
	maxDepth = 32
)

// appendCommands appends commands to buf. With an error buf is unchanged.
func appendCommands(buf []byte, cmds []redis.Cmder) ([]byte, error) {
	out := buf
	for _, cmd := range cmds {
		args := cmd.Args()
		out = appendHead(out, '*', len(args))
		for _, arg := range args {
			switch v := arg.(type) {
			case string:
				out = append(appendHead(out, '$', len(v)), v...)
			case []byte:
				out = append(appendHead(out, '$', len(v)), v...)
			case int:
				out = appendNumber(out, int64(v))
			case int64:
				out = appendNumber(out, v)
			default:
				return buf, fmt.Errorf("an argument of %v has the type %T", args[0], arg)
			}
			out = append(out, "\r\n"...)
		}
	}
	return out, nil
}

// appendHead appends the line in front of an array or a text.
func appendHead(out []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(out, kind), int64(n), 10), "\r\n"...)
}

// appendNumber appends a number as a text.
func appendNumber(out []byte, n int64) []byte {
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], n, 10)
	return append(appendHead(out, '$', len(text)), text...)
}

// replyError is an error that Redis replied with.
type replyError string

func (e replyError) Error() string { return string(e) }

// RedisError makes replyError a redis.Error.
func (replyError) RedisError() {}

// errProtocol reports bytes that are no RESP2.
var errProtocol = errors.New("the reply of Redis is invalid")

// reader decodes replies.
type reader struct{ in *bufio.Reader }

func newReader(in io.Reader) *reader { return &reader{bufio.NewReaderSize(in, readBuffer)} }

// buffered is the number of bytes that are read and not decoded.
func (r *reader) buffered() int { return r.in.Buffered() }

// reply reads one reply: nil, a string, an int64, a replyError or a []any of these. After an
// error the position in the stream is unknown.
func (r *reader) reply() (any, error) { return r.value(maxDepth) }

func (r *reader) value(depth int) (any, error) {
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) { // an error with a long text
		long := append([]byte(nil), line...)
		if line, err = r.in.ReadBytes('\n'); err == nil {
			line = append(long, line...)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, fmt.Errorf("%w: %.40q", errProtocol, line)
	}
	kind, text := line[0], line[1:len(line)-2]
	switch kind {
	case '+':
		return string(text), nil
	case '-':
		return replyError(text), nil
	case ':':
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %.40q", errProtocol, line)
		}
		return n, nil
	case '$', '*':
		n, err := strconv.Atoi(string(text))
		switch {
		case err != nil || n < -1 || n > maxBulk || kind == '*' && depth == 0:
			return nil, fmt.Errorf("%w: %.40q", errProtocol, line)
		case n == -1:
			return nil, nil
		case kind == '$':
			return r.bulk(n)
		}
		return r.array(n, depth-1)
	}
	return nil, fmt.Errorf("%w: %.40q", errProtocol, line)
}

// bulk reads a text of n bytes and the end of its line.
func (r *reader) bulk(n int) (any, error) {
	if n+2 <= r.in.Size() { // one copy
		data, err := r.in.Peek(n + 2)
		if err != nil {
			return nil, err
		}
		if data[n] != '\r' || data[n+1] != '\n' {
			return nil, fmt.Errorf("%w: no end after a text of %d bytes", errProtocol, n)
		}
		text := string(data[:n])
		r.in.Discard(n + 2)
		return text, nil
	}
	var text strings.Builder // grows with what arrives
	if _, err := io.CopyN(&text, r.in, int64(n)); err != nil {
		return nil, err
	}
	var end [2]byte
	if _, err := io.ReadFull(r.in, end[:]); err != nil {
		return nil, err
	}
	if end != [2]byte{'\r', '\n'} {
		return nil, fmt.Errorf("%w: no end after a text of %d bytes", errProtocol, n)
	}
	return text.String(), nil
}

// array reads n values.
func (r *reader) array(n, depth int) (any, error) {
	values := make([]any, 0, min(n, maxElements))
	for range n {
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}
