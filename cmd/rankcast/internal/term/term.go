package term

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/unicode/bidi"

	"rankcast/ranking/scoretext"
	"rankcast/server/client"
)

// Is reports whether f is a terminal.
func Is(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Status replaces the line on the terminal that says what the command does now; "" removes the line. On a pipe there is none.
func Status(text string) {
	if Is(os.Stderr) {
		fmt.Fprint(os.Stderr, "\r\x1b[K"+text)
	}
}

// Thousands formats n with a comma between groups of three digits.
func Thousands(n int64) string { return scoretext.Number(n) }

// Counted is a number of things: 1 board, 1,200 boards.
func Counted[N int | int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(int64(n)) + " " + one + "s"
}

// Printable makes the text of a server safe to show: characters that move the cursor, end a line
// or change the direction of the text around them become replacement characters.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || '\u2028' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// The characters around text of its own direction (Unicode's annex 9, section 2.4).
const firstStrongIsolate, popDirectionalIsolate = "\u2068", "\u2069"

// Isolated is Printable for a name beside other text. A terminal that orders text by its direction
// keeps a name in Hebrew or Arabic apart, so that numbers beside it stay in place. Other names get no
// such characters, because a terminal may show them.
func Isolated(name string) string {
	if name = Printable(name); HasRightToLeft(name) {
		return firstStrongIsolate + name + popDirectionalIsolate
	}
	return name
}

// HasRightToLeft reports whether a text has a character that is written from right to left.
func HasRightToLeft(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		return p.Class() == bidi.R || p.Class() == bidi.AL || p.Class() == bidi.AN
	})
}

// Cause returns the part of err that a user can act on: the network's reason, such as
// "connection refused", or the server's answer, else err.
func Cause(err error) error {
	var network *net.OpError
	var dns *net.DNSError
	var number syscall.Errno
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("the host %s is not known", dns.Name)
	case errors.As(err, &network) && errors.As(network, &number):
		return number
	case errors.As(err, &network):
		return network
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no answer in time")
	}
	if answer, ok := errors.AsType[*client.Error](err); ok {
		return answer
	}
	return err
}

// Interruptible runs do, which ctx cannot interrupt, and returns its error. When ctx ends
// first, Interruptible returns the error of ctx at once and leaves do running: call it
// only where the program is about to end then.
func Interruptible(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
