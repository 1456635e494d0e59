package definition

import "github.com/stretchr/testify/require"

// refused checks that err is a FieldError of kind ErrInvalid at a field.
func refused(t require.TestingT, err error, field string, msgAndArgs ...any) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	var fe *FieldError
	require.ErrorAs(t, err, &fe, msgAndArgs...)
	require.Equal(t, field, fe.Field, msgAndArgs...)
	require.ErrorIs(t, err, ErrInvalid, msgAndArgs...)
	require.NotEmpty(t, fe.Reason, msgAndArgs...)
}

// must returns the result of a call that the test needs to succeed: must(ParseName(…))(t).
func must[T any](result T, err error) func(t require.TestingT, msgAndArgs ...any) T {
	return func(t require.TestingT, msgAndArgs ...any) T {
		if h, ok := t.(interface{ Helper() }); ok {
			h.Helper()
		}
		require.NoError(t, err, msgAndArgs...)
		return result
	}
}

// errorOf is the error of a call whose result the test does not look at.
func errorOf[T any](_ T, err error) error { return err }
