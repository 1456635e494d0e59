package hub

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

func TestFrameHeaders(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 125, 126, 65535, 65536, 200_000} {
		body := make([]byte, n)
		for i := range body {
			body[i] = 'x'
		}
		f := NewFrame(body)
		require.Equal(t, body, jsonOf(f))
		head := map[bool]int{true: 2, false: 4}[n < 126]
		if n > 65535 {
			head = 10
		}
		require.Equal(t, n+head, f.Size())
		require.EqualValues(t, 0x81, f.WebSocket()[0][0])
	}
}

// The wire format of times, period ends and data.
func TestSnapshotOnTheWire(t *testing.T) {
	t.Parallel()
	s := &publication{period: "2026-W47", life: "1m2n", state: ranking.State{Epoch: "k3f9", Seq: 120}, total: 9821, top: []ranking.Entry{
		{Rank: 1, Member: "s17", Score: 321, Data: `{"a":"\u2028"}`}, {Rank: 2, Member: "s3", Score: -5},
	}}
	head := `{"type":"snapshot","board":"stars@-1","period":"2026-W47","epoch":"k3f9","life":"1m2n-10","seq":120,"total":9821,"ends":`
	top := `"top":[{"rank":1,"member":"s17","score":321,"data":{"a":"\u2028"}},{"rank":2,"member":"s3","score":-5}]}`
	require.Equal(t, head+`null,`+top, string(jsonOf(snapshotFrame("stars@-1", s, 10))))
	s.ends = time.Date(2026, 11, 23, 0, 0, 0, 123456, time.FixedZone("", 8*3600))
	require.Equal(t, head+`"2026-11-22T16:00:00.000Z",`+top, string(jsonOf(snapshotFrame("stars@-1", s, 10))))
	end := s.asFinal()
	end.life = s.life
	require.Equal(t, head+`"2026-11-22T16:00:00.000Z","final":true,`+top, string(jsonOf(snapshotFrame("stars@-1", end, 10))))
}
