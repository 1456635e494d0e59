package definition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/keyspace"
)

// What CompactData lets through has one form, fits, and does not break a message.
func FuzzCompactData(f *testing.F) {
	f.Add([]byte(` {"a" : [1, 2.50, null, "\u0041\u001e\ud83d\ude00"]} `))
	f.Add([]byte("\"\x7f\""))
	f.Add([]byte("{\"a\":1,\"a\":2}"))
	f.Fuzz(func(t *testing.T, value []byte) {
		data, err := CompactData(value)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalid)
			return
		}
		require.NoError(t, (&Update{Member: "m", Data: data}).Check())
		require.NotContains(t, data, keyspace.FieldSep)
		require.NotContains(t, data, keyspace.RecordSep)
		require.NotEmpty(t, data)
	})
}
