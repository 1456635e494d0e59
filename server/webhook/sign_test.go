package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The example that implementations of Standard Webhooks share.
func TestSignature(t *testing.T) {
	t.Parallel()
	key, err := parseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)))
	key, err = parseSecret("correct horse")
	require.NoError(t, err)
	require.Equal(t, []byte("correct horse"), key)
	for _, bad := range []string{"", "whsec_", "whsec_not base64"} {
		require.Error(t, CheckSecret(bad), "%q", bad)
	}
	for _, bad := range []string{"", "receiver.example", "ftp://receiver.example", "https://", "http://a b", "\x00"} {
		require.Error(t, CheckURL(bad), "%q", bad)
	}
	require.NoError(t, CheckURL("https://user:word@receiver.example:8443/hook?a=b"))
	_, err = New(nil, Config{URL: "https://receiver.example", Secret: "whsec_-"})
	require.ErrorContains(t, err, "secret")
	_, err = New(nil, Config{URL: "//receiver.example", Secret: "x"})
	require.ErrorContains(t, err, "URL")
}
