package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An attribute has the same text in both forms of the log: a duration has its unit, and an address is host and port.
func TestBothFormsOfTheLogHaveTheSameText(t *testing.T) {
	t.Parallel()
	about := []any{
		"admin", net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8082}), "after", 261 * time.Millisecond,
		"error", &net.OpError{Op: "dial", Err: errors.New("refused")},
	}
	var text, object bytes.Buffer
	(&serveLog{Format: "text", Level: "info"}).logger(&text).Info("m", about...)
	(&serveLog{Format: jsonFormat, Level: "info"}).logger(&object).Info("m", about...)
	require.Contains(t, text.String(), ` level=INFO msg=m admin=127.0.0.1:8082 after=261ms error="dial: refused"`)
	var line map[string]any
	require.NoError(t, json.Unmarshal(object.Bytes(), &line))
	_, err := time.Parse(time.RFC3339Nano, line["time"].(string))
	require.NoError(t, err)
	delete(line, "time")
	require.Equal(t, map[string]any{"level": "INFO", "msg": "m", "admin": "127.0.0.1:8082", "after": "261ms", "error": "dial: refused"}, line)
}
