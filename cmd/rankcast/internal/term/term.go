package term

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/unicode/bidi"

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

// Redacted returns a server's URL without its password.
func Redacted(server string) string {
	if u, err := url.Parse(server); err == nil {
		return u.Redacted()
	}
	return server
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
	return Refusal(err)
}

// How long a client tries again, for RetryLine.
const (
	ForAMinute  = "for a minute" // the default of client.Config.RetryFor
	UntilItDoes = "until it does"
)

// remedy is what a user can do about a server that does not answer.
const remedy = ". Is the server running? --server URL names another address"

// RetryLine reports that the server at a URL does not answer, why, and for how long the client tries
// again.
func RetryLine(server, howLong string, why error) string {
	line := fmt.Sprintf("rankcast: %s does not answer, trying again %s: %s", Redacted(server), howLong, Printable(Cause(why).Error()))
	var answer *client.Error
	if !errors.As(why, &answer) {
		line += remedy
	}
	return line
}

// NotSent words an error of the client that wraps client.ErrNotSent.
func NotSent(server string, err error) error {
	if wrong := Untrusted(server, err); wrong != nil {
		return fmt.Errorf("%w: %w", client.ErrNotSent, wrong)
	}
	return fmt.Errorf("%s does not answer: %w; %w%s", Redacted(server), Cause(err), client.ErrNotSent, remedy)
}

// Untrusted words an error about the certificate of the server at a URL, with what the user can do. It returns nil
// for all other errors.
func Untrusted(server string, err error) error {
	var certificate *tls.CertificateVerificationError
	if !errors.As(err, &certificate) {
		return nil
	}
	wrong := fmt.Errorf("the certificate of %s is not trusted: %w", Redacted(server), certificate.Err)
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return fmt.Errorf("%w. If it is yours, trust the authority that signed it: SSL_CERT_FILE=ca.pem", wrong)
	}
	return wrong
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

// Sleep waits for d. It returns the error of ctx if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
