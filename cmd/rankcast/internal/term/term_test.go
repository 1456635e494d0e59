package term

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/server/client"
)

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", -999: "-999", 1000: "1,000", -1234567: "-1,234,567", client.MaxScore: "9,007,199,254,740,991"} {
		require.Equal(t, want, Thousands(n))
	}
}
