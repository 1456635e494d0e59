//go:build soak

package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// The long forms of the fault suite print the figures of measured.md. They run one after another, so that
// no figure is about the work of another test.

// longForm has the volume of the figures. The table faults gives the rounds.
var longForm = faultForm{watchers: 60, senders: 6, span: 20 * time.Second}

// log prints the figures as rows of a table of measured.md.
func (f *figures) log(t testing.TB) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Logf("%s\n%s", t.Name(), strings.Join(f.lines, "\n"))
}

func TestFaultMeasured(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			form := longForm
			form.rounds = f.rounds
			f.fault(t, form).log(t)
		})
	}
}

func TestFaultCrowdReconnectsMeasured(t *testing.T) { crowdReconnects(t, 9000, 2*time.Second).log(t) }

func TestFaultClientsThatNeverReadMeasured(t *testing.T) {
	clientsThatNeverRead(t, 5000, 1000, 10*time.Second, 20*time.Second).log(t)
}

// The node finds connections whose other ends have vanished by its ping, and keeps those of clients that
// are only quiet. The times of the ping are fixed, so there is no short form.
func TestFaultHalfOpenConnectionsMeasured(t *testing.T) {
	const halfOpen, quiet = 200, 50
	tr := &trial{t: t, redis: redistest.Start(t)}
	n, figures := tr.addNode(nil, tr.redis.URL()), new(figures)
	c := newReaders(t, n.Addr, quiet)
	before := openFiles(n.Process)
	proxy := redistest.StartProxy(t, "redis://"+n.Addr)
	for range halfOpen {
		servertest.Dial(t, proxy.URL()[len("redis://"):]).Subscribe("quiet", 10)
	}
	require.GreaterOrEqual(t, openFiles(n.Process), before+halfOpen)
	proxy.BlackHole()
	began := time.Now()
	redistest.Eventually(t, "the node to close the half-open connections", func() error {
		const others = 5 // connections to Redis, which come and go
		if now := openFiles(n.Process); now > before+others {
			return fmt.Errorf("%d open files; %d before", now, before)
		}
		return nil
	})
	figures.add(fmt.Sprintf("%d half-open connections are closed after", halfOpen), time.Since(began))
	c.scores(tr.direct(tr.redis.URL()), 0) // the clients that are only quiet are still there
	figures.log(t)
}
