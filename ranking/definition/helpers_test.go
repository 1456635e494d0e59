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
