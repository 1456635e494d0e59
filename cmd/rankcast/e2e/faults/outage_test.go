package faults

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// outage is a fault that cuts all nodes of a trial off from Redis.
type outage struct {
	begin func(*trial)
	// heal makes the path whole again. Redis takes updates past the nodes before it does.
	heal func(*trial)
}

// bear lets the nodes of a trial have an outage. While it lasts, each update is answered 503, all
// clients stay connected and are told. Once the path is whole, each view is what Redis holds.
func (tr *trial) bear(o outage) (f *figures) {
	f = new(figures)
	began := time.Now()
	o.begin(tr)
	for _, n := range tr.nodes {
		n.told(true)
	}
	f.add("all clients told after", time.Since(began))
	tr.load.untilAnswered(503, began, tr.form.senders)
	tr.last(began)
	tr.load.pause()
	for _, a := range tr.load.since(began) {
		require.NotZero(tr.t, a.status, "an update got no answer: %v", a.why)
	}
	f.add("slowest 503 after", tr.load.slowest(503, began))

	o.heal(tr)
	whole := time.Now()
	for _, n := range tr.nodes {
		n.told(false)
	}
	right := tr.right(tr.nodes...)
	f.add("all views equal Redis after", right.Sub(whole))
	tr.load.resume()
	tr.load.untilAnswered(200, right, 10*tr.form.senders)
	tr.end()
	tr.stayed(tr.nodes...)
	return f
}

// redisRestarts kills Redis, which keeps its data, and starts it again.
func redisRestarts(t *testing.T, f faultForm) *figures {
	return newTrial(t, f, redistest.Start(t, "--appendfsync", "always"), 2).bear(outage{
		begin: func(tr *trial) { tr.redis.Kill() },
		heal: func(tr *trial) {
			tr.redirect("")
			tr.redis.Start()
			tr.load.around(tr.direct(tr.redis.URL()))
			tr.redirect(tr.redis.URL())
		},
	})
}

// redirect sends the new connections of all nodes to the Redis at url.
func (tr *trial) redirect(url string) {
	for _, n := range tr.nodes {
		n.proxy.Redirect(url)
	}
}

// redisPauses has Redis take commands for some seconds and answer none (CLIENT PAUSE). Nothing but the
// time ends that.
func redisPauses(t *testing.T, f faultForm) *figures {
	pause := cmp.Or(f.span, 6*time.Second)
	return newTrial(t, f, redistest.Start(t), 2).bear(outage{
		begin: func(tr *trial) {
			require.NoError(tr.t, tr.redis.Admin().Do(tr.t.Context(), "CLIENT", "PAUSE", pause.Milliseconds(), "ALL").Err())
		},
		heal: func(tr *trial) {
			redistest.Eventually(tr.t, "Redis to answer again", func() error { return tr.redis.Admin().Ping(tr.t.Context()).Err() })
		},
	})
}

// redisHangs stops the process of Redis (SIGSTOP) and lets it go on.
func redisHangs(t *testing.T, f faultForm) *figures {
	return newTrial(t, f, redistest.Start(t), 2).bear(outage{
		begin: func(tr *trial) { suspend(tr.t, tr.redis.Pid()) },
		heal:  func(tr *trial) { resume(tr.t, tr.redis.Pid()) },
	})
}

// blackHole drops all data between the nodes and Redis, and closes no connection.
func blackHole(t *testing.T, f faultForm) *figures {
	return newTrial(t, f, redistest.Start(t), 2).bear(outage{
		begin: func(tr *trial) {
			for _, n := range tr.nodes {
				n.proxy.BlackHole()
			}
		},
		heal: func(tr *trial) {
			tr.load.around(tr.direct(tr.redis.URL()))
			for _, n := range tr.nodes {
				n.proxy.Restore()
			}
		},
	})
}

// failover kills Redis and puts its replica in its place: first as a replica, which refuses writes,
// then as the primary.
func failover(t *testing.T, f faultForm) *figures {
	primary, replica := redistest.Start(t), redistest.Start(t)
	replica.Replicate(primary)
	tr := newTrial(t, f, primary, 2)
	return tr.bear(outage{
		begin: func(tr *trial) {
			// Replication is asynchronous. So that no acknowledged update is lost, the primary
			// dies when the replica has them all.
			tr.load.pause()
			primary.AwaitReplica()
			primary.Kill()
			tr.redis = replica
			tr.redirect(replica.URL())
			tr.load.resume()
		},
		heal: func(tr *trial) {
			for _, n := range tr.nodes {
				n.told(false) // the replica answers reads
				n.Refuses(readOnlyReplica)
				n.proxy.Redirect("")
				n.proxy.Cut()
				n.told(true)
			}
			replica.Promote()
			tr.load.around(tr.direct(replica.URL()))
			tr.redirect(replica.URL())
		},
	})
}

// redisRestartsEmpty replaces Redis by one without data.
func redisRestartsEmpty(t *testing.T, f faultForm) *figures {
	return newTrial(t, f, redistest.Start(t), 2).bear(outage{
		begin: func(tr *trial) { tr.redis.Kill() },
		heal: func(tr *trial) {
			tr.redis = redistest.Start(tr.t)
			tr.load.forget()
			tr.redirect(tr.redis.URL())
		},
	})
}
