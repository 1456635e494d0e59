package main

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"rankcast/server/client"
)

// thousands writes a number with a comma between groups of three digits.
func thousands(n int64) string {
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

// printable makes text of a server safe to show: what would move the cursor, or
// turn the writing round, becomes a replacement character.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// cause is the part of an error that a person can act on.
func cause(err error) error {
	var network *net.OpError
	if errors.As(err, &network) {
		return network
	}
	return refused(err)
}

// redacted is a URL without the password that it may have.
func redacted(server string) string {
	if u, err := url.Parse(server); err == nil {
		return u.Redacted()
	}
	return server
}

// refused takes the client's words off what a user can read without them.
func refused(err error) error {
	var e *client.Error
	if errors.As(err, &e) {
		return e
	}
	return err
}

// untilEnd does what cannot be interrupted, and is waited for only until ctx ends:
// the program is about to end then.
func untilEnd(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
