package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// redisConn is a connection to Redis that sends one command at a time. One goroutine may use it at a time.
type redisConn struct {
	conn   net.Conn
	reader *bufio.Reader
}

// dialRedis connects to the unix socket of a Redis. The end of ctx closes the connection.
func dialRedis(ctx context.Context, socket string) (*redisConn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return &redisConn{conn, bufio.NewReaderSize(conn, readBuffer)}, nil
}

// do sends encoded commands and reads a reply for each of n.
func (c *redisConn) do(commands []byte, n int) error {
	if _, err := c.conn.Write(commands); err != nil {
		return err
	}
	for range n {
		if err := skipReply(c.reader); err != nil {
			return err
		}
	}
	return nil
}

// skipReply reads one reply (RESP 2). An error reply is an error.
func skipReply(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if len(line) < 3 {
		return errors.New("the reply of Redis is malformed")
	}
	kind, text := line[0], line[1:len(line)-2]
	switch kind {
	case '+', ':':
		return nil
	case '-':
		return fmt.Errorf("the reply of Redis is an error: %s", text)
	case '$', '*':
		n := 0
		if string(text) == "-1" {
			return nil
		}
		for _, d := range text {
			if d < '0' || d > '9' || n > maxBody {
				return fmt.Errorf("the reply of Redis has the length %q", text)
			}
			n = 10*n + int(d-'0')
		}
		if kind == '$' {
			_, err = r.Discard(n + len("\r\n"))
			return err
		}
		for range n {
			if err := skipReply(r); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("the reply of Redis begins with %q", kind)
}

// appendCommand encodes a command of Redis.
func appendCommand(to []byte, args ...string) []byte {
	to = append(to, '*')
	to = strconv.AppendInt(to, int64(len(args)), 10)
	to = append(to, '\r', '\n')
	for _, arg := range args {
		to = append(to, '$')
		to = strconv.AppendInt(to, int64(len(arg)), 10)
		to = append(to, '\r', '\n')
		to = append(to, arg...)
		to = append(to, '\r', '\n')
	}
	return to
}
