package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/server/client"
)

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", -999: "-999", 1000: "1,000", -1234567: "-1,234,567",
		client.MaxScore: "9,007,199,254,740,991"} {
		require.Equal(t, want, Thousands(n))
	}
}

// The cause of a failed request is short, and hides no answer of the server.
func TestCause(t *testing.T) {
	t.Parallel()
	dial := func(err error) error {
		return fmt.Errorf("update: %w", &url.Error{Op: "Post", URL: "http://h", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}})
	}
	for want, err := range map[string]error{
		"connection refused":         dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		"the host nope is not known": dial(&net.DNSError{Name: "nope", Err: "no such host", IsNotFound: true}),
		"dial tcp: odd":              dial(errors.New("odd")),
		"no answer in time":          fmt.Errorf("update: %w", context.DeadlineExceeded),
		"later (unavailable)":        fmt.Errorf("update: %w", &client.Error{Code: "unavailable", Message: "later"}),
		"update: EOF":                fmt.Errorf("update: %w", io.EOF),
	} {
		require.EqualError(t, Cause(err), want)
	}
}

// What a name is made of moves neither the cursor nor the text around it.
func TestIsolated(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ann": "Ann", "Jun Li": "Jun Li", "日本": "日本", "e\u0301": "e\u0301", "👩\u200d🚀": "👩\u200d🚀", "a\u200eb": "a\u200eb", "": "",
		"שלום": "\u2068שלום\u2069", "x محمد 12": "\u2068x محمد 12\u2069", "a\u200f": "\u2068a\u200f\u2069", "١٢": "\u2068١٢\u2069",
		"\u202eab": "\uFFFDab", "\u2066ש\u2069": "\u2068\uFFFDש\uFFFD\u2069", "a\u2028b\u2029": "a\uFFFDb\uFFFD",
		"\x1b[2J\u0085": "\uFFFD[2J\uFFFD",
	} {
		require.Equal(t, want, Isolated(name), "%q", name)
	}
}
