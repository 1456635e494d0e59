package term

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"

	"rankcast/server/client"
)

// Is reports whether f is a terminal.
func Is(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Thousands formats n with a comma between groups of three digits.
func Thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// Printable makes the text of a server safe to show: characters that move the cursor or
// change the direction of writing become replacement characters.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Redacted returns a server's URL without its password.
func Redacted(server string) string {
	if u, err := url.Parse(server); err == nil {
		return u.Redacted()
	}
	return server
}

// Cause returns the part of err that a user can act on: the network error or the
// server's answer, else err.
func Cause(err error) error {
	var network *net.OpError
	if errors.As(err, &network) {
		return network
	}
	return Refusal(err)
}

// Refusal returns the server's answer in err without the words of the client around it,
// or err where the server gave no answer.
func Refusal(err error) error {
	var answer *client.Error
	if errors.As(err, &answer) {
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
