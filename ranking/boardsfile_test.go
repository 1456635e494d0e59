package ranking

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseBoards(t *testing.T) {
	got, err := ParseBoards([]byte("boards:\n  stars: {}\n  plain:\n  laps: {mode: best, order: asc, ties: member}\n"))
	require.NoError(t, err)
	require.Equal(t, []Definition{
		{"laps", Best, Asc, ByMember},
		{"plain", Sum, Desc, First},
		{"stars", Sum, Desc, First},
	}, got)

	for file, field := range map[string]string{
		"":                                  "file",
		"boards: {}":                        "boards",
		"boards: [a]":                       "boards",
		"board: {a: {}}":                    "board",
		"boards: {a: {mode: most}}":         "boards.a.mode",
		"boards: {a: {modes: sum}}":         "boards.a.modes",
		"boards: {a: {ties: 3}}":            "boards.a.ties",
		"boards: {a: {order: ''}}":          "boards.a.order",
		"boards: {a: sum}":                  "boards.a",
		"boards: {A: {}}":                   "boards.A",
		"boards: {'a/b': {}}":               "boards.a/b",
		"boards: {a: {}, a: {mode: sum}}":   "file",
		"boards: {a: {mode: sum, mode: a}}": "file",
		"boards: {":                         "file",
		"- boards":                          "file",
	} {
		_, err := ParseBoards([]byte(file))
		var fe *FieldError
		require.ErrorAs(t, err, &fe, "file %q", file)
		require.Equal(t, field, fe.Field, "file %q", file)
	}
}

func FuzzParseBoards(f *testing.F) {
	f.Add([]byte("boards: {laps: {mode: best, order: asc}}"))
	f.Add([]byte("boards: {a: &x {mode: sum}, b: *x}"))
	f.Fuzz(func(t *testing.T, file []byte) {
		boards, err := ParseBoards(file)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalid)
			return
		}
		for _, d := range boards {
			again, err := d.Normalize()
			require.NoError(t, err)
			require.Equal(t, d, again)
		}
	})
}
