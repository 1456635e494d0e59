package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
)

const (
	// readBuffer is the size in bytes of the buffer of a connection: the answer to one update fits it.
	readBuffer = 4 << 10
	// maxLine bounds a line of a header, in bytes: the buffer holds each line whole.
	maxLine = readBuffer
	// maxBody bounds an answer, in bytes: that to a batch of 1,000 updates has some 150,000.
	maxBody = 16 << 20
)

// errAnswer means that the bytes of a server are no answer of HTTP/1.1 that this package reads.
var errAnswer = errors.New("the server's answer is not HTTP/1.1")

// answerReader reads answers of HTTP/1.1 from a connection. It allocates only where an answer is larger than all before
// it. One goroutine may use it at a time.
type answerReader struct {
	from       io.Reader
	buf        [readBuffer]byte
	begin, end int    // of the unread bytes
	body       []byte // of the last answer
}

// next reads one answer with its body, which is valid until the next call. It knows Content-Length and chunks.
func (r *answerReader) next() (status int, body []byte, err error) {
	line, err := r.line()
	if err != nil {
		return 0, nil, err
	}
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return 0, nil, fmt.Errorf("%w: %q", errAnswer, line)
	}
	if status, err = number(line[9:12], 10); err != nil {
		return 0, nil, err
	}
	length, chunked := -1, false
	for {
		if line, err = r.line(); err != nil {
			return 0, nil, err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case equalFold(name, "content-length"):
			if length, err = number(bytes.TrimSpace(value), 10); err != nil {
				return 0, nil, err
			}
		case equalFold(name, "transfer-encoding"):
			chunked = equalFold(bytes.TrimSpace(value), "chunked")
		}
	}
	r.body = r.body[:0]
	switch {
	case chunked:
		err = r.chunks()
	case status == 204 || status == 304 || status < 200:
	case length < 0:
		err = fmt.Errorf("%w: neither a length nor chunks", errAnswer)
	default:
		err = r.read(length)
	}
	return status, r.body, err
}

// chunks reads the chunks of a body and what follows them.
func (r *answerReader) chunks() error {
	for {
		line, err := r.line()
		if err != nil {
			return err
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := number(bytes.TrimSpace(size), 16)
		if err != nil {
			return err
		}
		if n > 0 {
			if err = r.read(n); err != nil {
				return err
			}
		}
		for line = nil; err == nil; { // the end of the chunk, or trailers
			if line, err = r.line(); len(line) == 0 {
				break
			}
		}
		if err != nil || n == 0 {
			return err
		}
	}
}

// read adds n bytes to the body.
func (r *answerReader) read(n int) error {
	if n > maxBody-len(r.body) {
		return fmt.Errorf("%w: it is too large", errAnswer)
	}
	have := min(n, r.end-r.begin)
	r.body = append(r.body, r.buf[r.begin:r.begin+have]...)
	r.begin += have
	if rest := n - have; rest > 0 {
		at := len(r.body)
		r.body = append(r.body, make([]byte, rest)...)
		_, err := io.ReadFull(r.from, r.body[at:])
		return cutShort(err)
	}
	return nil
}

// line returns the next line without its end. It is valid until the next call of a method.
func (r *answerReader) line() ([]byte, error) {
	for scanned := 0; ; {
		if i := bytes.IndexByte(r.buf[r.begin+scanned:r.end], '\n'); i >= 0 {
			line := r.buf[r.begin : r.begin+scanned+i]
			r.begin += scanned + i + 1
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		scanned = r.end - r.begin
		if scanned == maxLine {
			return nil, fmt.Errorf("%w: a line is too long", errAnswer)
		}
		if r.begin > 0 {
			r.end = copy(r.buf[:], r.buf[r.begin:r.end])
			r.begin = 0
		}
		n, err := r.from.Read(r.buf[r.end:])
		r.end += n
		if n == 0 && err != nil {
			return nil, cutShort(err)
		}
	}
}

// cutShort names the end of a connection that came before the end of an answer or a frame.
func cutShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// number is the value of digits.
func number(digits []byte, base int) (n int, err error) {
	for _, d := range digits {
		v := 99
		switch {
		case '0' <= d && d <= '9':
			v = int(d - '0')
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			v = int(d|0x20-'a') + 10
		}
		if v >= base || n > maxBody {
			return 0, fmt.Errorf("%w: %q is not a length or a status", errAnswer, digits)
		}
		n = n*base + v
	}
	if len(digits) == 0 {
		return 0, fmt.Errorf("%w: a number is missing", errAnswer)
	}
	return n, nil
}

// equalFold reports whether a text of ASCII is lower, whatever its case.
func equalFold(text []byte, lower string) bool {
	if len(text) != len(lower) {
		return false
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// httpConn is a connection that sends one request at a time. After an error it dials again for the next request. One
// goroutine may use it at a time.
type httpConn struct {
	dial   func(context.Context) (net.Conn, error)
	conn   net.Conn    // nil before the first request, and after an error
	forget func() bool // the end of the context closes conn no more
	answer answerReader
}

// do sends a request and reads its answer. The body is valid until the next call. The end of ctx closes a connection
// that do opens.
func (c *httpConn) do(ctx context.Context, request []byte) (status int, body []byte, err error) {
	if c.conn == nil {
		conn, err := c.dial(ctx)
		if err != nil {
			return 0, nil, err
		}
		c.conn = conn
		c.answer.from, c.answer.begin, c.answer.end = conn, 0, 0
		c.forget = context.AfterFunc(ctx, func() { conn.Close() })
	}
	if _, err = c.conn.Write(request); err == nil {
		status, body, err = c.answer.next()
	}
	if err != nil {
		c.close()
	}
	return status, body, err
}

func (c *httpConn) close() {
	if c.conn != nil {
		c.forget()
		c.conn.Close()
		c.conn = nil
	}
}
